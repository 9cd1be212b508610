"""Rounds of refreshing leave out tables that no analysis reads, and give their time to others."""

import time

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client.refresh_plan import Round, plan_round
from hmstats.collector.lake.formats import is_lake_table
from hmstats.model.catalog.objects import DatabaseName, Table, TableName
from hmstats.model.catalog.refused_tables import refusal
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

COLUMNS = {"l": "bigint"}
REFUSED = {
    "hudi": ({"spark.sql.sources.provider": "hudi"}, "is of the format Hudi, which is not supported"),
    "paimon": ({"table_type": "PAIMON"}, "is of the format Paimon, which is not supported"),
    "flink": ({"flink.connector": "kafka"}, "is read by Flink alone, through its connector kafka"),
}


def planned(metastore: Metastore, budget_seconds: float | None = None, look_seconds: float | None = None) -> Round:
    of = DatabaseName("hive", metastore.database)
    with connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        wanted = RefreshRequest(((of, None),), budget_seconds, look_seconds=look_seconds)
        return plan_round(service, wanted, int(time.time() * 1_000))


@pytest.fixture
def metastore(our_metastore: Metastore) -> Metastore:
    """A table that is not refused, and before it by name and by id one of each kind that is."""
    for name, (parameters, _) in REFUSED.items():
        our_metastore.table(name, COLUMNS, parameters=parameters)
    our_metastore.table("plain", COLUMNS)
    return our_metastore


@pytest.mark.parametrize("budget_seconds", [None, 1.5])
def test_the_budget_goes_to_tables_that_can_be_analysed(metastore: Metastore, budget_seconds: float | None) -> None:
    found = planned(metastore, budget_seconds)
    assert [each.table.table for each in found.plan.taken] == ["plain"]
    reasons = {name.table: reason for name, reason in found.skipped.items()}
    assert reasons.keys() == REFUSED.keys()
    assert all(reasons[name].startswith(sentence) for name, (_, sentence) in REFUSED.items())


def test_partitions_and_looks_at_files_are_left_out_too(metastore: Metastore) -> None:
    parameters, _ = REFUSED["hudi"]
    metastore.table("parts", COLUMNS, keys=("p",), parameters=parameters)
    metastore.add_partitions(("1",), ("2",), table="parts", columns=COLUMNS)
    column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=9))
    with connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.put_table_statistics(TableName("hive", metastore.database, "hudi"), StatisticsSet((column,)))
    found = planned(metastore, look_seconds=0.0)
    assert [each.table.table for each in found.plan.taken] == ["plain"]
    assert {name.table for name in found.skipped} == {*REFUSED, "parts"}


@pytest.mark.parametrize("mark", ["iceberg", "delta", "hudi", "paimon"])
def test_formats_that_are_read_by_their_metadata_are_not_refused(mark: str) -> None:
    table = Table(name=TableName("hive", "d", "t"), parameters={"table_type": mark})
    assert is_lake_table(table) == (refusal(table) is None)
