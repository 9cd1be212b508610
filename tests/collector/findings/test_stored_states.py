"""Statistics that were stored give their accumulators back, so that new rows can be added."""

import pyarrow as pa
import pytest
from tests.collector.checks import check_all, comparable
from tests.collector.data import TYPES, rows

from hmstats.collector.findings.stored_states import accumulators
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet, StringStatistics
from hmstats.model.statistics.column_types import kind_of
from hmstats.sketch.accumulator import TableAccumulator


def accumulator(table: pa.Table) -> TableAccumulator:
    kinds = {name: kind for name, type_ in TYPES.items() if (kind := kind_of(type_))}
    made = TableAccumulator.empty(kinds)
    made.update(table)
    return made


def restored(table: pa.Table) -> TableAccumulator:
    made = accumulators(StatisticsSet(accumulator(table).statistics(TYPES), "p=1"), table.num_rows)
    assert made is not None
    return made


def test_statistics_come_back_as_they_were() -> None:
    table = rows()
    found = restored(table).statistics(TYPES)
    for one, other in zip(found, accumulator(table).statistics(TYPES), strict=True):
        assert comparable(one) == comparable(other)
        assert one.top_k == other.top_k


@pytest.mark.parametrize("cut", [0, 1, 1000, 4000])
def test_new_rows_are_added_to_what_is_stored(cut: int) -> None:
    table = rows()
    both = restored(table.slice(0, cut)).merge(accumulator(table.slice(cut)))
    assert both.rows == table.num_rows
    check_all(both.statistics(TYPES), table)


def test_what_is_not_whole_gives_nothing() -> None:
    unknown = ColumnStatistics("a", "int", LongStatistics(low=1, high=2))
    assert accumulators(StatisticsSet((unknown,)), 10) is None
    too_many = ColumnStatistics("a", "int", LongStatistics(low=1, high=2, nulls=11))
    assert accumulators(StatisticsSet((too_many,)), 10) is None
    other_vector = ColumnStatistics("a", "string", StringStatistics(nulls=0, ndv=3, bit_vector=b"FM\x01\x00"))
    assert accumulators(StatisticsSet((other_vector,)), 10) is None


def test_without_sketches_there_is_no_distinct_count() -> None:
    bare = ColumnStatistics("a", "int", LongStatistics(low=1, high=2, nulls=1, ndv=2))
    made = accumulators(StatisticsSet((bare,)), 10)
    assert made is not None
    (found,) = made.statistics({"a": "int"})
    assert found.data == LongStatistics(low=1, high=2, nulls=1)
