"""Sums from blocks of numbers are those of the rows, whatever was written, dropped, added or deleted since."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.block_world import COUNT, STORAGE, World, make_small, only, own_world, vector
from tests.service.statistics.filled import NAME, of_partition

from hmstats.model.catalog.objects import Partition
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.reading import number_sums, partition_blocks
from hmstats.service.statistics.reading.aggregate import Aggregate, StatisticsAggregator
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.partitions.number_block import FIELDS, NumberBlock
from hmstats.store.schema import HMSTATS_NUMBER_BLOCK, HMSTATS_NUMBER_INDEX, PART_COL_STATS

LONGS = st.sampled_from([None, 0, 1, -1, 250, 70_000, 2**40, -(2**63), 2**63 - 1])
COUNTS = st.sampled_from([None, 0, 3, 300, 2**33, 2**63 - 1])
DOUBLES = st.sampled_from([None, 0.0, -2.5, 1e300, float("inf"), float("-inf"), float("nan")])
LENGTHS = st.sampled_from([None, 0, 5, 70_000])
AVERAGES = st.sampled_from([None, 0.0, 4.25])
DECIMALS = st.sampled_from([None, *map(Decimal, ("1.5", "-3", "10", "9.99", "12345678901234567890.5"))])
VECTORS = st.sampled_from([None, None, vector(0, 3, 8), vector(1, 400, 8)])
DAYS = st.sampled_from([None, 0, -40, date(2026, 11, 28).toordinal() - date(1970, 1, 1).toordinal()])
COUNTED = {"nulls": COUNTS, "ndv": COUNTS}
KINDS = {
    "b": st.builds(BooleanStatistics, trues=COUNTS, falses=COUNTS, nulls=COUNTS),
    "l": st.builds(LongStatistics, low=LONGS, high=LONGS, **COUNTED, bit_vector=VECTORS),
    "d": st.builds(DoubleStatistics, low=DOUBLES, high=DOUBLES, **COUNTED),
    "s": st.builds(StringStatistics, max_length=LENGTHS, average_length=AVERAGES, **COUNTED, bit_vector=VECTORS),
    "bin": st.builds(BinaryStatistics, max_length=LENGTHS, average_length=AVERAGES, nulls=COUNTS),
    "dec": st.builds(DecimalStatistics, low=DECIMALS, high=DECIMALS, **COUNTED),
    "dt": st.builds(DateStatistics, low=DAYS, high=DAYS, **COUNTED),
    "ts": st.builds(TimestampStatistics, low=LONGS, high=LONGS, **COUNTED),
}
COLUMNS = [*KINDS]
DATA = st.fixed_dictionaries({}, optional=KINDS).filter(bool)
NUMBERS = st.integers(0, 30)
SOME = st.lists(NUMBERS, min_size=1, max_size=30, unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), SOME, DATA, st.sampled_from(["hive", "hive", "hive", "spark"])),
        st.tuples(st.just("retype"), NUMBERS, st.sampled_from(["bigint", "int", "string"])),
        st.tuples(st.sampled_from(["delete", "drop", "add"]), NUMBERS),
        st.tuples(st.just("rename"), NUMBERS, NUMBERS),
        st.tuples(st.just("compare"), st.one_of(st.none(), SOME), st.sampled_from(["hive", "spark"])),
        st.just(("build",)),
    ),
    min_size=3,
    max_size=14,
)


class Numbers(World):
    """A table with statistics of every kind."""

    def put(self, numbers: list[int], data: dict[str, Any], engine: str = "hive") -> None:
        """Write statistics into partitions that exist."""
        sets = [of_partition(each, engine, **data) for each in numbers if each in self.there]
        StatisticsWriter(self.store).update_partitions(NAME, sets)

    def retype(self, number: int, column_type: str) -> None:
        """Let a partition's statistics of a column be of another type, as before the column was changed."""
        name = f"p={number}"
        if number not in self.there:
            return
        StatisticsWriter(self.store).update_partitions(NAME, [of_partition(number, l=LongStatistics(low=1, nulls=1))])
        with self.store._pools.writers.begin() as connection:
            c = PART_COL_STATS.c
            of_column = update(PART_COL_STATS).where(c.PARTITION_NAME == name, c.COLUMN_NAME == "l")
            connection.execute(of_column.values(COLUMN_TYPE=column_type))

    def rename(self, number: int, other: int) -> None:
        """Rename a partition, if there is no other of that name."""
        if number in self.there and other not in self.there:
            PartitionMoves(self.store, self.changes._warehouse).rename(
                NAME, [str(number)], Partition(values=(str(other),), storage=STORAGE)
            )
            self.there[self.there.index(number)] = other

    def compare(self, numbers: list[int] | None = None, engine: str = "hive") -> None:
        """Both ways give one answer."""
        names = [f"p={each}" for each in (self.there if numbers is None else numbers)]
        for by_blocks, plainly in ((self.by_blocks, self.plainly), (only(self.by_blocks), only(self.plainly))):
            given = answer(by_blocks, names, engine)
            assert repr(given) == repr(answer(plainly, names, engine))


