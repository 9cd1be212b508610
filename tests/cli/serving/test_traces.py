"""A trace from a client's request to the statements of SQL, as a collector of OpenTelemetry receives it."""

import http.client
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.serving.test_page import fill, logged
from tests.fixtures.servers import HMSTATS, serving
from tests.fixtures.traces import PARENT, TRACE, TRACEPARENT, Received, Span, environment, receiving, way
from tests.server.requests import request


@pytest.fixture
def received() -> Iterator[Received]:
    with receiving() as found:
        yield found


def statements(spans: list[Span]) -> list[Span]:
    return [each for each in spans if "db.system.name" in each.attributes]


def test_thrift_over_http_to_the_statements(received: Received, tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "1", environment=environment(received)) as port:
        fill(port)
        for _ in range(2):  # the second is answered from memory
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            headers = {"Content-Type": "application/x-thrift", "traceparent": TRACEPARENT}
            body = request("get_table", dbname="d", tbl_name="t")
            connection.request("POST", "/metastore", body, headers)
            assert connection.getresponse().status == 200
            connection.close()
        spans = received.wait(lambda found: sum(each.name == "get_table" for each in found) == 2)
        calls = [each for each in spans if each.name == "get_table"]
        assert [each.parent for each in calls] == [PARENT] * 2
        assert {each.service for each in spans} == {"hmstats serve"}
        assert sorted(each.attributes["hmstats.outcome"] for each in calls) == ["cached", "ok"]
        assert statements(spans)
        for each in statements(spans):
            assert way(spans, each)[0] == "get_table"
    assert {each["trace"] for each in logged(tmp_path, "call") if "trace" in each} >= {TRACE}


@pytest.mark.slow
def test_a_page_to_the_statements(received: Received, tmp_path: Path) -> None:
    settings = {"http_port": 0, "http_page": "true", "workers": 1}
    with serving(tmp_path, settings=settings, environment=environment(received)) as port:
        fill(port)
        page = logged(tmp_path, "health_served")[-1]["port"]
        asked = urllib.request.Request(
            f"http://127.0.0.1:{page}/api/v1/tables/d.t/columns/l", headers={"traceparent": TRACEPARENT}
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            json.load(answer)
        # Each process sends its spans when it likes: until all are there, a way is shorter.
        spans = received.wait(lambda found: {len(way(found, each)) for each in statements(found)} == {4})
    (outermost,) = [each for each in spans if each.parent == PARENT]
    assert (outermost.service, outermost.name) == ("hmstats web", "GET /api/v1/tables/{table}/columns/{column:path}")
    assert outermost.attributes["http.response.status_code"] == 200
    ways = [way(spans, each) for each in statements(spans)]
    assert ways
    for names in ways:  # the page, its client's call, the server's call, and the statement
        assert (names[0], names[1] == names[2], len(names)) == (outermost.name, True, 4)
    assert {each.service for each in statements(spans)} == {"hmstats serve"}


@pytest.mark.slow
def test_a_command_goes_on_with_the_trace_of_its_environment(received: Received, tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "1") as port:
        fill(port)
        told = environment(received) | {"TRACEPARENT": TRACEPARENT, "OTEL_SERVICE_NAME": "nightly"}
        command = [HMSTATS, "list", "--metastore", f"http://127.0.0.1:{port}"]
        done = subprocess.run(command, env=os.environ | told, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "d.t" in done.stdout
    (outermost,) = [each for each in received.of() if each.parent == PARENT]
    assert (outermost.service, outermost.name) == ("nightly", "hmstats list")
    assert {each.parent for each in received.of() if each is not outermost} == {outermost.id}


@pytest.mark.slow
def test_a_collector_that_is_away_holds_nobody_up(tmp_path: Path) -> None:
    away = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    with serving(tmp_path, "--workers", "1", environment=away) as port:
        fill(port)
    assert logged(tmp_path, "worker_ended")[-1]["status"] == 0
