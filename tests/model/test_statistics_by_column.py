from hmstats.model.column_statistics import BooleanStatistics, ColumnStatistics, Kind, LongStatistics, StatisticsSet
from hmstats.model.statistics_by_column import ColumnValues, StatisticsByColumn


def test_lists_by_column_say_what_sets_say() -> None:
    longs = ColumnValues("l", "bigint", Kind.LONG, {"low": (1, None), "nulls": [0, 2]})
    flags = ColumnValues("b", "boolean", Kind.BOOLEAN, {})
    given = StatisticsByColumn(["p=1", "p=2"], "impala", [longs, flags])
    unknown = ColumnStatistics("b", "boolean", BooleanStatistics())
    assert given.sets(7) == [
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(low=1, nulls=0)), unknown), "p=1", "impala", 7),
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(nulls=2)), unknown), "p=2", "impala", 7),
    ]
    assert {each.last_analyzed_seconds for each in given.sets()} == {None}
