from hmstats.model.column_statistics import BooleanStatistics, ColumnStatistics, Kind, LongStatistics, StatisticsSet
from hmstats.model.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField


def test_lists_by_field_say_what_sets_say() -> None:
    columns = [KindOfColumn("l", "bigint", Kind.LONG), KindOfColumn("b", "boolean", Kind.BOOLEAN)]
    groups = [
        FieldValues(Kind.LONG, [0, 2], {"low": (1, None), "nulls": [0, 2]}),
        FieldValues(Kind.BOOLEAN, [1, 3], {}),
    ]
    given = StatisticsByField(["p=1", "p=2"], "impala", columns, groups)
    unknown = ColumnStatistics("b", "boolean", BooleanStatistics())
    assert given.sets(7) == [
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(low=1, nulls=0)), unknown), "p=1", "impala", 7),
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(nulls=2)), unknown), "p=2", "impala", 7),
    ]
    assert {each.last_analyzed_seconds for each in given.sets()} == {None}
    assert given.size == 4
