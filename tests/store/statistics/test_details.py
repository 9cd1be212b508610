"""What is kept beside column statistics, on both databases: written, read, and gone with what it is about."""

import math
from dataclasses import replace
from itertools import count as numbers

import hypothesis
import pytest
from hypothesis import strategies as st
from sqlalchemy import update
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import NAME, TABLE, make_partitions, make_table
from tests.store.row_counts import row_counts

from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_moves, partitions
from hmstats.store.schema import HMSTATS_TOP_K
from hmstats.store.statistics import column_statistics, details, provenance, sketches, top_k
from hmstats.store.statistics.details import OF_TABLE, Details
from hmstats.store.statistics.sketches import SketchKind, StoredSketch
from hmstats.store.unit.unit import Unit

FULL = Provenance(
    exact=False,
    ndv_standard_error=0.01625,
    rows_seen=2**40,
    sample_fraction=0.25,
    writer="ada ü",
    tool="tool 1.0",
    written_at_seconds=1_700_000_000,
)
_NUMBERS = numbers(1)
ITEMS = bytes(range(256))
ANALYZED = 5
"""When statistics were made, in epoch seconds: their provenance is not older."""


@pytest.fixture
def table_id(store: Store) -> int:
    return make_table(store)


@pytest.fixture
def ids(store: Store, table_id: int) -> dict[str, int]:
    return make_partitions(store, table_id, "1", "2", "3")


def count(store: Store, table_id: int, owner: int, column: str = "c", engine: str = "hive", at: int = ANALYZED) -> None:
    """Write a column's statistics and nothing beside them."""
    data = (ColumnStatistics(column, "bigint", LongStatistics(ndv=1)),)

    def write(unit: Unit) -> None:
        if owner == OF_TABLE:
            column_statistics.write_table(unit, table_id, NAME, StatisticsSet(data, None, engine, at))
        else:
            column_statistics.write_partitions(unit, NAME, {owner: StatisticsSet(data, "p=1", engine, at)})

    store.write(write)


def keep(store: Store, table_id: int, owner: int, column: str = "c", engine: str = "hive") -> None:
    """Write statistics of one column, and both kinds of details."""
    count(store, table_id, owner, column, engine)

    def write(unit: Unit) -> None:
        provenance.write(unit, table_id, engine, {owner: {column: FULL}})
        top_k.replace(unit, table_id, engine, {owner: {column: ITEMS}})

    store.write(write)


def of_table(store: Store, table_id: int, columns: list[str] | None = None) -> list[Details]:
    with store.read() as connection:
        return details.read_table(connection, table_id, columns)


def made(store: Store, table_id: int) -> dict[str, Provenance | None]:
    """The provenance of a table's own statistics, by column."""
    return {each.column: each.provenance for each in of_table(store, table_id)}


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
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {OF_TABLE: {"c": given}}))
    assert of_table(store, table_id) == [Details(None, "c", "hive", ITEMS, given)]


def test_texts_that_a_database_cannot_hold_are_cut_and_mended(store: Store, table_id: int) -> None:
    given = replace(FULL, writer="a\0b", tool="x" * 300)
    count(store, table_id, OF_TABLE)
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {OF_TABLE: {"c": given}}))
    assert made(store, table_id)["c"] == replace(FULL, writer="a\ufffdb", tool="x" * 256)


@pytest.mark.parametrize(
    "given",
    [
        replace(FULL, ndv_standard_error=5e-324, sample_fraction=1 / 3, rows_seen=2**63 - 1),
        replace(FULL, ndv_standard_error=1e300, sample_fraction=1.0, rows_seen=0),
        replace(FULL, writer='"\\\n{}[],:\u2028\x7f', tool="null"),
    ],
)
def test_numbers_and_texts_come_back_whole(store: Store, table_id: int, given: Provenance) -> None:
    count(store, table_id, OF_TABLE)
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {OF_TABLE: {"c": given}}))
    assert made(store, table_id) == {"c": given}


def test_an_infinite_error_is_unknown(store: Store, table_id: int) -> None:
    count(store, table_id, OF_TABLE)
    given = replace(FULL, ndv_standard_error=math.inf)
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {OF_TABLE: {"c": given}}))
    assert made(store, table_id) == {"c": replace(FULL, ndv_standard_error=None)}


