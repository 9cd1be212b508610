import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import select
from tests.fixtures.databases.statements import StatementCounter, writes
from tests.store.catalog_values import (
    COLUMNS,
    NAME,
    STORAGE,
    TABLE,
    TABLES,
    make_partitions,
    make_table,
    partition,
)
from tests.store.row_counts import row_counts

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model.catalog.objects import Column, DatabaseName, KeyedTable, SkewedInfo, Table, TableName, TableSummary
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.schema import TBLS
from hmstats.store.statistics import column_statistics
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_TABLES
from hmstats.store.unit.unit import Unit

DEFAULT = NAME.parent
STATISTICS = StatisticsSet((ColumnStatistics("id", "bigint", LongStatistics(ndv=1, nulls=0)),))


def get(store: Store, name: TableName = NAME) -> Table | None:
    with store.read() as connection:
        return tables.get(connection, name)


def get_keyed(store: Store, name: TableName = NAME) -> KeyedTable | None:
    with store.read() as connection:
        return tables.find_keyed(connection, name)


def put(store: Store, table_id: int, table: Table) -> None:
    """Replace the table of this id as it is stored now."""

    def replaced(unit: Unit) -> None:
        name = tables.find_name(unit.connection, table_id)
        stored = name and tables.get(unit.connection, name)
        assert stored
        tables.replace(unit, stored, table)

    store.write(replaced)


def remove(store: Store, *table_ids: int) -> None:
    store.write(lambda unit: tables.remove_many(unit, table_ids))


def storage_id(store: Store, table_id: int) -> int | None:
    with store.read() as connection:
        found: int | None = connection.execute(select(TBLS.c.SD_ID).where(TBLS.c.TBL_ID == table_id)).scalar_one()
        return found


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=TABLES, changed=TABLES)
def test_a_table_comes_back_as_it_was_written_and_replaced(store: Store, table: Table, changed: Table) -> None:
    made = make_table(store, table)
    try:
        assert get(store) == replace(table, id=made)
        assert get_keyed(store) == KeyedTable(NAME, made, 1, table.partition_keys, own_privileges=False)
        put(store, made, changed)
        assert get(store) == replace(changed, id=made)
        assert get_keyed(store) == KeyedTable(NAME, made, 1, changed.partition_keys, own_privileges=False)
    finally:
        remove(store, made)
    # Only what every database holds, and the one database, is left.
    assert set(row_counts(store)) == {"CTLGS", "VERSION", "NOTIFICATION_SEQUENCE", "DBS", "TXNS", "NEXT_LOCK_ID"}


@pytest.mark.parametrize(("text", "own"), [("TRUE", True), ("true", True), ("false", False), ("", False)])
def test_partitions_of_a_table_have_privileges_if_its_parameter_says_so(store: Store, text: str, own: bool) -> None:
    keys = tuple(Column(f"k{number}", "string") for number in range(12))
    made = make_table(store, replace(TABLE, partition_keys=keys, parameters={"PARTITION_LEVEL_PRIVILEGE": text}))
    assert get_keyed(store) == KeyedTable(NAME, made, 1, keys, own_privileges=own)
    assert get_keyed(store, TableName("hive", NAME.database, "none")) is None


def test_answers_about_partitions_are_as_of_the_version_of_their_table(store: Store) -> None:
    made = make_table(store, TABLE)
    store.write(lambda unit: versions.bump(unit, made))
    with versions.noting_reads() as noted_keys:
        get_keyed(store)
    with versions.noting_reads() as noted:
        get(store)
    assert noted_keys == noted
    assert noted_keys.keys() == {made}


def test_empty_texts_and_missing_ones_are_told_apart(store: Store) -> None:
    empty = replace(TABLE, owner="", view_original_text="", parameters={"k": ""})
    made = make_table(store, empty)
    assert get(store) == replace(empty, id=made)
    put(store, made, TABLE)
    assert get(store) == replace(TABLE, id=made)


def test_long_texts_are_kept_whole(store: Store) -> None:
    big = replace(TABLE, parameters={"spark.sql.schema": "ü" * 100_000}, view_expanded_text="SELECT " * 20_000)
    made = make_table(store, big)
    assert get(store) == replace(big, id=made)


