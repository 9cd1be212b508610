"""Merging written statistics into the stored ones: through the rules into the database and back."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, bit_vector, make_table, of_longs, of_partition

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model.statistics.column_statistics import LongStatistics, StringStatistics
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.merge import latest_of_each_column
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.store.database.store import Store
from hmstats.store.schema import PART_COL_STATS

PARTITION_COUNT = 50


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    make_table(store, tmp_path, range(PARTITION_COUNT))
    return store


def stored(store: Store, number: int, column: str = "l", engine: str = "hive") -> Any:
    (found,) = StatisticsReader(store, any_engine=False).partitions(NAME, [f"p={number}"], [column], engine)
    return found.columns[0].data


def test_the_number_of_statements_does_not_grow(filled: Store, statements: StatementCounter) -> None:
    writer = StatisticsWriter(filled)
    writer.update_partitions(NAME, [of_partition(0, l=of_longs(0, 10))])  # takes ids
    counts = []
    for numbers in ([1], range(2, PARTITION_COUNT)):
        with statements() as sent:
            writer.update_partitions(
                NAME, [of_partition(each, l=of_longs(0, 5)) for each in numbers], WriteOptions(merge=True)
            )
        counts.append(len(sent))
    assert counts[0] == counts[1] <= (14 if "sqlite" in filled.name else 11)  # PostgreSQL sends the history along


def test_sketches_are_merged_and_counted(filled: Store) -> None:
    writer = StatisticsWriter(filled)
    for start, stop in ((0, 100), (50, 200)):
        writer.update_partitions(
            NAME, [of_partition(1, l=of_longs(start, stop, histogram=True))], WriteOptions(merge=True)
        )
    found = stored(filled, 1)
    assert (found.low, found.high, found.nulls, found.ndv) == (0, 199, 2, 200)
    assert found.bit_vector == bit_vector(0, 200)
    histogram = KllHistogram.from_bytes(found.histogram)
    assert (histogram.count, histogram.quantiles([0, 1])) == (250, [0, 199])


def test_sketches_of_different_precision_are_merged(filled: Store) -> None:
    writer = StatisticsWriter(filled)
    for p, start in ((14, 0), (10, 100), (12, 200)):
        data = LongStatistics(ndv=100, bit_vector=bit_vector(start, start + 100, p))
        writer.update_partitions(NAME, [of_partition(1, l=data)], WriteOptions(merge=True))
    found = stored(filled, 1)
    assert abs(found.ndv - 300) < 3 * 0.0325 * 300
    assert found.bit_vector[3] >> 4 == 10


def test_a_tables_statistics_are_merged_too(filled: Store) -> None:
    writer, reader = StatisticsWriter(filled), StatisticsReader(filled)
    writer.update_table(NAME, of_partition(None, l=of_longs(0, 10), s=StringStatistics(ndv=7)))
    writer.update_table(NAME, of_partition(None, l=of_longs(5, 20)), WriteOptions(merge=True))
    found = reader.table(NAME, ["l", "s"], "hive")
    assert found is not None
    by_column: Any = {each.column: each.data for each in found.columns}
    assert (by_column["l"].ndv, by_column["l"].nulls, by_column["s"].ndv) == (20, 2, 7)


def test_what_one_call_says_twice_counts_twice(filled: Store) -> None:
    writer = StatisticsWriter(filled)
    sets = [of_partition(1, l=of_longs(0, 10)), of_partition(1, l=of_longs(10, 20))]
    writer.update_partitions(NAME, sets, WriteOptions(merge=True))
    assert (stored(filled, 1).ndv, stored(filled, 1).nulls) == (20, 2)


def test_without_merging_the_later_of_two_stands() -> None:
    one, two = of_partition(1, l=LongStatistics(ndv=1)), of_partition(1, l=LongStatistics(ndv=2))
    both = of_partition(1)
    assert latest_of_each_column(type(both)((*one.columns, *two.columns), "p=1")).columns == two.columns


def test_each_engine_has_its_own(filled: Store) -> None:
    writer = StatisticsWriter(filled)
    for engine, start in (("hive", 0), ("impala", 100), ("hive", 10)):
        writer.update_partitions(
            NAME, [of_partition(1, engine, l=of_longs(start, start + 10))], WriteOptions(merge=True)
        )
    assert (stored(filled, 1).high, stored(filled, 1, engine="impala").low) == (19, 100)


def test_two_engines_in_one_call_stay_apart(filled: Store) -> None:
    sets = [of_partition(1, engine, l=of_longs(start, start + 10)) for engine, start in (("hive", 0), ("impala", 100))]
    for merge in (False, True):
        StatisticsWriter(filled).update_partitions(NAME, sets, WriteOptions(merge=merge))
        assert (stored(filled, 1).high, stored(filled, 1, engine="impala").low) == (9, 100)


def test_merged_columns_are_not_marked_as_accurate(filled: Store, tmp_path: Path) -> None:
    """What they were merged into may not have been: Hive would answer queries from them."""
    writer = StatisticsWriter(filled)
    writer.update_table(NAME, of_partition(None, l=of_longs(0, 10)))
    writer.update_table(
        NAME, of_partition(None, l=of_longs(0, 10), s=StringStatistics(ndv=7)), WriteOptions(merge=True)
    )
    marked = Tables(filled, Warehouse(str(tmp_path))).get(NAME).parameters["COLUMN_STATS_ACCURATE"]
    assert marked == '{"COLUMN_STATS":{"l":"true"}}'


def test_statistics_of_another_type_give_way(filled: Store) -> None:
    writer = StatisticsWriter(filled)
    writer.update_partitions(NAME, [of_partition(1, l=of_longs(0, 10))])
    with filled._pools.writers.begin() as connection:
        connection.execute(update(PART_COL_STATS).values(COLUMN_TYPE="string"))
    writer.update_partitions(NAME, [of_partition(1, l=of_longs(5, 20))], WriteOptions(merge=True))
    assert (stored(filled, 1).low, stored(filled, 1).ndv) == (5, 15)


@pytest.mark.parametrize(("column", "sketch"), [("BIT_VECTOR", b"HLL nonsense"), ("HISTOGRAM", b"nonsense")])
def test_a_corrupt_stored_sketch_is_left_out_with_a_log_line(filled: Store, column: str, sketch: bytes) -> None:
    writer = StatisticsWriter(filled)
    writer.update_partitions(NAME, [of_partition(1, l=of_longs(0, 10, histogram=True))])
    with filled._pools.writers.begin() as connection:
        connection.execute(update(PART_COL_STATS).values({column: sketch}))
    new = of_longs(5, 20, histogram=True)
    with capture_logs() as logged:
        writer.update_partitions(NAME, [of_partition(1, l=new)], WriteOptions(merge=True))
    found = stored(filled, 1)
    assert getattr(found, column.lower()) == getattr(new, column.lower())
    assert (found.low, found.ndv) == (0, 15 if column == "BIT_VECTOR" else 20)
    (line,) = [each for each in logged if each["event"] == "stored_sketch_ignored"]
    assert (line["object"], line["partition"], line["column"]) == ("hive.default.t", "p=1", "l")


def test_one_bad_partition_merges_none(filled: Store) -> None:
    writer = StatisticsWriter(filled)
    writer.update_partitions(NAME, [of_partition(1, l=of_longs(0, 10))])
    good = of_partition(1, l=of_longs(10, 20))
    for bad, error in (
        (of_partition(1000), NoSuchObject),
        (of_partition(2, l=LongStatistics(bit_vector=b"x")), InvalidInput),
    ):
        with pytest.raises(error):
            writer.update_partitions(NAME, [good, bad], WriteOptions(merge=True))
    assert stored(filled, 1) == of_longs(0, 10)
