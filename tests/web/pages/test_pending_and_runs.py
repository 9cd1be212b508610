"""Statistics that wait and runs, as pages and as JSON: published and rejected by their forms."""

import re
from collections.abc import Iterator

import pytest
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.pages.test_changes import fields, sent
from tests.web.tables import visits

from hmstats import client
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.preferences.preference import Subject

__all__ = ["metastore_port", "shown"]
NAME = TableName("hive", "shop", "visits")
BY_DAY = TableName("hive", "shop", "by_day")


@pytest.fixture
def service(metastore_port: int) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as found:
        yield found


def hold(service: client.Metastore, rows: int) -> None:
    """Let a change of rows wait."""
    of = Subject(DatabaseName("hive", "shop"), "visits")
    service.preferences.change(of, {"publish": "false"})
    service.put_together(NAME, [visits()], {None: {"numRows": str(rows)}})
    service.preferences.change(of, {}, ["publish"])


def test_what_waits_is_compared_then_published(shown: Shown, service: client.Metastore) -> None:
    assert "Nothing waits" in shown.html("/pending")
    assert "Nothing waits of this table" in shown.html("/tables/shop.visits/pending")
    hold(service, 3_000)
    listed = shown.json("/pending")
    assert (listed["waiting"], [each["table"] for each in listed["lines"]]) == (1, ["shop.visits"])
    assert listed["lines"][0]["held_by"] == "preference"
    found = shown.json("/tables/shop.visits/pending")
    assert [each for each in found["changes"] if each["statistic"] == "rows"] == [
        {"statistic": "rows", "before": 1000, "after": 3000, "factor": 3.0}
    ]
    page = shown.html("/tables/shop.visits/pending")
    assert re.search(r"rows</th><td[^>]*>1,000</td><td[^>]*>3,000</td><td[^>]*>3</td>", page)
    assert service.existing_table("shop.visits").parameters["numRows"] == "1000"
    given = fields(page, "/tables/shop.visits/publish")
    assert "Nothing waits of this table" in sent(shown, "/tables/shop.visits/publish", given)
    assert service.existing_table("shop.visits").parameters["numRows"] == "3000"
    assert shown.page.post("/tables/shop.visits/publish", data=given).status_code == 412
    service.put_table_parameters(NAME, {"numRows": "1000"})


def test_what_waits_is_rejected(shown: Shown, service: client.Metastore) -> None:
    hold(service, 5_000)
    page = shown.html("/tables/shop.visits/pending")
    given = fields(page, "/tables/shop.visits/reject")
    assert shown.page.post("/tables/shop.visits/reject", data=given | {"token": "0"}).status_code == 403
    assert "Nothing waits" in sent(shown, "/tables/shop.visits/reject", given)
    assert service.existing_table("shop.visits").parameters["numRows"] == "1000"
    assert shown.json("/pending") == {"lines": [], "waiting": 0}
    version = shown.page.get("/api/v1/tables/shop.visits/pending").headers["etag"]
    missing = shown.page.delete("/api/v1/tables/shop.visits/pending", headers={"If-Match": version})
    assert missing.status_code == 404, missing.text


def begun(service: client.Metastore, table: TableName, run: str, at_ms: int) -> Run:
    found = Run(run, table, "host <b>1</b>", at_ms, Outcome.RUNNING, partitions=())
    assert service.runs.begin(found, 60).started
    return found


def ended(service: client.Metastore, run: Run, outcome: Outcome, reason: str | None = None) -> None:
    done = Run(
        run.id, run.table, run.runner, run.started_ms, outcome, reason=reason, rows=10, size_bytes=2048, seconds=75.0
    )
    assert service.runs.end(done)


def test_runs_are_listed_with_how_they_ended_by_pages(shown: Shown, service: client.Metastore) -> None:
    assert shown.json("/runs") == {"runs": [], "failing": []}
    assert "There were no such runs" in shown.html("/runs")
    ended(service, begun(service, NAME, "a", 1), Outcome.DONE)
    ended(service, begun(service, NAME, "b", 1), Outcome.FAILED, "<i>no such file</i>")
    begun(service, BY_DAY, "c", 1)
    found = shown.json("/runs")
    assert {each["id"]: each["outcome"] for each in found["runs"]} == {"a": "done", "b": "failed", "c": "running"}
    assert [(each["table"], each["failures"]) for each in found["failing"]] == [("shop.visits", 1)]
    page = shown.html("/runs")
    assert "&lt;i&gt;no such file&lt;/i&gt;" in page
    assert "1 min 15 s" in page
    assert 'hx-trigger="every 5s"' in page
    assert 'hx-trigger="every 5s"' not in shown.html("/runs", outcome="done")
    assert [each["id"] for each in shown.json("/runs", table="shop.by_day")["runs"]] == ["c"]
    assert shown.page.get("/api/v1/runs", params={"outcome": "well"}).status_code == 400
    assert shown.page.get("/api/v1/runs", params={"table": "shop"}).status_code == 400
    assert sorted(ids_by_pages_of_one(shown)) == ["a", "b", "c"]  # all begun in one millisecond


def ids_by_pages_of_one(shown: Shown) -> Iterator[str]:
    after: dict[str, str] = {}
    while True:
        page = shown.json("/runs", limit=1, **after)
        yield from (each["id"] for each in page["runs"])
        if "next" not in page:
            return
        after = {"after": page["next"]}
