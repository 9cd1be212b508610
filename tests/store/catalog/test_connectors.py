from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.catalog_values import OPTIONAL_TEXT, PARAMETERS, TEXT
from tests.store.row_counts import row_counts

from hmstats.errors import MetaError
from hmstats.model.catalog.connectors import DataConnector
from hmstats.store.catalog import connectors
from hmstats.store.database.store import Store

PLAIN = DataConnector(name="shop", type="mysql", url="jdbc:mysql:shop", created_seconds=7)
CONNECTORS = st.builds(
    DataConnector,
    name=st.just("shop"),
    type=TEXT,
    url=TEXT,
    description=OPTIONAL_TEXT,
    parameters=PARAMETERS,
    owner=OPTIONAL_TEXT,
    owner_type=st.sampled_from([None, "USER", "GROUP", "ROLE"]),
    created_seconds=st.integers(0, 2**31 - 1),
)


def insert(store: Store, *new: DataConnector) -> None:
    for each in new:
        store.write(partial(connectors.insert_one, connector=each))


def get(store: Store, name: str = "shop") -> DataConnector | None:
    with store.read() as connection:
        return connectors.get(connection, name)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONNECTORS, CONNECTORS)
def test_a_connector_comes_back_as_it_was_written_and_replaced(
    store: Store, first: DataConnector, second: DataConnector
) -> None:
    store.write(lambda unit: connectors.remove(unit, "shop"))
    insert(store, first)
    assert get(store) == first
    store.write(lambda unit: connectors.replace(unit, second))
    assert get(store) == second


def test_a_removed_connector_leaves_the_others_and_no_trace(store: Store) -> None:
    before = row_counts(store)
    insert(store, replace(PLAIN, parameters={"a": "1"}), replace(PLAIN, name="other", parameters={"a": "2"}))
    store.write(lambda unit: connectors.remove(unit, "shop"))
    assert get(store) is None
    assert get(store, "other") == replace(PLAIN, name="other", parameters={"a": "2"})
    store.write(lambda unit: connectors.remove(unit, "other"))
    assert row_counts(store) == before


def test_names_are_sorted(store: Store) -> None:
    insert(store, *(replace(PLAIN, name=each) for each in ("b", "c", "a_")))
    with store.read() as connection:
        assert connectors.names(connection) == ["a_", "b", "c"]


def test_a_name_is_taken_once(store: Store) -> None:
    insert(store, PLAIN)
    with pytest.raises(MetaError, match="refuses the change"):
        insert(store, PLAIN)
