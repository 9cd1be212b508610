"""What a plain write replaces is known without a copy: the history tells it from what the writes before have stored."""

import json
import random
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Table as SqlTable
from sqlalchemy import delete, func, select, update
from tests.service.statistics.filled import bit_vector, of_longs

from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
)
from hmstats.model.statistics.statistics_by_field import KindOfColumn, StatisticsByField, by_kind
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.history.history import StatisticsHistory
from hmstats.service.statistics.history.upkeep import HistoryUpkeep, Retention
from hmstats.service.statistics.writing import last_written, left_history, plain_writes
from hmstats.service.statistics.writing.left_history import NO_HISTORY
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import past_state
from hmstats.store.history.replaced_rows import HASHES_AT
from hmstats.store.schema import HMSTATS_HISTORY, HMSTATS_HISTORY_COLUMN, HMSTATS_HISTORY_SKETCH

NAME = TableName("hive", "default", "wide")
TYPES = {
    "n": "bigint",
    "x": "double",
    "dec": "decimal(20,2)",
    "t": "string",
    "yes": "boolean",
    "day": "date",
    "ra'w\"ü": "binary",
}
PARTITIONS = ["p=1", "p=2", "p=3"]
STEP = HMSTATS_HISTORY.c


class Servers(NamedTuple):
    """Two servers over one database, with history."""

    first: Store
    second: Store


