"""What goes wrong in Spark's tasks reaches the caller as the sentence that it is."""

import contextlib
import gzip
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from tests.collector.parted import parted
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving

from hmstats import collector
from hmstats.collector.autogather.strategies import WatchedRows
from hmstats.collector.checking import run as checking
from hmstats.collector.scan.task_errors import translate_errors, translate_reading
from hmstats.errors import (
    AnalysisIncomplete,
    CallRefused,
    GatheringFailed,
    HmstatsError,
    ServiceUnavailable,
    UnknownCall,
    UnreadableFile,
)

TRACE = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: Lost task 0.3
Traceback (most recent call last):
  File "connection.py", line 9, in call
hmstats.errors.ServiceUnavailable: no metastore can be reached

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
{raised}

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)
"""


class Raised(Py4JJavaError):  # type: ignore[misc]  # untyped
    """As Spark raises it, without a JVM."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


@pytest.mark.parametrize(
    "error",
    [
        ServiceUnavailable("no metastore can be reached at thrift://127.0.0.1:1: refused"),
        CallRefused("get_table_req", "NoSuchObjectException", "hive.d.t: table not found"),
        UnknownCall("get_top_k", "TApplicationException", "the metastore is not hmstats"),
        UnreadableFile("file /a: b cannot be read: no"),
        AnalysisIncomplete("not all of d.t could be analysed"),
        GatheringFailed("no space is left"),
    ],
)
def test_every_error_of_ours_comes_back_as_it_was_raised(error: HmstatsError) -> None:
    text = TRACE.format(raised=f"{type(error).__module__}.{type(error).__qualname__}: {error}")
    with pytest.raises(HmstatsError) as raised, translate_errors():
        raise Raised(text)
    assert type(raised.value) is type(error)
    assert str(raised.value) == str(error)
    assert vars(raised.value) == vars(error)


def test_an_error_of_spark_stays() -> None:
    with pytest.raises(Raised), translate_errors():
        raise Raised("java.lang.NullPointerException")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)", "exited unexpectedly: killed"),
        ("ExecutorLostFailure (executor 1 exited caused by ...", "ExecutorLostFailure: killed"),
        ("java.lang.OutOfMemoryError: Java heap space\n\tat java.base", "OutOfMemoryError: Java heap space: killed"),
    ],
)
def test_a_task_that_was_lost_is_a_sentence(text: str, told: str) -> None:
    with pytest.raises(AnalysisIncomplete, match=told) as raised, translate_errors():
        raise Raised(text)
    assert "\n" not in str(raised.value)


def test_a_refusal_without_its_parts_is_all_message() -> None:
    assert CallRefused.from_text("no").message == "no"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[int, contextlib.ExitStack]]:
    """The port of a metastore of the test's own, and what stops it."""
    port = free_port()
    with contextlib.ExitStack() as running:
        running.enter_context(serving(tmp_path, "--port", str(port)))
        yield port, running


@pytest.mark.spark
@pytest.mark.slow
def test_a_check_whose_metastore_goes_away_says_so(
    spark: Any, address: tuple[int, contextlib.ExitStack], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, running = address
    name = parted(port, tmp_path / "data", ("number",))
    real = checking._compare

    def stopped(*given: Any) -> Any:
        running.close()
        return real(*given)

    monkeypatch.setattr(checking, "_compare", stopped)
    with pytest.raises(ServiceUnavailable, match=f"no metastore can be reached at thrift://127.0.0.1:{port}") as raised:
        collector.check(spark, f"{name.database}.t", metastore=f"thrift://127.0.0.1:{port}")
    assert "Traceback" not in str(raised.value)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("reliable", [True, False])
def test_a_write_whose_service_goes_away_says_so(
    spark: Any,
    address: tuple[int, contextlib.ExitStack],
    monkeypatch: pytest.MonkeyPatch,
    reliable: bool,
) -> None:
    """The metastore of the session stays; where tasks publish to goes away behind the beginning."""
    port, running = address
    real = WatchedRows.through

    def stopped(*given: Any) -> Any:
        running.close()
        return real(*given)

    monkeypatch.setattr(WatchedRows, "through", stopped)
    settings = {
        "hive.stats.dbconnectionstring": f"thrift://127.0.0.1:{port}",
        "hive.stats.reliable": str(reliable).lower(),
    }
    spark.sql("CREATE DATABASE IF NOT EXISTS gone")
    rows = collector.writing(spark.range(10), settings=settings)
    table = f"gone.t_{reliable}_{threading.get_ident()}"
    if reliable:
        with pytest.raises(HmstatsError, match="no metastore can be reached at") as raised:
            rows.save_table(table)
        assert "Traceback" not in str(raised.value)
        return
    written = rows.save_table(table)
    assert not written.gathered
    assert "no metastore can be reached at" in (written.reason or "")
    assert spark.table(table).count() == 10


@pytest.mark.spark
@pytest.mark.slow
def test_a_text_that_was_cut_off_is_no_lost_task(spark: Any, tmp_path: Path) -> None:
    text = "".join(f"{number},row {number}\n" for number in range(5_000))
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "x.gz").write_bytes(gzip.compress(text.encode())[:-2_000])
    spark.sql("CREATE DATABASE IF NOT EXISTS cut_off")
    form = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
    spark.sql(f"CREATE EXTERNAL TABLE cut_off.t (n INT, s STRING) {form} LOCATION '{(tmp_path / 't').as_uri()}'")
    for run in (collector.analyze, collector.check):
        with pytest.raises(UnreadableFile, match=r"^table cut_off.t cannot be read by Spark: .*end of input stream$"):
            run(spark, "cut_off.t")
    spark.sql("DROP DATABASE cut_off CASCADE")


def test_an_error_of_our_tasks_is_none_of_reading() -> None:
    """Its trace says what is wrong; what Spark itself lacks is a sentence."""
    raised = Raised(TRACE.format(raised="KeyError: 'a'").replace("hmstats.errors.", ""))
    with pytest.raises(Raised) as found, translate_reading("d.t"):
        raise raised
    assert found.value is raised
    with (
        pytest.raises(UnreadableFile, match=r"^table d.t cannot be read by Spark: \[X\] no format y$"),
        translate_reading("d.t"),
    ):
        raise AnalysisException("[X] no format y")
