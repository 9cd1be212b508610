"""A refresher that is asked to end: its run is recorded as stopped, and its table is free for the next one."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.collector.refresh.round import Refresher
from hmstats.errors import AnalysisIncomplete
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.health.wanted import Wanted


def refresher(metastore: Metastore, error: BaseException, *, asked: bool) -> Refresher:
    """A refresher whose analysis fails, after somebody has asked it to end."""

    def analyse(_: TableName, __: Sequence[str], ___: bool) -> Any:
        if asked:
            made.stop.set()
        raise error

    wanted = Wanted(((DatabaseName("hive", metastore.database), None),), look_seconds=None)
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


def test_a_refresher_that_is_interrupted_frees_its_table(our_metastore: Metastore) -> None:
    our_metastore.table("t1", {"l": "bigint"})
    with pytest.raises(KeyboardInterrupt):
        list(refresher(our_metastore, KeyboardInterrupt(), asked=True).run())
    run, free = only_run(our_metastore)
    assert (run.outcome, free) == (Outcome.STOPPED, True)
