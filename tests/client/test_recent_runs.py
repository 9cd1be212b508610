"""Rounds know when a table was refreshed last, also if very many runs came after that."""

import time
from itertools import count

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client import recent_runs as module
from hmstats.client.refresh_plan import plan_round
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.preferences.preference import Subject

PAGE = 7
_ids = count(1)


def test_every_counts_after_more_runs_than_a_page_has(
    our_metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = DatabaseName("hive", our_metastore.database)
    for each in ("often", "seldom"):
        our_metastore.table(each, {"l": "bigint"})
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        real = service.runs.listed
        monkeypatch.setattr(service.runs, "listed", lambda *names, **options: real(*names, **options, most=PAGE))

        def refresh(table: str) -> None:
            run = Run(
                f"{our_metastore.database}-{next(_ids)}", TableName("hive", of.database, table), "me", 0, Outcome.DONE
            )
            assert service.runs.begin(run, 60).started
            assert service.runs.end(run)

        def planned() -> tuple[set[str], set[str]]:
            found = plan_round(service, RefreshRequest(((of, None),), look_seconds=None), int(time.time() * 1_000))
            return {each.table.table for each in found.plan.taken}, {each.table for each in found.skipped}

        service.preferences.change(Subject(of, "seldom"), {"every": "2h"})
        assert planned() == ({"often", "seldom"}, set())
        refresh("seldom")
        for _ in range(3 * PAGE):
            refresh("often")
        assert planned() == ({"often"}, {"seldom"})
        runs, _ = module.recent_runs(service, of.database, "hive", 0)
        assert len(runs) == len({each.id for each in runs}) == 3 * PAGE + 1
        assert [each.started_ms for each in runs] == sorted((each.started_ms for each in runs), reverse=True)