def test_a_table_is_found_by_its_whole_name_only(store: Store) -> None:
    made = make_table(store)
    make_table(store, replace(TABLE, name=TableName("hive", "other", "t2")))
    with store.read() as connection:
        assert tables.find_id(connection, NAME) == made
        assert tables.find_id(connection, TableName("hive", "default", "t2")) is None
        assert tables.find_id(connection, TableName("spark", "default", "t")) is None
    assert get(store, TableName("hive", "other", "t")) is None


def test_a_name_that_is_too_long_finds_no_shorter_one(store: Store) -> None:
    longest = replace(TABLE, name=TableName("hive", "default", "n" * 256))
    made = make_table(store, longest)
    assert get(store, longest.name) == replace(longest, id=made)
    assert get(store, TableName("hive", "default", "n" * 257)) is None


def test_many_tables_come_in_name_order_without_those_that_are_missing(
    store: Store, statements: StatementCounter
) -> None:
    made = {name: make_table(store, replace(TABLE, name=TableName("hive", "default", name))) for name in "cab"}
    counts = []
    for wanted in (["b"], ["c", "zz", "a", "b", "a"]):
        with statements() as sent, store.read() as connection:
            found = tables.get_many(connection, DEFAULT, wanted)
        assert [each.name.table for each in found] == sorted({*wanted} & {*made})
        assert [each.id for each in found] == [made[each.name.table] for each in found]
        counts.append(len(sent))
    assert counts[0] == counts[1]
    with store.read() as connection:
        assert tables.get_many(connection, DEFAULT, []) == []


def test_names_and_summaries_are_sorted(store: Store) -> None:
    view = replace(TABLE, table_type="VIRTUAL_VIEW", storage=None, owner="ann", owner_type="USER")
    make_table(store, replace(TABLE, name=TableName("hive", "default", "b"), parameters={"comment": "said", "x": "y"}))
    make_table(store, replace(view, name=TableName("hive", "default", "a")))
    make_table(store, replace(TABLE, name=TableName("hive", "alpha", "z"), table_type=None))
    with store.read() as connection:
        assert tables.names(connection, DEFAULT) == ["a", "b"]
        assert tables.names(connection, DatabaseName("hive", "none")) == []
        of_type = tables.NAMES_OF_TYPE.query
        for kind, found in (("VIRTUAL_VIEW", ["a"]), ("EXTERNAL_TABLE", [])):
            here = {"catalog": "hive", "database": "default", "table_type": kind}
            assert list(connection.execute(of_type, here).scalars()) == found
        z, a, b = tables.summaries(connection, "hive", ["default", "alpha", "none"])
        assert z == TableSummary(TableName("hive", "alpha", "z"), "")
        assert a == TableSummary(TableName("hive", "default", "a"), "VIRTUAL_VIEW", None, "ann", "USER")
        assert b == TableSummary(TableName("hive", "default", "b"), "MANAGED_TABLE", "said")
        assert tables.summaries(connection, "hive", ["default"]) == [a, b]
        assert tables.summaries(connection, "hive", ["default", "alpha"], tables.KnownParts(["b", "z", "%"], [])) == [
            z,
            b,
        ]
        assert tables.summaries(connection, "hive", ["default"], None, ["VIRTUAL_VIEW"]) == [a]
        assert tables.summaries(connection, "hive", []) == []


def test_a_table_cannot_be_without_its_database(store: Store) -> None:
    made = make_table(store)
    before = row_counts(store)
    lost = replace(TABLE, name=TableName("hive", "gone", "t"))
    with pytest.raises(NoSuchObject, match=r"database hive\.gone of table t not found"):
        store.write(lambda unit: tables.insert_one(unit, lost))
    with pytest.raises(NoSuchObject, match=r"hive\.gone"):
        put(store, made, lost)
    assert row_counts(store) == before
    assert get(store) == replace(TABLE, id=made)


def test_a_name_is_taken_once(store: Store) -> None:
    make_table(store)
    before = row_counts(store)
    with pytest.raises(MetaError, match="refuses the change"):
        make_table(store)
    assert row_counts(store) == before


