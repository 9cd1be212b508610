"""Traces: off unless the environment wants them, and the same spans on every way to the database."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import text
from tests.fixtures.traces import PARENT, TRACE, TRACEPARENT

from hmstats import tracing
from hmstats.store.connections.connections import connect
from hmstats.store.connections.connections import database_url as parsed


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    yield exporter
    tracing.use(None)


def told(exporter: InMemorySpanExporter) -> list[tuple[str, str | None]]:
    """Name, and name of the span around, of each span."""
    every = exporter.get_finished_spans()
    names = {each.context.span_id: each.name for each in every if each.context}
    return [(each.name, names.get(each.parent.span_id) if each.parent else None) for each in every]


def test_statements_are_spans_of_the_call_around(spans: InMemorySpanExporter, database_url: str) -> None:
    pools = connect(parsed(database_url), 1, 10.0)
    with pools.readers.connect() as unseen:
        unseen.execute(text("SELECT 1"))
    assert told(spans) == []  # outside of a call, as checks for changes are
    with tracing.span("call", carrier={"traceparent": TRACEPARENT}):
        with pools.readers.connect() as reader:
            reader.execute(text("SELECT 2 WHERE 'a' <> :value"), {"value": "hidden"})
        with pools.writers.begin() as writer:
            writer.exec_driver_sql("CREATE TABLE traced (a int)")
            writer.exec_driver_sql("DROP TABLE traced")
    pools.close()
    every = {each.name: each for each in spans.get_finished_spans()}
    statements = [dict(each.attributes or {}) for each in spans.get_finished_spans() if each.name != "call"]
    texts = [str(each["db.query.text"]) for each in statements]
    assert any(each.startswith("SELECT 2") for each in texts)
    assert {"CREATE", "DROP"} <= every.keys()
    assert not any("hidden" in each for each in texts)
    assert {each["db.system.name"] for each in statements} == {pools.readers.dialect.name}
    assert {parent for name, parent in told(spans) if name != "call"} == {"call"}
    around = every["call"]
    assert around.context is not None
    assert around.parent is not None
    assert (f"{around.context.trace_id:032x}", f"{around.parent.span_id:016x}") == (TRACE, PARENT)


def test_values_that_stand_in_a_text_are_not_told(spans: InMemorySpanExporter, postgres_url: str) -> None:
    from psycopg2.extras import execute_values

    pools = connect(parsed(postgres_url), 1, 10.0)
    with tracing.span("call"), pools.writers.begin() as writer:
        writer.exec_driver_sql("CREATE TEMPORARY TABLE kept (a text)")
        cursor: Any = writer.connection.cursor()
        execute_values(cursor, "INSERT INTO kept VALUES %s", [("secret",), ("other secret",)])
        cursor.close()
    pools.close()
    (found,) = [each for each in spans.get_finished_spans() if each.name == "INSERT"]
    assert dict(found.attributes or {}) == {"db.system.name": "postgresql"}


def test_a_trace_goes_on_elsewhere(spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=b")
    assert (tracing.headers(), tracing.elsewhere(), tracing.trace_id()) == ({}, None, None)
    with tracing.span("here", carrier={"traceparent": TRACEPARENT, "tracestate": "other=1"}):
        assert tracing.trace_id() == TRACE
        there = tracing.elsewhere()
    assert there is not None
    assert there.carrier["traceparent"].split("-")[1] == TRACE
    assert there.carrier["tracestate"] == "other=1"
    assert there.environment["OTEL_EXPORTER_OTLP_HEADERS"] == "a=b"
    with tracing.span_of_task("there", there):
        pass
    assert told(spans) == [("here", None), ("there", "here")]


def test_a_client_that_is_not_sampled_makes_no_spans(spans: InMemorySpanExporter) -> None:
    with (
        tracing.span("call", carrier={"traceparent": TRACEPARENT[:-1] + "0"}),
        tracing.inner_span("statement"),
    ):
        assert tracing.headers()["traceparent"].endswith("-00")
    assert told(spans) == []


def test_an_invalid_traceparent_begins_a_trace(spans: InMemorySpanExporter) -> None:
    for wrong in ("", "00-0-0-00", "é", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x" * 10_000):
        with tracing.span("call", carrier={"traceparent": wrong}):
            pass
    assert told(spans) == [("call", None)] * 5


PROGRAM = """
import json, sys
import hmstats.cli.serving.worker, hmstats.client.metastore, hmstats.cli.main
from hmstats import tracing
from hmstats.store.connections.traced_cursors import postgres_arguments, postgres_cursor, sqlite_arguments
from psycopg2.extensions import cursor
tracing.start("test")
plain = (postgres_cursor() is cursor, postgres_arguments(), sqlite_arguments(), tracing.headers())
print(json.dumps([tracing.is_on(), plain == (True, {}, {}, {}), "opentelemetry" in sys.modules]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "on"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_nothing_is_loaded_unless_the_environment_wants_it(environment: dict[str, str], on: bool) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=clean | environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [on, not on, on]


def test_without_the_packages_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tracing, "_NEEDED", ("opentelemetry.not_there",))
    monkeypatch.setattr(tracing, "_asked", False)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    for _ in range(2):
        tracing.start("test")
    assert not tracing.is_on()
    said = "".join(capsys.readouterr())
    assert said.count("pip install '.[otel]'") == 1
