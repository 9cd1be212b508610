"""The statistics of many partitions together: through the rules from the database."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update
from structlog.testing import capture_logs
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, bit_vector, make_table, of_longs, of_partition

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.model.statistics.merge import MAX_I64
from hmstats.service.statistics.reading.aggregate import Aggregate, StatisticsAggregator
from hmstats.service.statistics.reading.distinct import DistinctRules
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.sketch.distinct.bit_vector import in_order
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.store.database.store import Store
from hmstats.store.schema import PART_COL_STATS

COUNT = 40


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    make_table(store, tmp_path, range(COUNT))
    return store


def write(store: Store, *sets: StatisticsSet) -> None:
    StatisticsWriter(store).update_partitions(NAME, sets)


def aggregate(store: Store, numbers: Any, *columns: str, engine: str = "hive", **choices: Any) -> Aggregate:
    names = [f"p={each}" for each in numbers]
    return StatisticsAggregator(store, **choices).partitions(NAME, names, columns, engine)


def only(found: Aggregate) -> Any:
    (column,) = found.columns
    return column.data


def test_every_kind_adds_up(filled: Store) -> None:
    sides: dict[str, tuple[Any, Any, Any]] = {
        "b": (
            BooleanStatistics(trues=1, falses=2, nulls=3),
            BooleanStatistics(trues=10, falses=20, nulls=30),
            BooleanStatistics(trues=11, falses=22, nulls=33),
        ),
        "l": (
            LongStatistics(low=-5, high=9, nulls=1, ndv=7),
            LongStatistics(low=1, high=30, nulls=2, ndv=9),
            LongStatistics(low=-5, high=30, nulls=3, ndv=9),
        ),
        "d": (
            DoubleStatistics(low=-0.5, high=0.25, nulls=0, ndv=3),
            DoubleStatistics(low=float("-inf"), high=1e300, nulls=0, ndv=2),
            DoubleStatistics(low=float("-inf"), high=1e300, nulls=0, ndv=3),
        ),
        "s": (
            StringStatistics(max_length=9, average_length=2.0, nulls=1, ndv=4),
            StringStatistics(max_length=3, average_length=2.5, nulls=1, ndv=3),
            StringStatistics(max_length=9, average_length=2.5, nulls=2, ndv=4),
        ),
        "bin": (
            BinaryStatistics(max_length=9, average_length=2.0, nulls=1),
            BinaryStatistics(max_length=3, average_length=2.5, nulls=1),
            BinaryStatistics(max_length=9, average_length=2.5, nulls=2),
        ),
        "dec": (
            DecimalStatistics(low=Decimal("0.2"), high=Decimal("9.75"), nulls=1, ndv=4),
            DecimalStatistics(low=Decimal(-100), high=Decimal(10), nulls=1, ndv=3),
            DecimalStatistics(low=Decimal(-100), high=Decimal(10), nulls=2, ndv=4),
        ),
        "dt": (
            DateStatistics(low=-3, high=4, nulls=0, ndv=5),
            DateStatistics(low=0, high=8, nulls=0, ndv=5),
            DateStatistics(low=-3, high=8, nulls=0, ndv=5),
        ),
        "ts": (
            TimestampStatistics(low=-3, high=4, nulls=0, ndv=5),
            TimestampStatistics(low=0, high=8, nulls=0, ndv=5),
            TimestampStatistics(low=-3, high=8, nulls=0, ndv=5),
        ),
    }
    write(filled, *(of_partition(p, **{name: each[p] for name, each in sides.items()}) for p in (0, 1)))
    found = aggregate(filled, (0, 1), *sides)
    assert found.partitions_found == 2
    assert {each.column: each.data for each in found.columns} == {name: each[2] for name, each in sides.items()}


@pytest.mark.parametrize("columns", [["l", "s"], ["s", "l"], ["s", "none", "l", "s"]])
def test_columns_are_in_the_order_of_the_request(filled: Store, columns: list[str]) -> None:
    longs = LongStatistics(low=1, high=2, nulls=0, ndv=2)
    texts = StringStatistics(max_length=3, average_length=2.5, nulls=0, ndv=2)
    for partition in ("p=1", "p=2"):
        data = (ColumnStatistics("s", "string", texts), ColumnStatistics("l", "bigint", longs))
        write(filled, StatisticsSet(data, partition))
    found = aggregate(filled, (1, 2), *columns)
    assert [each.column for each in found.columns] == list(dict.fromkeys(each for each in columns if each != "none"))


def test_one_partition_is_answered_as_it_is(filled: Store) -> None:
    for missing in ((), (2, 3, 4)):
        write(filled, of_partition(1, l=LongStatistics(low=3, high=5, nulls=1, ndv=3)))
        found = aggregate(filled, (1, *missing), "l")
        assert found.partitions_found == 1
        assert only(found) == LongStatistics(low=3, high=5, nulls=1, ndv=3)


def test_bit_vectors_are_merged(filled: Store) -> None:
    write(filled, *(of_partition(p, l=of_longs(100 * p, 100 * p + 150)) for p in range(3)))
    found = only(aggregate(filled, range(3), "l"))
    vector = in_order(bit_vector(0, 350))
    assert found == LongStatistics(low=0, high=349, nulls=3, ndv=350, bit_vector=vector)


def test_bit_vectors_of_different_precision_are_merged(filled: Store) -> None:
    sketches = [bit_vector(0, 1000, 14), bit_vector(500, 2000, 10), bit_vector(0, 3000, 12)]
    write(filled, *(of_partition(p, l=LongStatistics(ndv=1, bit_vector=each)) for p, each in enumerate(sketches)))
    assert abs(only(aggregate(filled, range(3), "l")).ndv - 3000) < 3 * 0.0325 * 3000


def test_where_one_has_none_the_rules_guess(filled: Store) -> None:
    write(filled, of_partition(0, l=of_longs(0, 100)), of_partition(1, l=LongStatistics(low=0, high=999, ndv=90)))
    found = only(aggregate(filled, (0, 1), "l"))
    assert (found.ndv, found.bit_vector) == (100, None)
    assert only(aggregate(filled, (0, 1), "l", rules=DistinctRules(tuner=0.5))).ndv == 145


def test_the_density_of_every_kind_with_bounds(filled: Store) -> None:
    """Values are 10 apart in both partitions, and between the bounds 50 of them fit."""
    sides: list[dict[str, Any]] = [
        {
            "l": LongStatistics(low=low, high=high, ndv=ndv),
            "d": DoubleStatistics(low=float(low), high=float(high), ndv=ndv),
            "dec": DecimalStatistics(low=Decimal(low), high=Decimal(high), ndv=ndv),
            "dt": DateStatistics(low=low, high=high, ndv=ndv),
            "ts": TimestampStatistics(low=low, high=high, ndv=ndv),
            "s": StringStatistics(ndv=ndv),
        }
        for low, high, ndv in ((0, 200, 20), (100, 500, 40))
    ]
    write(filled, *(of_partition(p, **each) for p, each in enumerate(sides)))
    found: dict[str, Any] = {
        each.column: each.data
        for each in aggregate(filled, (0, 1), *sides[0], rules=DistinctRules(density=True)).columns
    }
    assert {name: data.ndv for name, data in found.items()} == dict.fromkeys(sides[0], 50) | {"s": 40}


def test_missing_partitions_are_extrapolated(filled: Store) -> None:
    """Of the ten asked for, the second and the sixth are known."""
    write(
        filled,
        of_partition(1, l=LongStatistics(low=10, high=20, nulls=1, ndv=5), b=BooleanStatistics(trues=1, falses=0)),
        of_partition(5, l=LongStatistics(low=50, high=60, nulls=2, ndv=5), b=BooleanStatistics(trues=2, falses=4)),
    )
    found = aggregate(filled, range(10), "l", "b")
    by_column: dict[str, Any] = {each.column: each.data for each in found.columns}
    assert found.partitions_found == 2
    assert by_column["l"] == LongStatistics(low=0, high=100, nulls=15, ndv=5)
    assert by_column["b"] == BooleanStatistics(trues=15, falses=20)


def test_the_order_of_the_request_says_where_the_missing_are(filled: Store) -> None:
    write(filled, *(of_partition(p, dec=DecimalStatistics(low=Decimal(p), high=Decimal(p))) for p in (3, 4)))
    for order, low, high in (((3, 4, 5, 6), 3, 6), ((6, 5, 4, 3), 3, 6), ((5, 3, 4, 6), 2, 5)):
        found = only(aggregate(filled, order, "dec"))
        assert (found.low, found.high) == (low, high), order


def test_the_sketches_of_some_are_the_least_that_all_can_have(filled: Store) -> None:
    write(filled, *(of_partition(p, l=of_longs(100 * p, 100 * p + 100)) for p in range(5)))
    assert only(aggregate(filled, range(10), "l")).ndv == 500


def test_names_that_are_no_partition_do_not_count(filled: Store) -> None:
    write(filled, *(of_partition(p, l=LongStatistics(low=p, high=p + 10, nulls=1, ndv=1)) for p in (0, 1)))
    names = ["p=0", "p=1", "p=1", "P=1", "p=999", "nonsense", ""]
    found = StatisticsAggregator(filled).partitions(NAME, names, ["l", "l"], "hive")
    assert (found.partitions_found, only(found)) == (2, LongStatistics(low=0, high=11, nulls=2, ndv=1))


def test_nothing_asked_or_known_is_nothing(filled: Store) -> None:
    assert aggregate(filled, (0, 1), "l") == Aggregate()
    write(filled, of_partition(0, l=LongStatistics(ndv=1)))
    assert aggregate(filled, (), "l") == aggregate(filled, (0,)) == aggregate(filled, (5,), "l") == Aggregate()
    assert aggregate(filled, (0,), "nope") == Aggregate()
    with pytest.raises(NoSuchObject, match=r"hive\.default\.nope"):
        StatisticsAggregator(filled).partitions(TableName("hive", "default", "nope"), ["p=1"], ["l"], "hive")


def test_a_partition_counts_when_it_has_every_column(filled: Store) -> None:
    long, text = LongStatistics(ndv=1), StringStatistics(ndv=1)
    write(filled, of_partition(0, l=long, s=text), of_partition(1, l=long), of_partition(2, s=text))
    assert aggregate(filled, (0, 1, 2), "l", "s").partitions_found == 1
    assert aggregate(filled, (0, 1), "l").partitions_found == 2
    assert aggregate(filled, (0, 1, 2), "l", "d").partitions_found == 0


def test_the_limits_of_a_long_are_no_trouble(filled: Store) -> None:
    wide = LongStatistics(low=-MAX_I64 - 1, high=MAX_I64, nulls=MAX_I64, ndv=MAX_I64)
    write(filled, *(of_partition(p, l=wide) for p in range(3)))
    for rules in (DistinctRules(), DistinctRules(density=True), DistinctRules(tuner=1.0)):
        assert only(aggregate(filled, range(3), "l", rules=rules)) == wide
        assert only(aggregate(filled, range(6), "l", rules=rules)) == wide


def test_no_distinct_values_are_no_trouble(filled: Store) -> None:
    empty = LongStatistics(low=3, high=3, nulls=5, ndv=0)
    write(filled, *(of_partition(p, l=empty, s=StringStatistics(ndv=0, nulls=1)) for p in range(3)))
    found = aggregate(filled, range(3), "l", "s", rules=DistinctRules(density=True))
    assert [
        each.data.ndv for each in found.columns if not isinstance(each.data, BooleanStatistics | BinaryStatistics)
    ] == [0, 0]


def test_not_a_number_is_no_bound(filled: Store) -> None:
    nan = float("nan")
    sides = [DoubleStatistics(low=nan, high=nan, ndv=1), DoubleStatistics(low=1.5, high=float("inf"), ndv=2)]
    write(filled, *(of_partition(p, d=each) for p, each in enumerate(sides)))
    assert only(aggregate(filled, (0, 1), "d")) == DoubleStatistics(low=1.5, high=float("inf"), ndv=2)


def test_columns_of_nulls_alone_have_no_distinct_values(filled: Store) -> None:
    nothing = LongStatistics(nulls=9, ndv=0, bit_vector=bit_vector(0, 0))
    write(filled, *(of_partition(p, l=nothing) for p in range(3)))
    found = only(aggregate(filled, range(3), "l"))
    assert (found.nulls, found.ndv, found.low) == (27, 0, None)


def test_statistics_from_a_time_of_another_type_do_not_count(filled: Store) -> None:
    write(filled, *(of_partition(p, l=of_longs(10 * p, 10 * p + 10)) for p in range(3)))
    with filled._pools.writers.begin() as connection:
        old = PART_COL_STATS.c.PARTITION_NAME == "p=2"
        connection.execute(update(PART_COL_STATS).where(old).values(COLUMN_TYPE="string"))
    found = aggregate(filled, range(3), "l")
    assert (found.partitions_found, only(found).ndv, only(found).bit_vector) == (2, 10, None)


def test_integers_that_grew_count_together(filled: Store) -> None:
    write(filled, *(of_partition(p, l=LongStatistics(low=p, high=p, nulls=1, ndv=1)) for p in range(2)))
    with filled._pools.writers.begin() as connection:
        old = PART_COL_STATS.c.PARTITION_NAME == "p=0"
        connection.execute(update(PART_COL_STATS).where(old).values(COLUMN_TYPE="int"))
    found = aggregate(filled, range(2), "l")
    assert (found.columns[0].column_type, only(found)) == ("bigint", LongStatistics(low=0, high=1, nulls=2, ndv=1))


def test_a_corrupt_sketch_is_left_out_with_a_log_line(filled: Store) -> None:
    write(filled, *(of_partition(p, l=of_longs(100 * p, 100 * p + 100)) for p in range(3)))
    with filled._pools.writers.begin() as connection:
        here = PART_COL_STATS.c.PARTITION_NAME == "p=1"
        connection.execute(update(PART_COL_STATS).where(here).values(BIT_VECTOR=b"HLL nonsense"))
    with capture_logs() as logged:
        found = only(aggregate(filled, range(3), "l"))
    assert (found.ndv, found.bit_vector) == (200, None)
    (line,) = [each for each in logged if each["event"] == "stored_sketch_ignored"]
    assert (line["partition"], line["column"]) == ("p=1", "l")


def test_histograms_are_merged_where_they_are_asked_for(filled: Store) -> None:
    write(filled, *(of_partition(p, l=of_longs(100 * p, 100 * p + 100, histogram=True)) for p in range(3)))
    assert only(aggregate(filled, range(3), "l")).histogram is None
    names = [f"p={each}" for each in range(3)]
    found = StatisticsAggregator(filled).partitions(NAME, names, ["l"], "hive", histograms=True)
    histogram = KllHistogram.from_bytes(only(found).histogram)
    assert histogram.count == 300
    assert np.allclose(histogram.quantiles([0, 0.5, 1]), [0, 150, 299], atol=12)


@pytest.mark.parametrize("numbers", [range(COUNT), range(0, COUNT, 3)])
def test_the_number_of_statements_does_not_grow(filled: Store, numbers: range, statements: StatementCounter) -> None:
    sets = [of_partition(p, l=of_longs(p, p + 9), dec=DecimalStatistics(low=Decimal(p), ndv=1)) for p in numbers]
    write(filled, *sets)
    with statements() as sent:
        aggregate(filled, range(COUNT), "l", "dec", "s")
    assert len(sent) <= 6


def test_another_engine_answers_partition_by_partition(filled: Store) -> None:
    """The asked engine's first, else the newest other's: one of each partition."""
    clock = iter(range(1_000_000, 1_000_100))
    filled._clock = lambda: next(clock)
    for engine, p, ndv in (("hive", 0, 3), ("impala", 0, 100), ("trino", 1, 4), ("impala", 1, 7)):
        write(filled, of_partition(p, engine, l=LongStatistics(nulls=ndv, ndv=ndv)))
    assert only(aggregate(filled, (0, 1), "l")) == LongStatistics(nulls=10, ndv=7)
    assert only(aggregate(filled, (0, 1), "l", engine="trino")).nulls == 104
    assert only(aggregate(filled, (0, 1), "l", any_engine=False)) == LongStatistics(nulls=3, ndv=3)


def test_a_table_without_statistics_is_answered_for_by_its_partitions(filled: Store) -> None:
    write(
        filled, *(of_partition(p, l=of_longs(100 * p, 100 * p + 150), s=StringStatistics(ndv=p)) for p in range(COUNT))
    )
    StatisticsWriter(filled).update_table(NAME, of_partition(None, s=StringStatistics(ndv=77)))
    reader = StatisticsReader(filled, aggregator=StatisticsAggregator(filled))
    found = reader.table(NAME, None, "hive")
    assert found is not None
    by_column: dict[str, Any] = {each.column: each.data for each in found.columns}
    assert set(by_column) == {"l", "s"}
    assert (by_column["s"].ndv, by_column["l"].low, by_column["l"].high) == (77, 0, 100 * COUNT + 49)
    assert abs(by_column["l"].ndv - (100 * COUNT + 50)) < 0.05 * 100 * COUNT
    assert reader.table(NAME, ["d"], "hive") is None
    own = StatisticsReader(filled).table(NAME, None, "hive")
    assert own is not None
    assert [each.column for each in own.columns] == ["s"]