NAMES = ("c", "d", 'a"b', "a.b", "$", "$.c", "[0]", "ü\\", "", "null", "{}")
"""Names of columns that a path or a pattern would take for something else."""


def test_columns_join_those_that_are_there_and_go_by_name(store: Store, table_id: int) -> None:
    for column in NAMES:
        keep(store, table_id, OF_TABLE, column)
    expected: dict[str, Provenance | None] = dict.fromkeys(NAMES, FULL)
    assert made(store, table_id) == expected
    other = replace(FULL, writer=None, tool=None, sample_fraction=None)
    some = dict.fromkeys(NAMES[::2], other)
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {OF_TABLE: some}))
    assert made(store, table_id) == {**expected, **some}
    store.write(lambda unit: details.delete_tables(unit, [table_id], [*NAMES[1::2], "absent"], "hive"))
    found = of_table(store, table_id)
    assert {each.column: each.provenance for each in found} == some
    assert {each.top_k for each in found} == {ITEMS}
    store.write(lambda unit: details.delete_tables(unit, [table_id], NAMES, None))
    assert of_table(store, table_id) == []
    assert "HMSTATS_COLUMN_PROVENANCE" not in row_counts(store)


@pytest.mark.slow
@hypothesis.given(
    st.lists(
        st.dictionaries(
            st.sampled_from(NAMES),
            st.builds(
                Provenance,
                exact=st.none() | st.booleans(),
                rows_seen=st.none() | st.integers(0, 2**63 - 1),
                writer=st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
                written_at_seconds=st.integers(ANALYZED, 2**40),
            ),
        ),
        max_size=4,
    )
)
@hypothesis.settings(max_examples=25, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_the_last_write_of_a_column_holds(store: Store, writes: list[dict[str, Provenance]]) -> None:
    table_id = make_table(store, replace(TABLE, name=replace(NAME, table=f"t{next(_NUMBERS)}")))
    for column in NAMES:
        count(store, table_id, OF_TABLE, column)
    expected: dict[str, Provenance | None] = {}
    for each in writes:
        store.write(lambda unit, each=each: provenance.write(unit, table_id, "hive", {OF_TABLE: each}))  # type: ignore[misc]
        expected |= each
    assert made(store, table_id) == expected


def test_partitions_alike_share_a_text(store: Store, table_id: int, ids: dict[str, int]) -> None:
    for owner in ids.values():
        for column in "cd":
            count(store, table_id, owner, column)
    alike, other = {"c": FULL, "d": replace(FULL, tool="o")}, {"d": FULL}
    given = {ids["p=1"]: alike, ids["p=2"]: alike, ids["p=3"]: other}
    store.write(lambda unit: provenance.write(unit, table_id, "hive", given))
    found = {(each.partition, each.column): each.provenance for each in of_partitions(store, table_id)}
    expected = {(name, column): said for name in ("p=1", "p=2") for column, said in alike.items()}
    assert found == {**expected, ("p=3", "d"): FULL}
    assert row_counts(store)["HMSTATS_COLUMN_PROVENANCE"] == len(ids)


@pytest.mark.parametrize("owner", [OF_TABLE, "p=1"])
def test_what_is_older_than_the_statistics_is_not_read(
    store: Store, table_id: int, ids: dict[str, int], owner: int | str
) -> None:
    """A server of the version before has written them, and the sketch, but not our provenance."""
    place = OF_TABLE if isinstance(owner, int) else ids[owner]
    read = of_table if place == OF_TABLE else of_partitions
    keep(store, table_id, place)
    keep(store, table_id, place, "d")
    count(store, table_id, place, "c", at=(FULL.written_at_seconds or 0) + 1)
    assert {each.column: (each.top_k, each.provenance) for each in read(store, table_id, None)} == {
        "c": (ITEMS, None),
        "d": (ITEMS, FULL),
    }
    store.write(lambda unit: top_k.replace(unit, table_id, "hive", {place: {"c": None}}))
    assert [each.column for each in read(store, table_id, None)] == ["d"]


def test_it_is_stamped_with_the_time_of_its_unit(database_url: str) -> None:
    store = Store.open(database_url, clock=lambda: 1_700_000_123.9)
    table_id = make_table(store)
    count(store, table_id, OF_TABLE)
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {OF_TABLE: {"c": Provenance()}}))
    assert made(store, table_id) == {"c": Provenance(written_at_seconds=1_700_000_123)}
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
    assert found.get("HMSTATS_TOP_K", 0) == 2 * left
    engines = {each.engine for each in of_table(store, table_id)}
    assert found.get("HMSTATS_COLUMN_PROVENANCE", 0) == 2 * len(engines)