def answer(aggregator: StatisticsAggregator, names: list[str], engine: str) -> tuple[Any, ...]:
    """The aggregate of all columns, by column: the order of columns is nobody's promise."""
    found: Aggregate = aggregator.partitions(NAME, names, COLUMNS, engine)
    return sorted(found.columns, key=lambda each: each.column), found.partitions_found, found.analyzed_seconds


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few partitions make several blocks."""
    make_small(monkeypatch)


@pytest.fixture
def world(store: Store, tmp_path: Path) -> Numbers:
    """Partitions with numbers, and their blocks."""
    made = Numbers(store, tmp_path)
    for number in made.there:
        made.put([number], every_kind(number))
    made.compare()
    made.blocks.run()
    assert made.count(HMSTATS_NUMBER_INDEX) == len(COLUMNS)
    assert made.count(HMSTATS_NUMBER_BLOCK) == len(COLUMNS) * COUNT // 8
    return made


def every_kind(number: int) -> dict[str, Any]:
    """Statistics of all columns, unlike for each number."""
    return {
        "b": BooleanStatistics(trues=number, falses=2, nulls=1),
        "l": LongStatistics(low=-number, high=1_000 * number, nulls=number, ndv=number),
        "d": DoubleStatistics(low=-0.5 * number, high=float("nan"), nulls=number, ndv=number),
        "s": StringStatistics(max_length=number, average_length=number / 4, nulls=0, ndv=number),
        "bin": BinaryStatistics(max_length=number, average_length=1.5, nulls=number),
        "dec": DecimalStatistics(low=Decimal(number) / 10, high=Decimal(number), nulls=0, ndv=number),
        "dt": DateStatistics(low=number, high=20_000 + number, nulls=0, ndv=number),
        "ts": TimestampStatistics(low=number, high=2**40 + number, nulls=0, ndv=number),
    }


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_answers_are_those_of_the_rows(sqlite_template: Path, steps: list[tuple[Any, ...]]) -> None:
    with own_world(sqlite_template, Numbers) as world:
        world.put(world.there, every_kind(3))
        for step, *arguments in [("compare",), ("build",), *steps, ("compare",)]:
            (world.blocks.run if step == "build" else getattr(world, step))(*arguments)


def test_no_row_is_read_where_blocks_tell_all(world: Numbers) -> None:
    for numbers in (world.there, world.there[::2], world.there[5:29], world.there[::7]):
        world.compare(numbers)
    names = [f"p={each}" for each in world.there]
    before, *_ = answer(world.by_blocks, names, "hive")
    with world.store._pools.writers.begin() as connection:
        connection.execute(delete(PART_COL_STATS))
    assert answer(world.by_blocks, names, "hive")[0] == before


def test_blocks_are_of_the_engine_of_most_partitions(store: Store, tmp_path: Path) -> None:
    world = Numbers(store, tmp_path)
    for number in world.there:
        world.put([number], every_kind(number), "spark" if number == 0 else "hive")
    world.compare()
    world.blocks.run()
    world.compare()
    names = [f"p={each}" for each in world.there[1:]]
    before = answer(world.by_blocks, names, "hive")
    with world.store._pools.writers.begin() as connection:
        connection.execute(delete(PART_COL_STATS).where(PART_COL_STATS.c.ENGINE == "hive"))
    assert answer(world.by_blocks, names, "hive") == before


def test_a_write_is_seen_at_once(world: Numbers) -> None:
    world.put([9], {"l": LongStatistics(low=-(10**9), high=10**9, nulls=5, ndv=77)})
    world.compare()
    world.compare(world.there[::2])
    world.drop(17)
    world.add(100)
    world.compare()
    world.put([100], every_kind(100))
    world.compare()
    world.delete(3)
    world.compare()


def test_a_partition_without_statistics_is_known_to_have_none(world: Numbers, statements: StatementCounter) -> None:
    world.delete(3)
    for number in range(6):  # so many that blocks are built again
        world.put([number + 10], {"s": StringStatistics(nulls=1, ndv=number)})
    world.compare()
    world.blocks.run()
    world.compare()
    with world.store.read() as connection:
        query = select(HMSTATS_NUMBER_BLOCK.c.NUMBERS).order_by(HMSTATS_NUMBER_BLOCK.c.LOW_ID)
        blocks = [NumberBlock.from_bytes(data) for data in connection.execute(query).scalars()]
    assert sorted({int(each.present.sum()) for each in blocks}) == [7, 8]


def test_a_block_that_cannot_be_read_is_not_used(world: Numbers) -> None:
    for broken in (b"", b"broken", b"\x08\0\2\0" + bytes(10 * len(FIELDS))):
        with world.store._pools.writers.begin() as connection:
            connection.execute(update(HMSTATS_NUMBER_BLOCK).values(NUMBERS=broken))
        world.memory.clear()
        world.compare(world.there[::2])


def test_a_table_that_is_dropped_leaves_nothing(world: Numbers, tmp_path: Path) -> None:
    Tables(world.store, Warehouse(str(tmp_path))).drop(NAME, delete_data=False)
    assert (world.count(HMSTATS_NUMBER_BLOCK), world.count(HMSTATS_NUMBER_INDEX)) == (0, 0)


def test_sums_above_the_largest_long_are_it(world: Numbers) -> None:
    world.put(world.there, {"l": LongStatistics(nulls=2**62, ndv=2**62)})
    world.blocks.run()
    world.compare()
    assert 2**63 - 1 in {each.data.nulls for each in answer(world.by_blocks, ["p=1", "p=2", "p=3"], "hive")[0]}


def test_the_number_of_statements_does_not_grow_with_the_partitions(
    world: Numbers, statements: StatementCounter
) -> None:
    sent = []
    for numbers in (world.there[:16:2], world.there[::2]):
        world.memory.clear()
        with statements() as each:
            answer(world.by_blocks, [f"p={number}" for number in numbers], "hive")
        sent.append(len(each))
    assert sent[0] == sent[1]


def test_rows_are_read_where_many_partitions_were_touched(world: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()
    real = number_sums.sums

    def counted(*arguments: Any) -> Any:
        asked.append(1)
        return real(*arguments)

    monkeypatch.setattr(number_sums, "sums", counted)
    for count, answers in ((COUNT // 4, 1), (COUNT // 4 + 1, 1)):
        world.put(world.there[:count], every_kind(7))
        answer(world.by_blocks, [f"p={each}" for each in world.there], "hive")
        assert len(asked) == answers


def test_columns_that_were_built_while_others_wrote_are_as_of_one_version(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Numbers(store, tmp_path)
    world.put(world.there, every_kind(3))
    real = world.blocks._build_all

    def build_and_write(*arguments: Any) -> None:
        real(*arguments)
        world.put([9], every_kind(world.count(HMSTATS_NUMBER_INDEX)))

    monkeypatch.setattr(world.blocks, "_build_all", build_and_write)
    world.compare()
    world.blocks.run()
    with store.read() as connection:
        assert len(set(connection.execute(select(HMSTATS_NUMBER_INDEX.c.VERSION)).scalars())) == 1
    world.compare()


def test_few_partitions_or_few_rows_ask_for_no_blocks(
    world: Numbers, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"p={each}" for each in world.there]
    sent = []
    for setting, limit in (("FEWEST_NUMBERS", COUNT + 1), ("FEWEST_ROWS", COUNT * len(COLUMNS) + 1)):
        with monkeypatch.context() as patched:
            patched.setattr(partition_blocks, setting, limit)
            with statements() as each:
                answer(world.by_blocks, names, "hive")
            sent.append(len(each))
    with statements() as each:
        answer(world.plainly, names, "hive")
    assert sent == [len(each)] * 2
