from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import OPTIONAL_TEXT, TEXT
from tests.store.row_counts import row_counts

from hmstats.errors import MetaError
from hmstats.model.catalog.functions import Function, FunctionName, Resource, ResourceKind
from hmstats.model.catalog.objects import Database, DatabaseName
from hmstats.store.catalog import databases, functions
from hmstats.store.database.store import Store

SALES = DatabaseName("hive", "sales")
NAME = FunctionName("hive", "sales", "upper")
FILES = (Resource(ResourceKind.JAR, "s3a://lib/a.jar"), Resource(ResourceKind.FILE, "s3a://lib/ü.txt"))
FUNCTION = Function(name=NAME, class_name="org.Upper", owner="ann", owner_type="USER", resources=FILES)
FUNCTIONS = st.builds(
    Function,
    name=st.just(NAME),
    class_name=TEXT,
    owner=OPTIONAL_TEXT,
    owner_type=st.sampled_from(["USER", "GROUP", "ROLE"]),
    created_seconds=st.integers(0, 2**31 - 1),
    resources=st.lists(st.builds(Resource, st.sampled_from(ResourceKind), TEXT), max_size=3).map(tuple),
)


def database(store: Store, name: DatabaseName = SALES) -> int:
    """The id of the database, which is made on first use."""
    with store.read() as connection:
        found = databases.find_id(connection, name)
    return found or store.write(lambda unit: databases.insert_one(unit, Database(name=name, location="file:/x")))


def insert(store: Store, function: Function = FUNCTION) -> None:
    made = database(store, function.name.parent)
    store.write(lambda unit: functions.insert_one(unit, made, function))


def get(store: Store, name: FunctionName = NAME) -> Function | None:
    with store.read() as connection:
        return functions.get(connection, name)


def lock(store: Store, name: FunctionName = NAME) -> int:
    found = store.write(lambda unit: functions.lock(unit, name))
    assert found is not None
    return found


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(function=FUNCTIONS, changed=FUNCTIONS)
def test_a_function_comes_back_as_it_was_written_and_replaced(
    store: Store, function: Function, changed: Function
) -> None:
    made = database(store)
    before = row_counts(store)
    insert(store, function)
    assert get(store) == function
    function_id = lock(store)
    store.write(lambda unit: functions.replace(unit, function_id, made, changed))
    assert get(store) == changed
    store.write(lambda unit: functions.remove(unit, function_id))
    assert get(store) is None
    assert row_counts(store) == before


def test_a_function_is_found_by_its_whole_name_only(store: Store) -> None:
    insert(store)
    insert(store, replace(FUNCTION, name=FunctionName("hive", "other", "lower")))
    for name in (("hive", "sales", "lower"), ("hive", "other", "upper"), ("spark", "sales", "upper")):
        assert get(store, FunctionName(*name)) is None
        assert store.write(lambda unit, name=name: functions.lock(unit, FunctionName(*name))) is None  # type: ignore[misc]


def test_functions_of_a_catalog_and_of_a_database(store: Store, statements: StatementCounter) -> None:
    for each in (("other", "b"), ("sales", "b"), ("sales", "a")):
        insert(store, replace(FUNCTION, name=FunctionName("hive", *each)))
    with statements() as sent, store.read() as connection:
        found = functions.get_all(connection, "hive")
    assert [(each.name.database, each.name.function) for each in found] == [
        ("other", "b"),
        ("sales", "a"),
        ("sales", "b"),
    ]
    assert {each.resources for each in found} == {FILES}
    assert len(sent) == 2
    with store.read() as connection:
        assert functions.names(connection, SALES) == ["a", "b"]
        assert [each.name.function for each in functions.get_many(connection, SALES, ["b", "x"])] == ["b"]
        assert functions.get_all(connection, "spark") == []


def test_a_name_is_taken_once(store: Store) -> None:
    insert(store)
    with pytest.raises(MetaError, match="refuses the change"):
        insert(store, replace(FUNCTION, class_name="org.Other"))
    assert get(store) == FUNCTION


def test_functions_go_with_their_database_and_no_others(store: Store) -> None:
    other = replace(FUNCTION, name=FunctionName("hive", "other", "upper"))
    insert(store, other)
    before = row_counts(store)
    made = database(store)
    insert(store)
    store.write(lambda unit: databases.remove(unit, made))
    assert row_counts(store) == before
    assert get(store, other.name) == other
