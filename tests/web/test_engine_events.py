"""Events that Trino posts: who is to blame is recorded, and nothing wrong harms."""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.fixtures.metastores import Metastore
from tests.web.fixture import Shown, metastore_port, shown

from hmstats.client import connect
from hmstats.web import engine_events
from hmstats.web.admission import Admission
from hmstats.web.callers import Callers
from hmstats.web.metastores import Metastores

__all__ = ["metastore_port", "shown"]
EVENT = Path(__file__).parents[1] / "testdata" / "queries" / "trino-483-event-join.json"
PATH = "/events/trino"


def tables(port: int) -> None:
    """The tables that the event is about, without any statistics."""
    metastore = Metastore("hmstats-sqlite", port, 4.0, database="shop")
    with metastore.clients:
        columns = {"custkey": "bigint", "orderpriority": "string", "totalprice": "double", "clerk": "string"}
        metastore.table("orders", columns, parameters={"numRows": "15000"})
        metastore.table("customer", {"custkey": "bigint", "nationkey": "bigint"}, parameters={"numRows": "1500"})
        metastore.table("nation", {"nationkey": "bigint", "name": "string"})


def test_an_event_is_judged_and_recorded(shown: Shown, metastore_port: int) -> None:
    tables(metastore_port)
    for _ in range(2):
        found = shown.page.post(PATH, content=EVENT.read_bytes(), headers={"Content-Type": "application/json"})
        assert (found.status_code, found.json()) == (200, {"queries": 1, "recorded": 2})
    with connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        sums = service.blame.sums("shop")
    assert {(each.worst.blame.column, each.worst.blame.verdict.value, each.queries) for each in sums} == {
        ("orderpriority", "missing", 1),
        ("totalprice", "missing", 1),
    }


def test_what_is_no_event_is_refused_in_a_sentence(shown: Shown) -> None:
    cases: list[tuple[bytes, str]] = [
        (b"{", "must be JSON"),
        (b"[]", "must have metadata and statistics"),
        (b'{"metadata": 1, "statistics": {}}', "must have metadata and statistics"),
        (b"[" * 100_000, "must be JSON"),
    ]
    for body, sentence in cases:
        found = shown.page.post(PATH, content=body)
        assert found.status_code == 400
        assert sentence in found.text
    failed: dict[str, Any] = json.loads(EVENT.read_text())
    failed["metadata"]["queryState"] = "FAILED"
    assert shown.page.post(PATH, json=failed).json() == {"queries": 0, "recorded": 0}
    other_site = shown.page.post(PATH, json=failed, headers={"Sec-Fetch-Site": "cross-site"})
    assert other_site.status_code == 403
    assert shown.page.get(PATH).status_code == 405


async def _read_at_once(number: int) -> int:
    """Of how many events the bodies are read, if so many come and none ends."""

    def never(proof: str | None) -> Any:
        raise AssertionError

    (route,) = engine_events.routes(Admission(Metastores(never), Callers(), writes=True))
    read, end = 0, asyncio.Event()

    async def receive() -> Any:
        nonlocal read
        read += 1
        await end.wait()

    async def send(_: Any) -> None: ...

    asked = {"type": "http", "method": "POST", "path": PATH, "headers": []}
    waiting = [asyncio.create_task(route.handle(dict(asked), receive, send)) for _ in range(number)]
    await asyncio.sleep(0.1)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return read


def test_few_events_are_in_memory_at_once() -> None:
    assert asyncio.run(_read_at_once(5)) == 5
    assert asyncio.run(_read_at_once(50)) == engine_events.AT_ONCE