def test_nothing_is_left_of_a_dropped_partition_or_table(store: Store, table_id: int, ids: dict[str, int]) -> None:
    for owner in (OF_TABLE, *ids.values()):
        keep(store, table_id, owner)
    store.write(lambda unit: partitions.remove_many(unit, [ids["p=2"]]))
    assert [each.partition for each in of_partitions(store, table_id)] == ["p=1", "p=3"]
    store.write(lambda unit: tables.remove_many(unit, [table_id]))
    assert not {"HMSTATS_TOP_K", "HMSTATS_COLUMN_PROVENANCE"} & row_counts(store).keys()


def test_a_renamed_partition_keeps_its_details(store: Store, table_id: int, ids: dict[str, int]) -> None:
    keep(store, table_id, ids["p=1"])
    store.write(lambda unit: partitions.rename(unit, ids["p=1"], "p=9", ["9"]))
    assert [(each.partition, each.top_k) for each in of_partitions(store, table_id)] == [("p=9", ITEMS)]


def test_sketches_of_partitions_are_read_together_with_what_is_missing(
    store: Store, table_id: int, ids: dict[str, int], statements: StatementCounter
) -> None:
    keep(store, table_id, ids["p=3"])
    keep(store, table_id, ids["p=1"], "other")
    with store.read() as connection, statements() as sent:
        found = list(sketches.of_partitions(connection, table_id, None, ["c"], SketchKind.TOP_K))
        (named,) = sketches.of_partitions(connection, table_id, ["p=3", "p=9"], ["c"], SketchKind.TOP_K)
    assert len(sent) == 3  # of all, their names first
    assert sorted(found) == [
        StoredSketch("p=1", None, None, 0, None),
        StoredSketch("p=2", None, None, 0, None),
        StoredSketch("p=3", "c", "hive", 0, ITEMS),
    ]
    assert named.data == ITEMS


def test_a_tables_own_sketch_is_not_a_partitions(store: Store, table_id: int, ids: dict[str, int]) -> None:
    keep(store, table_id, ids["p=3"])
    with store.read() as connection:
        assert sketches.of_table(connection, table_id, ["c"], SketchKind.TOP_K) == []
    keep(store, table_id, OF_TABLE)
    with store.read() as connection:
        assert sketches.of_table(connection, table_id, ["c"], SketchKind.TOP_K) == [
            StoredSketch(None, "c", "hive", 0, ITEMS)
        ]
        assert sketches.of_table(connection, table_id, ["c"], SketchKind.HISTOGRAM) == [
            StoredSketch(None, "c", "hive", ANALYZED, None)
        ]


def test_a_partition_that_moves_takes_its_details_along_and_back(
    store: Store, table_id: int, ids: dict[str, int]
) -> None:
    name = replace(NAME, table="t2")
    other = make_table(store, replace(TABLE, name=name))
    keep(store, table_id, ids["p=1"])
    store.write(lambda unit: partition_moves.move(unit, [ids["p=1"]], other, name))
    assert of_partitions(store, table_id) == []
    expected = [Details("p=1", "c", "hive", ITEMS, FULL)]
    assert of_partitions(store, other) == expected
    store.write(lambda unit: partition_moves.move(unit, [ids["p=1"]], table_id, NAME))
    assert of_partitions(store, table_id) == expected


def test_provenance_that_a_server_of_the_version_before_left_holds_up_no_move(
    store: Store, table_id: int, ids: dict[str, int]
) -> None:
    name = replace(NAME, table="t2")
    other = make_table(store, replace(TABLE, name=name))
    keep(store, other, ids["p=1"])
    store.write(lambda unit: provenance.write(unit, table_id, "hive", {ids["p=1"]: {"c": replace(FULL, tool="left")}}))
    store.write(lambda unit: unit.connection.execute(update(HMSTATS_TOP_K).values(TBL_ID=other)))
    store.write(lambda unit: partition_moves.move(unit, [ids["p=1"]], table_id, NAME))
    assert of_partitions(store, table_id) == [Details("p=1", "c", "hive", ITEMS, FULL)]
