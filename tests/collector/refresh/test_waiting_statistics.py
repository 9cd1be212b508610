"""Rounds of refreshing leave alone what was analysed and waits to be published."""

import time
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client.refresh_plan import Round, plan_round
from hmstats.collector.refresh.round import Refresher
from hmstats.collector.report import Report
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

COLUMNS = {"l": "bigint"}


def numbers(partition: str | None = None) -> StatisticsSet:
    data = LongStatistics(low=0, high=9, nulls=0, ndv=9)
    return StatisticsSet((ColumnStatistics("l", "bigint", data),), partition)


@pytest.mark.parametrize("keys", [(), ("p",)])
def test_what_waits_is_analysed_again_after_a_day_only(our_metastore: Metastore, keys: tuple[str, ...]) -> None:
    our_metastore.table("t", COLUMNS, keys=keys)
    if keys:
        our_metastore.add_partitions(("1",), ("2",), table="t", columns=COLUMNS)
    table = f"{our_metastore.database}.t"
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:

        def planned(hours: float = 0, look_seconds: float | None = 86_400.0) -> Round:
            wanted = RefreshRequest(((DatabaseName("hive", our_metastore.database), None),), look_seconds=look_seconds)
            return plan_round(service, wanted, int((time.time() + hours * 3_600) * 1_000))

        def places(found: Round) -> list[tuple[str, ...]]:
            return [each.partitions for each in found.plan.taken if not each.look]

        everything = [("p=1", "p=2")] if keys else [()]
        assert places(planned()) == everything
        service.preferences.change(Subject(DatabaseName("hive", our_metastore.database), "t"), {"publish": "false"})
        if keys:
            service.put_partition_statistics(table, [numbers("p=1")])
        else:
            service.put_table_statistics(table, numbers())
        assert places(planned()) == ([("p=2",)] if keys else [])
        assert list(planned().skipped.values()) == [] if keys else "wait since" in "".join(planned().skipped.values())
        assert places(planned(hours=25)) == everything
        assert places(planned(hours=25, look_seconds=None)) == ([("p=2",)] if keys else [])
        service.pending.publish(table)
        assert places(planned()) == ([("p=2",)] if keys else [])
        assert planned().skipped == {}


def test_a_run_says_that_its_numbers_wait(our_metastore: Metastore) -> None:
    our_metastore.table("t", COLUMNS)

    def analyse(name: TableName, *_: Any) -> Report:
        return Report(name, None, 0, 0, {}, {}, waiting={"": "rows fall from 9 to 0"})

    address = f"thrift://127.0.0.1:{our_metastore.port}"
    wanted = RefreshRequest(((DatabaseName("hive", our_metastore.database), None),), look_seconds=None)
    assert len(list(Refresher(address, analyse, wanted).run())) == 1
    with connect(address) as service:
        (run,), _ = service.runs.listed(our_metastore.database)
    assert run.reason is not None
    assert run.reason.endswith("wait for hmstats pending publish: rows fall from 9 to 0")
