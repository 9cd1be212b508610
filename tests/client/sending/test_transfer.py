"""Statistics of any metastore, real Hives among them: read, described, asked about, and moved."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.sending.transfer import entries, put
from hmstats.client.tables.describe import describe
from hmstats.client.tables.stored_statistics import own_statistics, stored_partitions, stored_table
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, LongStatistics, StatisticsSet
from hmstats.outlets.export.rows import Entry
from hmstats.sketch.accumulator import ColumnAccumulator

COLUMNS = {"l": "bigint", "s": "string"}


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as found:
        yield found


@pytest.fixture
def by_day(metastore: Metastore, service: client.Metastore) -> str:
    """Two partitions of 3 rows, each with statistics of `l`."""
    metastore.table("by_day", COLUMNS, keys=("ds",))
    metastore.add_partitions(("1",), ("2",), table="by_day", columns=COLUMNS)
    name = TableName("hive", metastore.database, "by_day")
    service.put_partition_statistics(name, (numbers([day, 5, 9], f"ds={day}") for day in (1, 2)))
    counts = {"numRows": "3", "totalSize": "10", "numFiles": "1"}
    service.put_partition_parameters(name, ["ds"], {f"ds={day}": counts for day in (1, 2)})
    return f"{metastore.database}.by_day"


def numbers(values: list[int], partition: str | None = None) -> StatisticsSet:
    accumulator = ColumnAccumulator.empty(Kind.LONG)
    accumulator.update(pa.array(values))
    return StatisticsSet((ColumnStatistics("l", "bigint", accumulator.statistics()),), partition)


def test_a_table_is_what_its_partitions_are_together(service: client.Metastore, by_day: str) -> None:
    table = service.existing_table(by_day)
    whole = stored_table(service, table)
    (column,) = whole.statistics.columns
    assert isinstance(column.data, LongStatistics)
    assert (column.data.low, column.data.high, column.data.nulls) == (1, 9, 0)
    assert (whole.parameters["numRows"], whole.parameters["numPartitions"]) == ("6", "2")
    assert own_statistics(service, table).statistics.columns == ()
    parts = list(stored_partitions(service, table, ["ds=2", "ds=9", "ds=1"]))
    assert [each.statistics.partition for each in parts] == ["ds=2", "ds=1"]
    assert [each.table_statistics().rows for each in parts] == [3, 3]


def test_any_metastore_is_described(service: client.Metastore, by_day: str) -> None:
    formatted = dict(
        line.split("\t")[:2] for line in describe(service, f"DESCRIBE FORMATTED {by_day} l").splitlines()[:10]
    )
    assert formatted[f"{'max':<20}"].strip() == "9"
    assert "numPartitions=2, numFiles=2, numRows=6, totalSize=20" in describe(service, f"DESCRIBE EXTENDED {by_day}")


def test_any_metastore_counts_rows_and_knows_bounds(service: client.Metastore, by_day: str) -> None:
    asked = service.table(by_day)
    assert asked.count().count == 6
    assert asked.count(where='ds = "2"').count == 3
    found = asked.bounds("l", partitions=["ds=2"])
    assert (found.low, found.high) == (2, 9)


def test_entries_are_put_back(metastore: Metastore, service: client.Metastore, by_day: str) -> None:
    before = list(entries(service, [f"{metastore.database}.*"]))
    assert [each.statistics.partition for each in before if each.statistics.columns] == ["ds=1", "ds=2"]
    moved = put(service, before)
    assert (moved.accepted, moved.left_out) == (len(before), {})
    after = list(entries(service, [by_day]))
    assert [each.statistics.columns[0].data for each in after if each.statistics.columns] == [
        each.statistics.columns[0].data for each in before if each.statistics.columns
    ]


def test_one_that_is_refused_loses_only_itself(metastore: Metastore, service: client.Metastore, by_day: str) -> None:
    """Hive from 3.1 on takes statistics of a column that the table does not have."""
    name = TableName("hive", *by_day.split("."))
    good = [Entry(name, {"numRows": "9"}, numbers([day, 7], f"ds={day}")) for day in (1, 2)]
    bad = StatisticsSet((replace(good[0].statistics.columns[0], column="nope"),), "ds=1")
    moved = put(service, [Entry(name, {}, bad), good[1]])
    refused = metastore.expects([f"{by_day} ds=1"], {"hive-3.1": [], "hive-4.0": []})
    assert (list(moved.left_out), moved.accepted) == (refused, 2 - len(refused))
    (second,) = stored_partitions(service, service.existing_table(by_day), ["ds=2"])
    assert second.parameters["numRows"] == "9"
