from collections.abc import Mapping

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import make_partitions, make_table

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS


@pytest.fixture
def owners(store: Store) -> list[int]:
    """Ids of three partitions, which have no parameters."""
    return list(make_partitions(store, make_table(store), "1", "2", "3").values())


def put(store: Store, values: Mapping[int, Mapping[str, str]]) -> None:
    store.write(lambda unit: parameters.put(unit, OF_PARTITIONS, values))


def read(store: Store, owners: list[int], keys: list[str] | None = None) -> dict[int, dict[str, str]]:
    with store.read() as connection:
        return parameters.read(connection, OF_PARTITIONS, owners, keys)


def test_putting_keeps_other_keys_and_other_owners(store: Store, owners: list[int]) -> None:
    first, second, third = owners
    put(store, {first: {"a": "1", "b": "2"}, second: {"a": "3"}})
    put(store, {first: {"b": "ü", "c": ""}})
    assert read(store, owners) == {first: {"a": "1", "b": "ü", "c": ""}, second: {"a": "3"}}
    assert read(store, [third]) == {}


def test_replacing_removes_other_keys_and_keeps_other_owners(store: Store, owners: list[int]) -> None:
    first, second, third = owners
    put(store, {each: {"a": "1", "b": "2"} for each in owners})
    store.write(lambda unit: parameters.replace(unit, OF_PARTITIONS, {first: {"b": "3"}, second: {}}))
    assert read(store, owners) == {first: {"b": "3"}, third: {"a": "1", "b": "2"}}


def test_asked_keys_only(store: Store, owners: list[int]) -> None:
    put(store, {each: {"a": "1", "b": "2"} for each in owners})
    assert read(store, owners[:2], ["b", "zz"]) == {each: {"b": "2"} for each in owners[:2]}
    assert read(store, owners, []) == {}


def test_owners_go_with_all_their_parameters(store: Store, owners: list[int]) -> None:
    put(store, {each: {"a": "1", "b": "2"} for each in owners})
    store.write(lambda unit: parameters.remove(unit, OF_PARTITIONS, owners[1:]))
    assert read(store, owners) == {owners[0]: {"a": "1", "b": "2"}}


def test_more_rows_than_a_statement_takes(store: Store, owners: list[int], statements: StatementCounter) -> None:
    before = {f"key {index}": "old" for index in range(1_500)}
    after = {f"key {index}": "new" for index in range(1_000, 2_500)}
    put(store, {owners[0]: before})
    with statements() as sent:
        put(store, {owners[0]: after})
    assert len(sent) <= 2
    assert read(store, owners) == {owners[0]: {**before, **after}}


def test_parameters_of_nobody_are_refused(store: Store) -> None:
    with pytest.raises(MetaError, match="refuses the change"):
        put(store, {10**15: {"a": "1"}})
