"""A table that is locked, which need not be read again where it is as it was."""

from dataclasses import replace
from typing import Any

import pytest
from tests.store.catalog_values import NAME, make_table

from hmstats.store.catalog import partition_locks
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.statistics import table_facts
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Unit


@pytest.fixture
def made(store: Store) -> Store:
    """A store with a table."""
    make_table(store)
    store.write(lambda unit: versions.bump(unit, 1))
    return store


def locked(unit: Unit, known: TableFacts | None, *, with_partitions: bool) -> TableFacts | None:
    if not with_partitions:
        return table_facts.lock(unit, NAME, known)
    found = partition_locks.lock_with_table(unit, NAME, ["p=1"], known)
    return None if found is None else found.target


@pytest.mark.parametrize("with_partitions", [False, True])
def test_a_known_table_is_read_again_only_at_another_id_or_definition(made: Store, *, with_partitions: bool) -> None:
    def lock(known: TableFacts | None = None) -> Any:
        return made.write(lambda unit: locked(unit, known, with_partitions=with_partitions))

    target = lock()
    assert target.columns
    assert lock(target) == target
    if not made.name.startswith("sqlite"):  # whose statements take no round trip, and are not spared
        marked = replace(target, parameters={"marked": "by the test"})
        assert lock(marked) == marked
    for other in (
        replace(target, id=target.id + 1, columns=()),
        replace(target, definition=target.definition - 1, columns=()),
    ):
        assert lock(other) == target
    made.write(lambda unit: versions.bump(unit, target.id))
    assert lock(replace(target, columns=())) == replace(
        target, version=target.version + 1, definition=target.definition + 1
    )


def test_a_table_that_is_not_there_is_not_known(made: Store) -> None:
    target = made.write(lambda unit: table_facts.lock(unit, NAME))
    assert target is not None
    gone = replace(NAME, table="gone")
    assert made.write(lambda unit: table_facts.lock(unit, gone, target)) is None
    assert made.write(lambda unit: partition_locks.lock_with_table(unit, gone, ["p=1"], target)) is None
