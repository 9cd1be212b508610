"""What is kept beside column statistics, on both databases: written, read, and gone with what it is about."""

from dataclasses import replace

import pytest
from tests.fixtures.statements import StatementCounter
from tests.store.catalog_values import NAME, TABLE, make_partitions, make_table
from tests.store.row_counts import row_counts

from hmstats.model.provenance import Provenance
from hmstats.store import column_statistics, details, partitions, provenance, sketches, tables, top_k
from hmstats.store.details import OF_TABLE, Details
from hmstats.store.engine import Store
from hmstats.store.sketches import Stored, What
from hmstats.store.unit import Unit

FULL = Provenance(
    exact=False,
    ndv_standard_error=0.01625,
    rows_seen=2**40,
    sample_fraction=0.25,
    writer="ada ü",
    tool="tool 1.0",
    written_at_seconds=1_700_000_000,
)
ITEMS = bytes(range(256))


@pytest.fixture
def table_id(store: Store) -> int:
    return make_table(store)


@pytest.fixture
def ids(store: Store, table_id: int) -> dict[str, int]:
    return make_partitions(store, table_id, "1", "2", "3")


def keep(store: Store, table_id: int, owner: int, column: str = "c", engine: str = "hive") -> None:
    """Write both kinds of details of one column."""

    def write(unit: Unit) -> None:
        provenance.write(unit, table_id, {(owner, column, engine): FULL})
        top_k.replace(unit, table_id, engine, {owner: {column: ITEMS}})

    store.write(write)


def of_table(store: Store, table_id: int, columns: list[str] | None = None) -> list[Details]:
    with store.read() as connection:
        return details.read_table(connection, table_id, columns)


def of_partitions(store: Store, table_id: int, names: list[str] | None = None) -> list[Details]:
    with store.read() as connection:
        return list(details.read_partitions(connection, table_id, names, None))


@pytest.mark.parametrize(
    "given",
    [FULL, replace(FULL, exact=True), Provenance(written_at_seconds=5), replace(FULL, writer="", exact=None)],
)
def test_provenance_comes_back_as_it_was_written_over_what_was_there(
    store: Store, table_id: int, given: Provenance
) -> None:
    keep(store, table_id, OF_TABLE)
    store.write(lambda unit: provenance.write(unit, table_id, {(OF_TABLE, "c", "hive"): given}))
    assert of_table(store, table_id) == [Details(None, "c", "hive", ITEMS, given)]


def test_texts_that_a_database_cannot_hold_are_cut_and_mended(store: Store, table_id: int) -> None:
    given = replace(FULL, writer="a\0b", tool="x" * 300)
    store.write(lambda unit: provenance.write(unit, table_id, {(OF_TABLE, "c", "hive"): given}))
    (found,) = of_table(store, table_id)
    assert (found.provenance.writer, found.provenance.tool) == ("a\ufffdb", "x" * 256)


def test_it_is_stamped_with_the_time_of_its_unit(database_url: str) -> None:
    store = Store.open(database_url, clock=lambda: 1_700_000_123.9)
    table_id = make_table(store)
    store.write(lambda unit: provenance.write(unit, table_id, {(OF_TABLE, "c", "hive"): Provenance()}))
    assert of_table(store, table_id)[0].provenance == Provenance(written_at_seconds=1_700_000_123)
    store.close()


def test_details_come_by_partition_column_and_engine(store: Store, table_id: int, ids: dict[str, int]) -> None:
    other = make_table(store, replace(TABLE, name=replace(NAME, table="t2")))
    keep(store, other, make_partitions(store, other, "1")["p=1"])
    keep(store, table_id, ids["p=3"])
    keep(store, table_id, ids["p=1"], engine="impala")
    keep(store, table_id, ids["p=1"], "d")
    keep(store, table_id, OF_TABLE)
    found = of_partitions(store, table_id)
    assert [each.partition for each in found] == ["p=1", "p=1", "p=3"]
    assert {each[:3] for each in found} == {("p=1", "c", "impala"), ("p=1", "d", "hive"), ("p=3", "c", "hive")}
    assert [each.column for each in of_partitions(store, table_id, ["p=3", "p=9"])] == ["c"]
    assert of_partitions(store, table_id, []) == []
    assert [each.partition for each in of_table(store, table_id)] == [None]
    assert of_table(store, table_id, ["d"]) == []


