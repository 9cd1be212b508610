"""Lists with a limit hold as many entries as may be told, however many others come before them."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import Guarded, done, guarded

from hmstats.wire.idl import extension

RULES = """
[[rule]]
users = ["ada"]
objects = ["hive.open"]
allow = ["list", "read_statistics"]
"""


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        running.rule(RULES)
        yield running


def _run(run_id: str, database: str, **more: Any) -> Any:
    return extension.StatisticsRun(runId=run_id, dbName=database, tblName="t", partNames=[], runner="r", why={}, **more)


def test_runs_of_hidden_tables_take_no_place_in_a_list(server: Guarded) -> None:
    root, ada = server.client("root"), server.client("ada")
    for number, database in enumerate(("open", "open", *["shut"] * 5)):
        assert done(root.ask("begin_statistics_run", request=_run(f"{number}", database))).started
        assert done(root.ask("end_statistics_run", request=_run(f"{number}", database, outcome="done", seconds=1.0)))

    def told(most: int, **more: Any) -> list[str]:
        request = extension.RunsRequest(most=most, **more)
        return [each.runId for each in done(ada.ask("get_statistics_runs", request=request)).runs]

    assert told(1) == ["1"]
    assert told(3) == ["1", "0"]
    first = done(ada.ask("get_statistics_runs", request=extension.RunsRequest(most=1))).runs[0]
    assert "1" not in told(1, startedBefore=first.startedAt)


def test_blame_of_hidden_tables_takes_no_place_in_a_list(server: Guarded) -> None:
    root, ada = server.client("root"), server.client("ada")
    kept = {"usedFor": "rows", "verdict": "missing", "engine": "spark", "seenAt": int(time.time() * 1_000)}
    blame = [
        extension.Blame(dbName=database, tblName=table, shape="s", numRows=1, factor=2.0, weight=weight, **kept)
        for database, table, weight in (("shut", "t", 9.0), ("shut", "p", 8.0), ("open", "t", 7.0), ("open", "p", 6.0))
    ]
    done(root.ask("record_blame", request=extension.BlameRecords(blame=blame)))
    found = done(ada.ask("get_blame", request=extension.BlameRequest(most=1))).sums
    assert [(each.worst.dbName, each.worst.tblName) for each in found] == [("open", "t")]
