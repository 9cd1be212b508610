"""What queries have shown to be wrong, as a page and as JSON: the worst first, with what an analysis mends."""

import re
import time

from tests.web.fixture import Shown, metastore_port, shown

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Blame, Verdict

__all__ = ["metastore_port", "shown"]
VISITS = TableName("hive", "shop", "visits")
BY_DAY = TableName("hive", "shop", "by_day")


def _seen(table: TableName, column: str | None, verdict: Verdict, weight: float, shape: str, days_ago: int = 0) -> Seen:
    blame = Blame(table, column, Use.EQUALITY if column else Use.ROWS, verdict, 9_999.6, 13, 769.2, weight)
    at_ms = int((time.time() - 86_400 * days_ago) * 1_000) + 60_000  # after the statistics of the tables
    return Seen(blame, "spark", shape, at_ms)


def test_the_worst_comes_first_with_what_to_do(shown: Shown, metastore_port: int) -> None:
    assert shown.json("/feedback") == {"lines": [], "refresh": []}
    assert "nothing was learned" in shown.html("/feedback")
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        service.blame.record(
            [
                _seen(VISITS, "age", Verdict.WRONG, 5.0, "a"),
                _seen(VISITS, "age", Verdict.WRONG, 2.0, "b"),
                _seen(BY_DAY, None, Verdict.STALE, 3.0, "a"),
                _seen(VISITS, "app", Verdict.BEYOND, 9.0, "c"),
                _seen(VISITS, "paid", Verdict.WRONG, 99.0, "d", days_ago=9),
            ]
        )
    found = shown.json("/feedback")
    assert [(each["table"], each.get("column"), each["weight"], each["queries"]) for each in found["lines"]] == [
        ("shop.visits", "app", 9.0, 1),
        ("shop.visits", "age", 7.0, 2),
        ("shop.by_day", None, 3.0, 1),
    ]
    assert found["refresh"] == ["shop.visits", "shop.by_day"]
    assert {each["verdict"]: each["analyzed_since"] for each in found["lines"]} == dict.fromkeys(
        ("beyond", "wrong", "stale"), False
    )
    page = shown.html("/feedback")
    assert "<code>hmstats refresh shop.visits</code>" in page
    assert re.search(r'href="/tables/shop.visits/columns/age"', page)
    assert re.search(r'data-label="Expected"[^>]*>10,000</td>\s*<td[^>]*>13</td>\s*<td[^>]*>769.2</td>', page)
    assert "some values are far more frequent than the engine assumes" in page
    older = shown.json("/feedback", since="10d ago", table="shop.visits", limit=1)
    assert [each["column"] for each in older["lines"]] == ["paid"]
    assert shown.page.get("/api/v1/feedback", params={"since": "soon"}).status_code == 400
    assert shown.page.get("/api/v1/feedback", params={"table": "shop.none"}).status_code == 404