@pytest.fixture
def servers(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """A table with three partitions; the second of two writes expects to find it as the first left it."""
    monkeypatch.setattr(last_written, "_SETTLED_WRITES", 1)
    other = Store.open(store._pools.writers.url.render_as_string(hide_password=False))
    other.enable_history()
    warehouse = Warehouse(str(tmp_path))
    Databases(store, warehouse).ensure_default()
    storage = Storage(columns=tuple(Column(name, kind) for name, kind in TYPES.items()))
    Tables(store, warehouse).create(
        Table(name=NAME, storage=storage, partition_keys=(Column("p", "int"),), table_type="EXTERNAL_TABLE")
    )
    PartitionChanges(store, warehouse).add(
        NAME, [Partition(values=(each[-1],), storage=storage) for each in PARTITIONS]
    )
    HistoryUpkeep(store, Retention()).run()  # after the table was made: its time of creation has no milliseconds
    yield Servers(store, other)
    other.close()


@pytest.fixture
def expecting(servers: Servers) -> Servers:
    """Servers that write to a table without reading it."""
    if not servers.first.can_expect:
        pytest.skip("on SQLite rows are always copied: a write reads its table there")
    return servers


def long_values(low: int | None, ndv: int, sketch: bytes | None = None) -> LongStatistics:
    return LongStatistics(low=low, high=low, nulls=0, ndv=ndv, bit_vector=sketch)


def values(dice: random.Random) -> dict[str, Data]:
    """Statistics of each column, of which many are unknown."""

    def maybe(value: Any) -> Any:
        return None if dice.random() < 0.4 else value

    number, sketch = dice.randrange(-9, 9), bit_vector(0, dice.randrange(1, 40))
    kll = of_longs(number, number + 20, histogram=True).histogram
    doubles = [0.0, -0.0, 1.5, 1e300, float("nan"), float("-inf"), 1 / 3]
    return {
        "n": LongStatistics(
            low=maybe(number), high=maybe(number + 5), nulls=maybe(3), ndv=maybe(7), bit_vector=maybe(sketch)
        ),
        "x": DoubleStatistics(low=maybe(dice.choice(doubles)), high=maybe(dice.choice(doubles)), nulls=0, ndv=maybe(7)),
        "dec": DecimalStatistics(low=maybe(Decimal("-1.20")), high=maybe(Decimal(number)), nulls=maybe(1), ndv=4),
        "t": StringStatistics(
            max_length=maybe(8), average_length=maybe(dice.choice([2.0, 2.25])), ndv=maybe(6), bit_vector=maybe(sketch)
        ),
        "day": DateStatistics(low=maybe(number), high=maybe(9), nulls=0, ndv=maybe(3), histogram=maybe(kll)),
        "ra'w\"ü": BinaryStatistics(max_length=maybe(7), average_length=maybe(3), nulls=maybe(0)),
        "yes": BooleanStatistics(trues=maybe(5), falses=maybe(6), nulls=maybe(0)),
    }


def plain(partitions: Sequence[str | None], rows: Sequence[ColumnStatistics]) -> StatisticsByField:
    """Statistics of the same columns of each partition, one partition behind the other."""
    width = len(rows) // len(partitions)
    described = [KindOfColumn(each.column, each.column_type, each.kind) for each in rows[:width]]
    return StatisticsByField(partitions, "hive", described, by_kind(rows))


def any_values(dice: random.Random, partitions: Sequence[str | None]) -> StatisticsByField:
    names = dice.choice([[*TYPES], [*TYPES], [*TYPES], ["n"], ["x", "t"]])
    return plain(
        partitions, [ColumnStatistics(name, TYPES[name], values(dice)[name]) for _ in partitions for name in names]
    )


def of_number(low: int | None, ndv: int, sketch: bytes | None = None) -> StatisticsByField:
    """Statistics of one column of the first partition."""
    return plain(["p=1"], [ColumnStatistics("n", "bigint", long_values(low, ndv, sketch))])


def write(store: Store, *given: StatisticsByField) -> None:
    """Write through a server that has written nothing before."""
    writer = StatisticsWriter(store).plain
    for each in given:
        assert writer.write(NAME, each, of_table=each.partitions == [None], author="ada")


def content(store: Store, at_ms: int | None = None) -> dict[Any, Any]:
    """What is stored, or what the history says of a time; sketches in full."""
    with store.read() as connection:
        found = past_state.table_at(connection, NAME, int(time.time() * 1000) + 1000)
        assert found is not None
        state = past_state.now(connection, found) if at_ms is None else past_state.at(connection, found, at_ms)
        sketches = past_state.sketches(connection, found, state.columns.items())
    return {
        key: (
            [repr(sketches[each] if isinstance(each, bytes) else each) for each in numbers],
            None if provenance is None else json.loads(provenance),
        )
        for key, (*numbers, provenance) in state.columns.items()
    }


def moment() -> int:
    """A time after everything so far and before everything to come."""
    time.sleep(0.003)
    at_ms = int(time.time() * 1000)
    time.sleep(0.003)
    return at_ms


def copies(store: Store) -> list[bool]:
    """For each plain write whether it has copied what it replaced."""
    query = select(STEP.SINCE).where(STEP.STORED.is_not(None)).order_by(STEP.VERSION)
    with store.read() as connection:
        return [since is None for since in connection.execute(query).scalars()]


def count(store: Store, table: SqlTable) -> int:
    with store.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.mark.parametrize("seed", range(6))
def test_the_past_is_told_as_if_all_had_been_copied(servers: Servers, seed: int) -> None:
    dice, seen = random.Random(seed), []
    writers = [StatisticsWriter(each) for each in servers]
    for _ in range(25):
        writer, deed = dice.choice(writers), dice.random()
        if deed < 0.85:
            owners: list[str | None] = dice.choice([[None], ["p=1"], ["p=1"], ["p=2", "p=3"], [*PARTITIONS]])
            for author in "ab":
                given = any_values(dice, owners)
                writer.plain.write(NAME, given, of_table=owners == [None], author=author)
                seen.append((moment(), content(servers.first)))
        elif deed < 0.9:
            writer.delete_partitions(NAME, ["p=1"], dice.choice([None, ["n"]]), None)
        elif deed < 0.95:
            columns = (ColumnStatistics("n", "bigint", long_values(None, 3)),)
            writer.update_partitions(NAME, [StatisticsSet(columns, "p=1", "hive")], WriteOptions(author="c"))
        else:
            writer.delete_table(NAME, ["x"], None)
        seen.append((moment(), content(servers.first)))
    for at_ms, expected in seen:
        assert content(servers.first, at_ms) == expected
    assert (False in copies(servers.first)) == servers.first.can_expect


def test_rows_that_are_written_again_are_not_copied(expecting: Servers) -> None:
    writer = StatisticsWriter(expecting.first).plain
    for _ in range(3):
        writer.write(NAME, of_number(1, 5), of_table=False)
    copied = count(expecting.first, HMSTATS_HISTORY_COLUMN)
    for _ in range(3):
        writer.write(NAME, of_number(1, 6), of_table=False)
    assert count(expecting.first, HMSTATS_HISTORY_COLUMN) == copied
    assert copies(expecting.first)[-3:] == [False] * 3
    assert len(StatisticsHistory(expecting.first, Retention()).writes(NAME).writes) == 6


def test_two_servers_that_take_turns_copy_nothing_either(expecting: Servers) -> None:
    writers = [StatisticsWriter(each).plain for each in expecting]
    for _ in range(6):
        for each in writers:
            each.write(NAME, of_number(1, 5), of_table=False)
    assert copies(expecting.first)[-6:] == [False] * 6


def test_a_write_of_partitions_copies_all_if_the_history_does_not_tell_one(expecting: Servers) -> None:
    writer, number = StatisticsWriter(expecting.first).plain, ColumnStatistics("n", "bigint", long_values(1, 5))
    for partitions in (["p=1"], ["p=1"], ["p=1"], ["p=2"]):
        writer.write(NAME, plain(partitions, [number]), of_table=False)
    before, at_ms = content(expecting.first), moment()
    writer.write(NAME, plain(["p=1", "p=2"], [number, number]), of_table=False)
    assert content(expecting.first, at_ms) == before
    assert copies(expecting.first)[-1]
    writer.write(NAME, plain(["p=1", "p=2"], [number, number]), of_table=False)
    assert not copies(expecting.first)[-1]


def test_each_day_begins_with_a_copy(expecting: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """So an old day can be thinned without the days before it."""
    day_ms = 60
    monkeypatch.setattr(left_history, "DAY_MS", day_ms)
    writer, days = StatisticsWriter(expecting.first).plain, set[int]()
    while len(days) < 8:
        writer.write(NAME, of_number(1, 5), of_table=False)
        days.add(moment() // day_ms)
    query = select(STEP.AT, STEP.SINCE).where(STEP.STORED.is_not(None)).order_by(STEP.VERSION.desc())
    with expecting.first.read() as connection:
        steps = connection.execute(query).all()
    first_of_days = {at_ms // day_ms: since for at_ms, since in steps}
    assert len(first_of_days) > 4
    assert set(first_of_days.values()) == {None}
    assert any(since is not None for _, since in steps)


def test_after_some_writes_rows_are_copied_again(expecting: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_history, "_MOST_WRITES", 3)
    write(expecting.first, *[of_number(1, 5)] * 14)
    assert copies(expecting.first)[-8:].count(True) == 2


def test_sketches_are_kept_as_long_as_a_step_has_stored_them(
    expecting: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, days = expecting.first, [0]

    def clock() -> float:
        return time.time() + days[0] * 86_400

    monkeypatch.setattr(store, "_clock", clock)
    retention = Retention(full_days=2, days=10, clock=clock)
    began, writer = moment(), StatisticsWriter(store).plain
    for number in range(1, 7):
        writer.write(NAME, of_number(1, number, bit_vector(0, number)), of_table=False)
    days[0], seen = 5, []
    for number in range(7, 12):
        writer.write(NAME, of_number(1, number, bit_vector(0, number)), of_table=False)
        seen.append((moment() + 5 * 86_400_000, content(store)))
    assert count(store, HMSTATS_HISTORY_SKETCH) == 10, "all but that which is stored now"
    HistoryUpkeep(store, retention).run()
    assert len(copies(store)) == 5, "those of the first day are forgotten"
    assert count(store, HMSTATS_HISTORY_SKETCH) == 1 + 4 + 1, "what each day replaced first, and the second's"
    for at_ms, expected in seen:
        assert content(store, at_ms) == expected
    assert StatisticsHistory(store, retention).past(NAME, began).sets == []


def test_sketches_are_kept_when_they_are_replaced(expecting: Servers) -> None:
    store, seen = expecting.first, []
    first, second = (StatisticsWriter(each).plain for each in expecting)
    deeds = [*[(first, 1)] * 4, (second, 1), (first, 1), (second, 2), (first, 1), (first, 1), (first, 3)]
    for writer, number in deeds:
        writer.write(NAME, of_number(1, number, bit_vector(0, number)), of_table=False)
        seen.append((moment(), content(store)))
    assert not any(copies(store)[-3:])
    assert count(store, HMSTATS_HISTORY_SKETCH) == 2, "not that which is stored now"
    for at_ms, expected in seen:
        assert content(store, at_ms) == expected


def test_a_partitions_past_needs_no_sketch_of_another_one(expecting: Servers) -> None:
    """Both writes have the same sketches, in other rows."""
    store, writer = expecting.first, StatisticsWriter(expecting.first).plain
    one, two = bit_vector(0, 5), bit_vector(0, 9)

    def write_sketches(first: bytes, second: bytes) -> None:
        """Of the text of both partitions; both numbers have the first one."""
        rows = [
            column
            for each in (first, second)
            for column in (
                ColumnStatistics("n", "bigint", long_values(1, 5, one)),
                ColumnStatistics("t", "string", StringStatistics(max_length=8, average_length=2.0, bit_vector=each)),
            )
        ]
        writer.write(NAME, plain(["p=1", "p=2"], rows), of_table=False)

    for _ in range(3):
        write_sketches(one, one)
    write_sketches(two, one)
    before = moment()
    write_sketches(one, two)
    assert not copies(store)[-1]
    with store.read() as connection:
        table_id = past_state.table_at(connection, NAME, before)
        assert table_id is not None
        for row in past_state.at(connection, table_id, before).columns.items():
            hashes = {each for each in row[1][HASHES_AT] if each is not None}
            assert past_state.sketches(connection, table_id, [row]).keys() >= hashes


def test_no_write_relies_on_a_history_that_was_removed(expecting: Servers) -> None:
    writer = StatisticsWriter(expecting.first).plain
    for _ in range(4):
        writer.write(NAME, of_number(1, 5), of_table=False)
    assert not copies(expecting.first)[-1]
    for retention in (Retention(full_days=0), Retention()):
        HistoryUpkeep(expecting.second, retention).run()
    before, at_ms = content(expecting.first), moment()
    writer.write(NAME, of_number(None, 6), of_table=False)
    assert content(expecting.first, at_ms) == before


def test_a_server_of_the_version_before_makes_the_next_write_copy(
    expecting: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not say what it stores, and counts its plain writes elsewhere."""
    writer = StatisticsWriter(expecting.first).plain
    for _ in range(4):
        writer.write(NAME, of_number(1, 5), of_table=False)
    assert not copies(expecting.first)[-1]
    with monkeypatch.context() as patched:
        patched.setattr(plain_writes, "left_history", lambda *_: NO_HISTORY)
        patched.setattr(versions, "_counted_as_plain", _counted_by_the_version_before)
        write(expecting.second, of_number(None, 6))
    before, at_ms = content(expecting.first), moment()
    writer.write(NAME, of_number(2, 7), of_table=False)
    assert content(expecting.first, at_ms) == before
    assert copies(expecting.first)[-1]


def _counted_by_the_version_before(old: Any, _new: Any) -> dict[str, Any]:
    return {"VERSION": old.VERSION + 1, "PLAIN_WRITES": old.PLAIN_WRITES + 1}


def test_a_step_that_was_thinned_has_no_copies_to_go_by(expecting: Servers) -> None:
    """The clocks of two servers may differ, so that a day of one is thinned while the other's is not."""
    first = StatisticsWriter(expecting.first).plain
    for _ in range(4):
        first.write(NAME, of_number(1, 5), of_table=False)
    write(expecting.second, of_number(None, 6))
    assert copies(expecting.first)[-1]
    before, at_ms = content(expecting.first), moment()
    first.write(NAME, of_number(2, 7), of_table=False)
    assert not copies(expecting.first)[-1]

    def thin(unit: Any) -> None:
        version = select(func.max(STEP.VERSION)).where(STEP.STORED.is_not(None), STEP.SINCE.is_(None)).scalar_subquery()
        unit.connection.execute(update(HMSTATS_HISTORY).where(STEP.VERSION == version).values(THINNED=True))
        unit.connection.execute(delete(HMSTATS_HISTORY_COLUMN).where(HMSTATS_HISTORY_COLUMN.c.VERSION == version))

    expecting.first.write(thin)
    assert content(expecting.first, at_ms) == before
