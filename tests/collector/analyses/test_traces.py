"""A trace of an analysis: the driver's steps, the tasks, and what the metastore does for them."""

from pathlib import Path
from typing import Any

import pytest
from tests.collector.parted import parted
from tests.fixtures.servers import serving
from tests.fixtures.traces import TRACE, TRACEPARENT, environment, receiving, way

from hmstats import collector, tracing

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_an_analysis_with_its_tasks_to_the_statements(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session's workers were started without the settings, which come with the tasks.

    Every process sends its spans at its end, though none is due for an hour.
    """
    monkeypatch.setattr(tracing, "_asked", False)
    with receiving() as received:
        told = environment(received) | {"OTEL_BSP_SCHEDULE_DELAY": "3600000"}
        with serving(tmp_path, "--workers", "1", environment=told) as port:
            name = parted(port, tmp_path / "data")
            for variable, value in told.items():
                monkeypatch.setenv(variable, value)
            tracing.start("hmstats analyze")
            try:
                with tracing.span("nightly", carrier={"traceparent": TRACEPARENT}):
                    report = collector.analyze(spark, str(name), metastore=f"http://127.0.0.1:{port}")
                tracing.flush()
            finally:
                tracing.use(None)
            assert report.partitions == 4
        spans = received.of(TRACE)
    ways = {tuple(way(spans, each)) for each in spans}
    analysis = ("nightly", f"analyze {name}")
    for step in ("plan", "read", "merge", "publish"):
        assert (*analysis, step) in ways, step
    tasks = [each for each in spans if each.name == "read files"]
    assert tasks
    assert {each.service for each in tasks} == {"hmstats task"}
    assert {tuple(way(spans, each)) for each in tasks} == {(*analysis, "read", "read files")}
    of_tasks = [
        found for each in spans if "read files" in (found := way(spans, each)) and "db.system.name" in each.attributes
    ]
    assert of_tasks
    for found in of_tasks:  # a task, its client's call, the server's call, and the statement
        assert found[:4] == [*analysis, "read", "read files"]
        assert (len(found), found[4]) == (7, found[5])