def test_a_sketch_is_replaced_or_goes_and_no_other_is_touched(
    store: Store, table_id: int, ids: dict[str, int], statements: StatementCounter
) -> None:
    for owner in (*ids.values(), OF_TABLE):
        for column in "cd":
            keep(store, table_id, owner, column)
    keep(store, table_id, ids["p=1"], "c", "impala")
    given: dict[int, dict[str, bytes | None]] = {ids["p=1"]: {"c": None, "d": b"new"}, ids["p=2"]: {"d": None}}
    with statements() as sent:
        store.write(lambda unit: top_k.replace(unit, table_id, "hive", given))
    assert len(sent) == (2 if store.name.startswith("sqlite") else 1)
    left = {(each.partition, each.column, each.engine): each.top_k for each in of_partitions(store, table_id)}
    assert left.pop(("p=1", "c", "hive")) is None
    assert left.pop(("p=2", "d", "hive")) is None
    assert left.pop(("p=1", "d", "hive")) == b"new"
    assert set(left.values()) == {ITEMS}
    assert len(left) == 4
    assert {each.top_k for each in of_table(store, table_id)} == {ITEMS}


@pytest.mark.parametrize(
    ("columns", "engine", "left"), [(None, None, 0), (["c"], None, 1), (None, "impala", 2), ([], None, 3)]
)
def test_they_are_deleted_with_the_statistics(
    store: Store, table_id: int, ids: dict[str, int], columns: list[str] | None, engine: str | None, left: int
) -> None:
    for owner in (OF_TABLE, ids["p=1"]):
        keep(store, table_id, owner, "c")
        keep(store, table_id, owner, "c", "impala")
        keep(store, table_id, owner, "d")
    store.write(lambda unit: column_statistics.delete_tables(unit, [table_id], columns, engine))
    assert (len(of_table(store, table_id)), len(of_partitions(store, table_id))) == (left, 3)
    store.write(lambda unit: column_statistics.delete_partitions(unit, [ids["p=1"], ids["p=2"]], columns, engine))
    assert len(of_partitions(store, table_id)) == left
    found = row_counts(store)
    assert found.get("HMSTATS_TOP_K", 0) == found.get("HMSTATS_PROVENANCE", 0) == 2 * left


def test_nothing_is_left_of_a_dropped_partition_or_table(store: Store, table_id: int, ids: dict[str, int]) -> None:
    for owner in (OF_TABLE, *ids.values()):
        keep(store, table_id, owner)
    store.write(lambda unit: partitions.remove_many(unit, [ids["p=2"]]))
    assert [each.partition for each in of_partitions(store, table_id)] == ["p=1", "p=3"]
    store.write(lambda unit: tables.remove_many(unit, [table_id]))
    assert not {"HMSTATS_TOP_K", "HMSTATS_PROVENANCE"} & row_counts(store).keys()


def test_a_renamed_partition_keeps_its_details(store: Store, table_id: int, ids: dict[str, int]) -> None:
    keep(store, table_id, ids["p=1"])
    store.write(lambda unit: partitions.rename(unit, ids["p=1"], "p=9", ["9"]))
    assert [(each.partition, each.top_k) for each in of_partitions(store, table_id)] == [("p=9", ITEMS)]


def test_sketches_of_partitions_are_read_in_one_statement_with_what_is_missing(
    store: Store, table_id: int, ids: dict[str, int], statements: StatementCounter
) -> None:
    keep(store, table_id, ids["p=3"])
    keep(store, table_id, ids["p=1"], "other")
    with store.read() as connection, statements() as sent:
        found = list(sketches.of_partitions(connection, table_id, None, "c", What.TOP_K))
        (named,) = sketches.of_partitions(connection, table_id, ["p=3", "p=9"], "c", What.TOP_K)
    assert len(sent) == 2
    assert sorted(found) == [
        Stored("p=1", None, 0, None),
        Stored("p=2", None, 0, None),
        Stored("p=3", "hive", 0, ITEMS),
    ]
    assert named.data == ITEMS


def test_a_tables_own_sketch_is_not_a_partitions(store: Store, table_id: int, ids: dict[str, int]) -> None:
    keep(store, table_id, ids["p=3"])
    with store.read() as connection:
        assert sketches.of_table(connection, table_id, "c", What.TOP_K) == []
    keep(store, table_id, OF_TABLE)
    with store.read() as connection:
        assert sketches.of_table(connection, table_id, "c", What.TOP_K) == [Stored(None, "hive", 0, ITEMS)]
        assert sketches.of_table(connection, table_id, "c", What.HISTOGRAM) == []
