"""Statistics that new tables and partitions bring along through a gateway, whatever its upstream knows of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, Doors, bounds, long, of_partition, until
from tests.gateway.held_upstream import Hold, way_to
from tests.sketch.vectors import of_longs

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.column_statistics import set_to_thrift


def sketched(first: int, count: int) -> ColumnStatistics:
    """Statistics of column a with a bit vector of so many values."""
    vector = of_longs(12, first, first + count).to_bytes()
    numbers = LongStatistics(low=first, high=first + count - 1, nulls=0, ndv=count, bit_vector=vector)
    return ColumnStatistics("a", "bigint", numbers)


def brought(doors: Doors, given: StatisticsSet) -> Any:
    """The struct in which objects bring statistics."""
    return set_to_thrift(TableName("hive", doors.direct.database, "t"), given, hive4=True, sketches=True)


def new_table(doors: Doors, given: StatisticsSet) -> Any:
    return api.Table(
        tableName="t",
        dbName=doors.direct.database,
        owner="tester",
        sd=doors.here.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="MANAGED_TABLE",
        colStats=brought(doors, given),
    )


def new_partition(doors: Doors, value: str, *columns: ColumnStatistics) -> Any:
    made = doors.here.partition(value, columns=COLUMNS)
    made.colStats = brought(doors, StatisticsSet(columns, f"day={value}"))
    return made


def test_a_new_table_keeps_what_it_brings_at_both_doors(doors: Doors) -> None:
    doors.here.client().create_table(new_table(doors, StatisticsSet((sketched(1, 500),))))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 500)]
    until([(1, 500)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 500)]


def test_new_partitions_keep_their_sketches(doors: Doors) -> None:
    """A Hive before 3 has no bit vectors, and none tells them unless it is set to."""
    doors.here.table(columns=COLUMNS, keys=["day"])
    new = [new_partition(doors, "1", sketched(0, 1000)), new_partition(doors, "2", sketched(500, 1000))]
    assert doors.here.client().add_partitions(new) == 2
    days = ["day=1", "day=2"]
    estimate = doors.ours.distinct_count(doors.name(), "a", partitions=days).count
    assert 1400 < estimate < 1600

    def there() -> dict[str | None, Any]:
        found = doors.there.partition_statistics(doors.name(), ["a"], days)
        return {each.partition: bounds(each.columns) for each in found}

    expected: dict[str | None, Any] = {"day=1": [(0, 999)], "day=2": [(500, 1499)]}
    until(expected, there)
    assert doors.ours.distinct_count(doors.name(), "a", partitions=days).count == estimate


def test_partitions_that_exist_get_the_statistics_too_unless_they_have_others(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    """A Hive 4 replaces statistics of partitions that exist; an older one does not see those that come."""
    doors.there.put_partition_statistics(doors.name(), [of_partition("day=1", 1)])
    new = [new_partition(doors, each, long(7, 8)) for each in ("1", "2", "3")]
    wanted = api.AddPartitionsRequest(dbName=doors.direct.database, tblName="t", parts=new, ifNotExists=True)
    doors.here.client().add_partitions_req(wanted)
    found = doors.ours.partition_statistics(doors.name(), ["a"], ["day=1", "day=2", "day=3"])
    expected = {"day=1": [(1, 2) if doors.direct.generation < 4 else (7, 8)], "day=2": [(7, 8)], "day=3": [(7, 8)]}
    assert {each.partition: bounds(each.columns) for each in found} == expected


def test_statistics_of_an_unknown_column_are_the_upstreams_to_refuse(doors: Doors) -> None:
    struct = new_table(doors, StatisticsSet((replace(long(1, 2), column="absent"),)))
    if doors.direct.generation < 4:
        doors.here.client().create_table(struct)
    else:
        with pytest.raises(api.MetaException, match="absent"):
            doors.here.client().create_table(struct)
    assert doors.here.client().get_all_tables(doors.direct.database) == doors.direct.client().get_all_tables(
        doors.direct.database
    )


def test_a_table_that_exists_keeps_its_statistics(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 2),)))
    with pytest.raises(api.AlreadyExistsException):
        doors.here.client().create_table(new_table(doors, StatisticsSet((long(7, 8),))))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 2)]


@pytest.mark.hive
def test_a_table_that_was_made_is_no_failure_though_its_statistics_are(hive_3_1: int, tmp_path: Path) -> None:
    """A client that got an error would make the table again, which exists. This Hive is sent the statistics."""
    direct, settings = Metastore("hive-3.1", hive_3_1, 3.1), {"upstream_writes": "through"}
    with (
        way_to(direct.port) as (way, between),
        direct.clients,
        serving(tmp_path, "--upstream", f"thrift://127.0.0.1:{between}", settings=settings) as port,
        ThreadPoolExecutor(1) as executor,
    ):
        doors = Doors(direct, replace(direct, port=port))
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        with way.holding("set_aggr_stats_for", Hold.BEFORE):
            made = executor.submit(doors.here.client().create_table, new_table(doors, StatisticsSet((long(1, 2),))))
            way.wait_held()
            way.drop_held()
            made.result()
        assert doors.here.client().get_all_tables(direct.database) == ["t"]
        assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 2)]
