"""COLUMN_STATS_ACCURATE at the upstream: no statistics that are sent there mark what is not accurate any more."""

import time
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

import pytest
from tests.gateway.doors import COLUMNS, SECONDS, Doors, bounds, long, of_all, until
from tests.gateway.test_metastores import asked
from tests.server.requests import encoded

from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import (
    DEFAULT_ENGINE,
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
    TimestampStatistics,
)
from hmstats.wire.idl import extension, methods
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.column_statistics import set_to_thrift


def marked(doors: Doors) -> frozenset[str]:
    """The columns that the upstream marks as accurate."""
    return Accurate.parse(doors.direct.parameters().get(PARAMETER)).columns


def unmark(door: Any, doors: Doors, columns: Collection[str] | None = None) -> None:
    """Take the marks of columns (None: all) away, as an engine does that writes rows without gathering statistics."""
    table = door.read_table()
    table.parameters[PARAMETER] = Accurate.parse(table.parameters.get(PARAMETER)).without_columns(columns).text()
    quiet = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    door.client().alter_table_with_environment_context(doors.direct.database, "t", table, quiet)


def merge(doors: Doors, low: int, high: int, *more: ColumnStatistics) -> None:
    name, given = TableName("hive", doors.direct.database, "t"), StatisticsSet((long(low, high), *more))
    structs = [set_to_thrift(name, given, hive4=True)]
    request = api.SetPartitionsStatsRequest(colStats=structs, needMerge=True, engine="hive")
    assert doors.here.client().set_aggr_stats_for(request)


