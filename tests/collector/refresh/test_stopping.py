"""A refresher that is asked to end: its run is recorded as stopped, and its table is free for the next one."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.collector.refresh.round import Refresher
from hmstats.collector.report import Report
from hmstats.errors import AnalysisIncomplete, SparkDoesNotStart
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet


def refresher(metastore: Metastore, error: BaseException, *, asked: bool) -> Refresher:
    """A refresher whose analysis fails, after somebody has asked it to end."""

    def analyse(_: TableName, __: Sequence[str], ___: bool) -> Any:
        if asked:
            made.stop.set()
        raise error

    wanted = RefreshRequest(((DatabaseName("hive", metastore.database), None),), look_seconds=None)
    made = Refresher(f"thrift://127.0.0.1:{metastore.port}", analyse, wanted)
    return made


def only_run(metastore: Metastore) -> tuple[Run, bool]:
    """The run, and whether another one may begin now."""
    with connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        (run,), leases = service.runs.listed(metastore.database)
    return run, all(lease.run_id is None and lease.retry_ms is None for _, lease, _ in leases)


@pytest.mark.parametrize("asked", [True, False])
def test_an_analysis_that_was_ended_has_not_failed(our_metastore: Metastore, asked: bool) -> None:
    our_metastore.table("t1", {"l": "bigint"})
    our_metastore.table("t2", {"l": "bigint"})
    found = list(refresher(our_metastore, AnalysisIncomplete("the job was cancelled"), asked=asked).run())
    if not asked:
        assert [each.outcome for each in found] == [Outcome.FAILED, Outcome.FAILED]
        return
    assert [each.outcome for each in found] == [Outcome.STOPPED]
    run, free = only_run(our_metastore)
    assert (run.outcome, free) == (Outcome.STOPPED, True)
    assert "signal" in (run.reason or "")


def test_no_table_has_failed_where_spark_does_not_start(our_metastore: Metastore) -> None:
    """Other machines may analyse the tables at once, and what needs no Spark is analysed here."""
    for name in ("t1", "t2"):
        our_metastore.table(name, {"l": "bigint"})
    our_metastore.table("t3", {"l": "bigint"}, parameters={"spark.sql.sources.provider": "delta"})
    seen = list[str]()

    def analyse(name: TableName, _: Sequence[str], __: bool) -> Any:
        seen.append(name.table)
        if name.table == "t3":
            return Report(name, None, 0, 7, {}, {})
        raise SparkDoesNotStart("Spark needs Java")

    wanted = RefreshRequest(((DatabaseName("hive", our_metastore.database), None),), look_seconds=None)
    made = Refresher(f"thrift://127.0.0.1:{our_metastore.port}", analyse, wanted)
    with pytest.raises(SparkDoesNotStart, match="Spark needs Java"):
        list(made.run())
    assert sorted(seen)[1:] == ["t3"]
    with connect(made.metastore) as service:
        runs, leases = service.runs.listed(our_metastore.database)
    assert {each.outcome for each in runs} == {Outcome.STOPPED, Outcome.DONE}
    assert all(lease.run_id is None and lease.retry_ms is None for _, lease, _ in leases)


def test_a_run_of_many_partitions_ends_after_some_of_them(our_metastore: Metastore) -> None:
    """What was done is stored, the table is free, and the next round does the others alone."""
    our_metastore.table("t", {"l": "bigint"}, keys=("p",))
    our_metastore.add_partitions(*[(str(each),) for each in range(10)], table="t", columns={"l": "bigint"})
    address, asked, analysed = f"thrift://127.0.0.1:{our_metastore.port}", [True], list[str]()

    def analyse(name: TableName, partitions: Sequence[str], _: bool) -> Any:
        analysed.extend(partitions)
        if asked.pop():
            made.stop.set()
        asked.append(False)
        numbers = (ColumnStatistics("l", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=9)),)
        with connect(address) as service:
            service.put_partition_statistics(name, [StatisticsSet(numbers, each) for each in partitions])
        return Report(name, None, len(partitions), 7, {}, {})

    wanted = RefreshRequest(((DatabaseName("hive", our_metastore.database), None),), look_seconds=None)
    made = Refresher(address, analyse, wanted)
    (first,) = made.run()
    assert (first.outcome, first.partitions, first.rows) == (Outcome.STOPPED, len(analysed), 7)
    assert 0 < len(analysed) < len(first.work.partitions) == 10
    run, free = only_run(our_metastore)
    assert (run.outcome, run.rows, free) == (Outcome.STOPPED, 7, True)
    made.stop.clear()
    (second,) = made.run()
    assert (second.outcome, second.partitions) == (Outcome.DONE, 10 - first.partitions)
    assert sorted(analysed) == [f"p={each}" for each in range(10)]


def test_a_refresher_that_is_interrupted_frees_its_table(our_metastore: Metastore) -> None:
    our_metastore.table("t1", {"l": "bigint"})
    with pytest.raises(KeyboardInterrupt):
        list(refresher(our_metastore, KeyboardInterrupt(), asked=True).run())
    run, free = only_run(our_metastore)
    assert (run.outcome, free) == (Outcome.STOPPED, True)


def test_a_run_whose_lease_another_has_ends_after_some_partitions(our_metastore: Metastore) -> None:
    """A suspended machine renews no lease: another run begins meanwhile, and does what is left."""
    our_metastore.table("t", {"l": "bigint"}, keys=("p",))
    our_metastore.add_partitions(*[(str(each),) for each in range(10)], table="t", columns={"l": "bigint"})
    address, analysed = f"thrift://127.0.0.1:{our_metastore.port}", list[str]()

    def analyse(name: TableName, partitions: Sequence[str], _: bool) -> Any:
        if not analysed:
            with connect(address) as service:
                ((first,), _leases) = service.runs.listed(our_metastore.database)
                service.runs.end(replace(first, outcome=Outcome.STOPPED))
                assert service.runs.begin(replace(first, id="other", runner="other"), 60).started
        analysed.extend(partitions)
        time.sleep(1)  # longer than the pause between two renewals
        return Report(name, None, len(partitions), 7, {}, {})

    wanted = RefreshRequest(((DatabaseName("hive", our_metastore.database), None),), look_seconds=None)
    (done,) = Refresher(address, analyse, wanted, lease_seconds=1).run()
    assert (done.outcome, 0 < len(analysed) < 10) == (Outcome.STOPPED, True)
    assert (done.reason or "").startswith("another run has the table")
    with connect(address) as service:
        runs, ((_, _lease, runner),) = service.runs.listed(our_metastore.database)
    assert [each.outcome for each in runs if each.id == "other"] == [Outcome.RUNNING]
    assert runner == "other"
