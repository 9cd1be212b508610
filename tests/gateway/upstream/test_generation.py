"""What a release of Hive is sent of statistics is what it is expected to say of them."""

from math import inf, nan

import pytest

from hmstats.gateway.upstream.generation import Generation
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, DoubleStatistics, StatisticsSet

NAME = TableName("hive", "default", "t")


@pytest.mark.parametrize(("low", "high"), [(-inf, inf), (nan, 2.0), (1.0, nan), (1.0, 2.0)])
def test_bounds_that_no_hive_stores_are_left_out(low: float, high: float) -> None:
    """Else it refused every other column of the call with them."""
    column = ColumnStatistics("d", "double", DoubleStatistics(low=low, high=high, nulls=1, ndv=7))
    (sent,) = Generation(4).struct_of(NAME, StatisticsSet((column,))).statsObj
    expected = Generation(4).answer_to(column).data
    assert isinstance(expected, DoubleStatistics)
    bounds = tuple(each if each in (1.0, 2.0) else None for each in (low, high))
    assert (sent.statsData.doubleStats.lowValue, sent.statsData.doubleStats.highValue) == bounds
    assert (expected.low, expected.high) == bounds
    assert (expected.nulls, expected.ndv) == (1, 7)


def test_an_hmstats_behind_gets_them() -> None:
    column = ColumnStatistics("d", "double", DoubleStatistics(low=-inf, high=inf, nulls=1, ndv=7))
    (sent,) = Generation(4, is_ours=True).struct_of(NAME, StatisticsSet((column,))).statsObj
    assert (sent.statsData.doubleStats.lowValue, sent.statsData.doubleStats.highValue) == (-inf, inf)