@pytest.mark.slow
def test_rows_that_are_merged_behind_each_other(doors: Doors) -> None:
    """The second write comes before the upstream has got the first one."""
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(5, 6),)))
    for low, high in ((1, 2), (8, 9)):
        merge(doors, low, high)
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 9)]
    until([(1, 9)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    assert "a" in marked(doors)


def test_new_rows_of_a_table_without_statistics_are_not_all_of_it(doors: Doors) -> None:
    """Rows that were written without statistics may be there before them."""
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 merges whatever is marked")
    doors.here.table(columns=COLUMNS)
    merge(doors, 5, 6)
    assert not doors.ours.table_statistics(doors.name(), ["a"])
    time.sleep(3 * SECONDS)
    assert marked(doors) == frozenset()
    assert not doors.there.table_statistics(doors.name(), ["a"])


def test_partitions_are_found_however_their_names_are_written(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["01"], ["a/b c"], columns=COLUMNS)
    names = ["day=01", "day=a%2Fb c"]
    doors.ours.put_partition_statistics(doors.name(), [StatisticsSet((long(5, 6),), each) for each in names])
    name = TableName("hive", doors.direct.database, "t")
    sets = [StatisticsSet((long(1, 9),), each.replace("day", "DAY")) for each in names]
    structs = [set_to_thrift(name, each, hive4=True) for each in sets]
    request = api.SetPartitionsStatsRequest(colStats=structs, needMerge=True, engine="hive")
    assert doors.here.client().set_aggr_stats_for(request)
    found = doors.ours.partition_statistics(doors.name(), ["a"], names)
    assert [bounds(each.columns) for each in found] == [[(1, 9)]] * 2


def test_rows_of_a_partition_without_marks_are_not_merged_beside_a_change_of_parameters(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 merges whatever is marked")
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], columns=COLUMNS)
    name = TableName("hive", doors.direct.database, "t")
    struct = set_to_thrift(name, StatisticsSet((long(5, 6),), "day=1"), hive4=True)
    change = extension.ParameterChange(partName="day=1", put={"spice": "cumin"})
    changes = extension.ParameterChanges(dbName=name.database, tblName="t", changes=[change])
    request = extension.SetStatisticsRequest(colStats=[struct], needMerge=True, engine="hive", parameters=changes)
    asked(doors.here.port, "set_statistics", encoded(methods()["set_statistics"].arguments(request=request)))
    assert not [each for each in doors.ours.partition_statistics(doors.name(), ["a"], ["day=1"]) if each.columns]
    found = doors.direct.client().get_partition_by_name(name.database, "t", "day=1").parameters
    assert (found["spice"], found.get(PARAMETER)) == ("cumin", None)


def test_rows_of_a_partition_that_is_not_there_are_refused(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    name = TableName("hive", doors.direct.database, "t")
    struct = set_to_thrift(name, StatisticsSet((long(5, 6),), "day=1"), hive4=True)
    request = api.SetPartitionsStatsRequest(colStats=[struct], needMerge=True, engine="hive")
    with pytest.raises(api.NoSuchObjectException, match="day=1"):
        doors.here.client().set_aggr_stats_for(request)


def test_a_column_that_is_not_marked_is_not_merged(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 merges whatever is marked")
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(5, 6),)))
    until([(5, 6)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    unmark(doors.direct, doors)
    merge(doors, 1, 9)
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]
    time.sleep(3 * SECONDS)
    assert marked(doors) == frozenset()
    assert bounds(doors.there.table_statistics(doors.name(), ["a"])) == [(5, 6)]


def test_beside_a_column_that_is_merged_the_others_are_not_marked(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 merges whatever is marked")
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    until(frozenset(COLUMNS), lambda: marked(doors))
    unmark(doors.direct, doors, ["d"])
    assert marked(doors) == {"a", "s"}
    (of_d,) = (each for each in of_all(1) if each.column == "d")
    merge(doors, -5, 99, of_d)
    until([(-5, 99)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    assert marked(doors) == {"a", "s"}


@pytest.mark.slow
def test_what_was_written_before_a_column_was_unmarked_does_not_mark_it_again(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(5, 6),)))
    unmark(doors.here, doors)
    assert marked(doors) == frozenset()
    time.sleep(3 * SECONDS)
    assert marked(doors) == frozenset()
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]


def test_statistics_that_are_written_as_they_were_are_marked_again(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    given = StatisticsSet((long(5, 6),))
    doors.ours.put_table_statistics(doors.name(), given)
    until(frozenset("a"), lambda: marked(doors))
    time.sleep(3 * SECONDS)
    unmark(doors.direct, doors)
    doors.ours.put_table_statistics(doors.name(), given)
    assert marked(doors) == {"a"}
    assert bounds(doors.there.table_statistics(doors.name(), ["a"])) == [(5, 6)]


@pytest.mark.slow
def test_statistics_of_partitions_that_are_written_as_they_were_are_marked_again(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    given = [StatisticsSet((long(5, 6),), each) for each in ("day=1", "day=2")]

    def marks() -> list[frozenset[str]]:
        found = doors.direct.client().get_partitions_by_names(doors.direct.database, "t", ["day=1", "day=2"])
        return [Accurate.parse(each.parameters.get(PARAMETER)).columns for each in found]

    doors.ours.put_partition_statistics(doors.name(), given)
    until([frozenset("a")] * 2, marks)
    time.sleep(3 * SECONDS)
    partition = doors.direct.client().get_partition_by_name(doors.direct.database, "t", "day=2")
    partition.parameters.pop(PARAMETER)
    doors.direct.client().alter_partitions(doors.direct.database, "t", [partition])
    assert marks() == [{"a"}, frozenset()]
    doors.ours.put_partition_statistics(doors.name(), given)
    assert marks() == [{"a"}, {"a"}]


TYPES: Mapping[str, Data] = {
    "bigint": LongStatistics(low=1, high=9, nulls=0, ndv=5),
    "double": DoubleStatistics(low=1.5, high=9.5, nulls=0, ndv=5),
    "decimal(10,2)": DecimalStatistics(low=Decimal("1.50"), high=Decimal("9.75"), nulls=0, ndv=5),
    "boolean": BooleanStatistics(trues=3, falses=4, nulls=0),
    "string": StringStatistics(max_length=9, average_length=2.5, nulls=0, ndv=5),
    "binary": BinaryStatistics(max_length=9, average_length=2.5, nulls=0),
    "date": DateStatistics(low=1, high=9, nulls=0, ndv=5),
    "timestamp": TimestampStatistics(low=1, high=9, nulls=0, ndv=5),
}


def test_statistics_that_are_taken_over_are_not_sent_back(doors: Doors) -> None:
    """Before Hive 4, and to Impala, a timestamp's statistics are told as those of an integer."""
    names = {f"c{number}": kind for number, kind in enumerate(TYPES)}
    doors.direct.table(columns=names)
    columns = tuple(ColumnStatistics(name, kind, TYPES[kind]) for name, kind in names.items())
    engine = "impala" if doors.direct.generation >= 4 else DEFAULT_ENGINE
    doors.there.put_table_statistics(doors.name(), StatisticsSet(columns, engine=engine))
    unmark(doors.direct, doors)
    wanted = api.TableStatsRequest(dbName=doors.direct.database, tblName="t", colNames=list(names), engine=engine)
    found = doors.here.client().get_table_statistics_req(wanted).tableStats
    assert {each.colName for each in found} == set(names)
    time.sleep(4 * SECONDS)
    assert marked(doors) == frozenset()
