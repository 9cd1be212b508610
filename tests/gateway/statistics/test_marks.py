"""COLUMN_STATS_ACCURATE at the upstream: no statistics that are sent there mark what is not accurate any more."""

import time
from typing import Any

import pytest
from tests.gateway.doors import COLUMNS, SECONDS, Doors, bounds, long, until

from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.column_statistics import set_to_thrift


def marked(doors: Doors) -> frozenset[str]:
    """The columns that the upstream marks as accurate."""
    return Accurate.parse(doors.direct.parameters().get(PARAMETER)).columns


def unmark(door: Any, doors: Doors) -> None:
    """Take the marks away, as an engine does that writes rows without gathering statistics."""
    table = door.read_table()
    table.parameters.pop(PARAMETER, None)
    door.client().alter_table_with_environment_context(doors.direct.database, "t", table, None)


def merge(doors: Doors, low: int, high: int) -> None:
    name, given = TableName("hive", doors.direct.database, "t"), StatisticsSet((long(low, high),))
    structs = [set_to_thrift(name, given, hive4=True)]
    request = api.SetPartitionsStatsRequest(colStats=structs, needMerge=True, engine="hive")
    assert doors.here.client().set_aggr_stats_for(request)


def test_rows_that_are_merged_behind_each_other(doors: Doors) -> None:
    """The second write comes before the upstream has got the first one."""
    doors.here.table(columns=COLUMNS)
    for low, high in ((5, 6), (1, 2), (8, 9)):
        merge(doors, low, high)
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 9)]
    until([(1, 9)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    assert "a" in marked(doors)


def test_a_column_that_is_not_marked_is_not_merged(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 merges whatever is marked")
    doors.here.table(columns=COLUMNS)
    merge(doors, 5, 6)
    until([(5, 6)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    unmark(doors.direct, doors)
    merge(doors, 1, 9)
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]
    time.sleep(3 * SECONDS)
    assert marked(doors) == frozenset()
    assert bounds(doors.there.table_statistics(doors.name(), ["a"])) == [(5, 6)]


def test_what_was_written_before_a_column_was_unmarked_does_not_mark_it_again(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(5, 6),)))
    unmark(doors.here, doors)
    assert marked(doors) == frozenset()
    time.sleep(3 * SECONDS)
    assert marked(doors) == frozenset()
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]