def test_a_locked_table_has_one_writer_at_a_time(store: Store) -> None:
    made = make_table(store, replace(TABLE, parameters={"n": "0"}))

    def count(_: int) -> None:
        def work(unit: Unit) -> None:
            assert tables.lock(unit, NAME) == made
            now = int(parameters.read(unit.connection, OF_TABLES, [made])[made]["n"])
            parameters.put(unit, OF_TABLES, {made: {"n": str(now + 1)}})

        store.write(work)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(40)))
    stored = get(store)
    assert stored is not None
    assert stored.parameters == {"n": "40"}


def test_a_missing_table_cannot_be_locked(store: Store) -> None:
    assert store.write(lambda unit: tables.lock(unit, NAME)) is None


def test_a_table_moves_to_another_name_and_database(store: Store) -> None:
    made = make_table(store)
    make_table(store, replace(TABLE, name=TableName("hive", "other", "x")))
    moved = replace(TABLE, name=TableName("hive", "other", "new"))
    put(store, made, moved)
    assert get(store) is None
    assert get(store, moved.name) == replace(moved, id=made)


def test_replacing_keeps_the_storage_that_is_the_same(store: Store) -> None:
    made = make_table(store)
    first = storage_id(store, made)
    put(store, made, replace(TABLE, parameters={"x": "y"}, storage=replace(STORAGE, skewed=SkewedInfo())))
    assert storage_id(store, made) == first
    put(store, made, replace(TABLE, storage=replace(STORAGE, location="file:/elsewhere")))
    assert storage_id(store, made) != first


def test_replacing_writes_nothing_that_is_as_it_was(store: Store, statements: StatementCounter) -> None:
    made = make_table(store)
    with statements() as sent:
        put(store, made, replace(TABLE, parameters={"x": "y"}))
    assert re.search('INTO "TABLE_PARAMS"', ";".join(sent))
    assert not re.search('(INTO|FROM|UPDATE) "(SDS|PARTITION_KEYS|COLUMNS_V2)" |UPDATE "TBLS"', writes(sent))
    with statements() as sent:
        put(store, made, replace(TABLE, parameters={"x": "y"}))
    assert not writes(sent)


def test_new_columns_of_a_table_leave_those_of_its_partitions(store: Store) -> None:
    made = make_table(store)
    before = row_counts(store)
    make_partitions(store, made, "1")
    wider = replace(STORAGE, columns=(*COLUMNS, Column("more", "int")))
    put(store, made, replace(TABLE, storage=wider))
    with store.read() as connection:
        found = partitions.get_all(connection, made)["p=1"].storage
    assert found is not None
    assert found == partition("1").storage
    assert row_counts(store)["CDS"] == before["CDS"] + 1
    put(store, made, TABLE)
    assert get(store) == replace(TABLE, id=made)


def test_a_removed_table_leaves_no_row_and_no_other_table_loses_one(store: Store, statements: StatementCounter) -> None:
    other = replace(TABLE, name=TableName("hive", "default", "other"))
    fill(store, other, 2)
    before = row_counts(store)
    sent_for = []
    for count in (1, 1000):
        made = fill(store, TABLE, count)
        with statements() as sent:
            remove(store, made)
        sent_for.append(len(sent))
        assert row_counts(store) == before
    assert sent_for[0] == sent_for[1]


def fill(store: Store, table: Table, count: int) -> int:
    """The id of a table with partitions, statistics of both, parameters and a version."""
    made = make_table(store, replace(table, parameters={"a": "b"}))
    values = [f"{index:04}" for index in range(count)]

    def work(unit: Unit) -> None:
        new = {f"p={value}": partition(value, numRows="1") for value in values}
        partitions.insert_many(unit, made, COLUMNS, new)
        ids = partitions.find_ids(unit.connection, made, list(new))
        sets = {each: replace(STATISTICS, partition=name) for name, each in ids.items()}
        column_statistics.write_partitions(unit, table.name, sets)
        column_statistics.write_table(unit, made, table.name, STATISTICS)
        versions.bump(unit, made)

    store.write(work)
    return made


def test_removing_nothing_removes_nothing(store: Store) -> None:
    make_table(store)
    before = row_counts(store)
    remove(store)
    assert row_counts(store) == before
