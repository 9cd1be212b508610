"""Writes whose tasks fail, die or run twice, and a job that dies: nothing counts twice, nothing stays for ever."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812
from sqlalchemy import create_engine, text
from tests.collector.autogather.writing_session import LATE_SECONDS
from tests.fixtures.servers import serving

from hmstats.client import connect
from hmstats.collector.autogather import strategies
from hmstats.collector.autogather import writer as module
from hmstats.collector.autogather.publishers.fs import FsAggregator, FsPublisher
from hmstats.collector.autogather.table_state import read_table_state
from hmstats.collector.autogather.writer import writing
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.running_writes import PartialState
from hmstats.service.statistics.running_writes import RunningWrites
from hmstats.store.database.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DAY_SECONDS = 24 * 3600
HOST = "127.0.0.1"
HOSTS = ("127.0.0.2", "127.0.0.3")
"""A twin of a task runs on another host than the task, so each worker has its own."""
WORKER = ("--cores", "1", "--memory", "1g")
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _tasks_have_these_classes() -> Iterator[None]:
    here = sys.modules[Full.__module__]
    cloudpickle.register_pickle_by_value(here)
    yield
    cloudpickle.unregister_pickle_by_value(here)


class Full(FsPublisher):
    """A publisher that has no room for what the second task found."""

    def publish(self, states: Sequence[PartialState]) -> None:
        if any(each.place.task == 1 for each in states):
            raise GatheringFailed("no space is left")
        super().publish(states)


class Forgetful(FsAggregator):
    """An aggregator that loses a state."""

    def aggregate(self) -> Any:
        return list(super().aggregate())[1:]


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a cluster of Spark's own kind, which ends with its context."""
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    master = f"spark://{HOST}:{port}"
    commands = [
        ["master.Master", "--host", HOST, "--port", str(port)],
        *(["worker.Worker", "--host", host, *WORKER, "--work-dir", str(folder / "work"), master] for host in HOSTS),
    ]
    started = [_start(folder, *command) for command in commands]
    try:
        yield master
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def _start(folder: Path, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
    launcher = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [str(launcher), f"org.apache.spark.deploy.{name}", "--webui-port", "0", *arguments]
    with (folder / "cluster.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


@pytest.mark.slow
def test_attempts_of_tasks_count_once_and_a_dead_run_is_forgotten(tmp_path: Path) -> None:
    with serving(tmp_path) as port, cluster(tmp_path) as master:
        arguments = [str(tmp_path), f"thrift://{HOST}:{port}", master]
        command = [sys.executable, "-m", "tests.collector.autogather.writing_session", *arguments]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr[-5000:]
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert [each["harm"] for each in lines] == ["raises", "dies", "is late"]
        for each in lines:
            assert each["gathered"], each
            assert (each["rows"], each["numRows"], each["partitions"]) == (900, 900, [300, 300, 300]), each
            assert each["bounds"] == each["attempts"] == [0, 1], each
        for harm in ("raises", "dies", "is_late"):
            assert list(tmp_path.glob(f"{harm}_?")), harm
        left = runs_left(tmp_path)
        assert left
    store = Store.open(f"sqlite:///{tmp_path}/hmstats.sqlite", clock=lambda: time.time() + DAY_SECONDS + LATE_SECONDS)
    assert RunningWrites(store).remove_older(DAY_SECONDS) == len(left)
    store.close()
    assert not runs_left(tmp_path)


def runs_left(folder: Path) -> set[str]:
    """The runs that have left states: the one that died, and perhaps one whose task went on after its end."""
    engine = create_engine(f"sqlite:///{folder}/hmstats.sqlite")
    with engine.connect() as connection:
        runs = connection.scalars(text('SELECT DISTINCT "RUN_ID" FROM "HMSTATS_PARTIAL_STATE"')).all()
    engine.dispose()
    return set(runs)


@pytest.mark.parametrize("broken", [(Full, FsAggregator), (FsPublisher, Forgetful)])
def test_what_is_lost_on_the_way_is_noticed(
    spark: Any, spark_metastore: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: tuple[type, type]
) -> None:
    name = f"lost_{broken[0].__name__.lower()}"
    settings: dict[str, object] = {"hive.stats.dbclass": "fs", "hive.stats.dbconnectionstring": str(tmp_path)}
    rows = spark.range(0, 900, 1, 3).select("id", (F.col("id") % 3).alias("k"))
    writing(rows, settings=settings).save_table(name, partition_by=["k"])
    monkeypatch.setattr(module, "publisher_and_aggregator", lambda _: broken)
    written = writing(rows, settings=settings).save_table(name, mode="append", partition_by=["k"])
    assert not written.gathered
    assert "incomplete" in (written.reason or "")
    table = TableName("hive", "default", name)
    with connect(spark_metastore) as service:
        found = service.find_table(table)
        assert found is not None
        partitions = service.partitions(table, service.partition_names(table))
        every = [found.parameters, *(each.parameters for each in partitions)]
    for parameters in every:
        assert not {"numRows", "COLUMN_STATS_ACCURATE"} & parameters.keys()
    assert [parameters["numFiles"] for parameters in every] == ["18", "6", "6", "6"]
    assert spark.table(name).count() == 1800
    assert list(tmp_path.iterdir()) == []


def test_a_task_that_cannot_publish_fails_a_write_that_must_be_reliable(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "publisher_and_aggregator", lambda _: (Full, FsAggregator))
    settings: dict[str, object] = {
        "hive.stats.dbclass": "fs",
        "hive.stats.dbconnectionstring": str(tmp_path),
        "hive.stats.reliable": True,
    }
    with pytest.raises(GatheringFailed, match="no space is left"):
        writing(spark.range(0, 900, 1, 3), settings=settings).save_table("unreliable")
    assert not spark.catalog.tableExists("unreliable")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["spark", "hive"])
def test_another_job_in_another_partition_is_noticed(
    spark: Any, spark_metastore: str, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """Spark says nothing of rows that it adds to a partition that is there: its files alone tell of them."""
    name = f"apart_{form}"
    made = "(id BIGINT) PARTITIONED BY (k INT) STORED AS PARQUET"
    made = "(id BIGINT, k INT) USING parquet PARTITIONED BY (k)" if form == "spark" else made
    spark.sql(f"CREATE TABLE {name} {made}")
    rows = spark.range(0, 300, 1, 1).select("id", (F.col("id") % 3).cast("int").alias("k"))
    spark.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    assert writing(rows).insert_into(name).gathered
    states = [read_table_state, read_table_state]

    def late(*arguments: Any) -> Any:
        look = states.pop()
        if not states:  # the second look, after our write to the first partition
            rows.where("k = 2").write.insertInto(name)
        return look(*arguments)

    monkeypatch.setattr(strategies, "read_table_state", late)
    written = writing(rows.where("k = 0")).insert_into(name)
    assert spark.table(name).count() == 500
    with connect(spark_metastore) as service:
        table = TableName("hive", "default", name)
        found = service.find_table(table)
        assert found is not None
        partitions = service.partitions(table, ["k=0", "k=1", "k=2"])
        counted = {each.values[0]: each.parameters.get("numRows") for each in partitions}
    assert (written.gathered, counted["1"]) == (False, "100")
    assert written.reason == "2 jobs have written at the same time, of which one has gathered statistics"
    assert counted["2"] in (None, "-1")
    assert found.parameters.get("numRows") in (None, "-1")


def test_another_job_at_the_same_time_is_noticed(
    spark: Any, spark_metastore: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spark.range(0, 900, 1, 3)
    writing(rows).save_table("shared")

    states = [read_table_state, read_table_state]

    def late(*arguments: Any) -> Any:
        look = states.pop()
        if not states:  # the second look, after our write
            rows.write.insertInto("shared")
        return look(*arguments)

    monkeypatch.setattr(strategies, "read_table_state", late)
    written = writing(rows).insert_into("shared")
    assert (written.gathered, spark.table("shared").count()) == (False, 2700)
    assert written.reason == "2 jobs have written at the same time, of which one has gathered statistics"
    with connect(spark_metastore) as service:
        found = service.find_table(TableName("hive", "default", "shared"))
    assert found is not None
    assert found.parameters["numFiles"] == "9"
    assert "numRows" not in found.parameters
