"""Statistics that are broken on purpose, found by what queries of stock engines say, mended, put back and kept.

One server, a stock Trino and a stock Spark as its readers, tables of TPC-H. HMSTATS_TEST_MENDED_SCALE is their scale.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.engines.spark.test_spark_fail_over import Spark
from tests.engines.test_planners import planner
from tests.fixtures import java_peers
from tests.fixtures.servers import HMSTATS, finding_tests, serving
from tests.peers import launch

from hmstats.client import connect
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet, StringStatistics
from hmstats.model.statistics.statistics_locks import LockedObject

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

SCALE = os.environ.get("HMSTATS_TEST_MENDED_SCALE", "0.1")
CLERKS = max(1_000 * float(SCALE), 1_000)
BROKEN = 2
QUERY = (
    "SELECT count(*), sum(l.extendedprice) FROM {0}shop.lineitem l JOIN {0}shop.orders o ON l.orderkey = o.orderkey"
    " WHERE o.clerk = 'Clerk#000000042'"
)
TABLES = ("orders", "lineitem")
_BROADCAST_BYTES = int(10e6 * float(SCALE))
"""Spark's threshold for a broadcast, by the scale of the tables."""
CONF = (
    f"spark.sql.autoBroadcastJoinThreshold={_BROADCAST_BYTES}",
    "spark.sql.cbo.enabled=true",
    "spark.sql.cbo.joinReorder.enabled=true",
    "spark.sql.ui.explainMode=cost",
)


@dataclass(frozen=True, slots=True)
class Planned:
    """A query in an engine: the rows that the plan expects of the filter, the plan's joins, seconds, and its text."""

    expected: float
    joins: list[str]
    seconds: float
    text: str


@dataclass(slots=True)
class Scene:
    """The server and its readers."""

    port: int
    trino_port: int
    spark: Spark
    folder: Path
    events: Path

    def hmstats(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of ours."""
        named = [HMSTATS, *command.split(), *arguments, "--metastore", f"thrift://127.0.0.1:{self.port}"]
        return subprocess.run(named, capture_output=True, text=True, check=False, cwd=self.folder, timeout=600)

    def objects(self, command: str, *arguments: str) -> list[dict[str, Any]]:
        """What a command prints as JSON; it must end well."""
        done = self.hmstats(command, *arguments, "--json")
        assert done.returncode == 0, done.stderr + done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    def trino(self, sql: str) -> list[Any]:
        """The rows of a statement."""
        headers = {"X-Trino-User": "peer", "X-Trino-Catalog": "hive", "X-Trino-Schema": "shop"}
        return launch.query(self.trino_port, sql, headers, timeout_seconds=600)

    def clerks(self) -> dict[str, float]:
        """How many clerks each reader believes in."""
        self.trino("CALL hive.system.flush_metadata_cache()")
        (own,) = [row[2] for row in self.trino("SHOW STATS FOR shop.orders") if row[0] == "clerk"]
        self.spark.answer("REFRESH TABLE shop.orders")
        told = {row[0]: row[1] for row in self.spark.answer("DESCRIBE EXTENDED shop.orders clerk")}
        return {"trino": float(own), "spark": float(told["distinct_count"])}

    def in_trino(self) -> Planned:
        """The query in Trino, whose text is kept for learning."""
        query = QUERY.format("hive.")
        self.trino("CALL hive.system.flush_metadata_cache()")
        began = time.monotonic()
        self.trino(query)
        seconds = time.monotonic() - began
        text = "\n".join(row[0] for row in self.trino(f"EXPLAIN ANALYZE {query}"))
        (self.folder / f"trino-{time.time_ns()}.txt").write_text(text)
        (expected,) = re.findall(r"filterPredicate = \(clerk.*?\}/\{rows: ([\d.]+)", text, re.DOTALL)
        return Planned(float(expected), re.findall(r"Distribution: (\w+)", text), seconds, text)

    def in_spark(self) -> Planned:
        """The query in Spark, whose event log is kept for learning."""
        query = QUERY.format("")
        for each in TABLES:
            self.spark.answer(f"REFRESH TABLE shop.{each}")
        ((text,),) = self.spark.answer(f"EXPLAIN COST {query}")
        began = time.monotonic()
        self.spark.answer(query)
        seconds = time.monotonic() - began
        (expected,) = re.findall(r"Filter.*clerk#.*Statistics\(.*rowCount=([\d.E+]+)\)", text)
        return Planned(float(expected), re.findall(r"(\w+Join) ", text.partition("Physical Plan")[2]), seconds, text)

    def broken(self) -> None:
        """Say that there are two clerks, and nothing that contradicts it."""
        with connect(f"thrift://127.0.0.1:{self.port}") as service:
            (column,) = service.table_statistics("shop.orders", ["clerk"])
            service.put_table_statistics("shop.orders", StatisticsSet((_with_clerks(column, BROKEN),)))


def _with_clerks(column: ColumnStatistics, ndv: int) -> ColumnStatistics:
    assert isinstance(column.data, StringStatistics)
    return replace(column, data=replace(column.data, ndv=ndv, bit_vector=None), top_k=None, provenance=None)


@contextmanager
def stock_spark(port: int, folder: Path, events: Path) -> Iterator[Spark]:
    """A session that plans by statistics, is known as Spark, and logs its events."""
    events.mkdir()
    conf = (*CONF, "spark.eventLog.enabled=true", f"spark.eventLog.dir=file:{events}")
    where = (f"thrift://127.0.0.1:{port}", f"file:{folder}/warehouse")
    command = [sys.executable, "-m", "tests.engines.spark.sessions.spark_dialogue", *where, *conf]
    environment = finding_tests() | {"HADOOP_USER_NAME": "spark"}
    with (folder / "spark.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        yield Spark(process)
    finally:
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    java_peers.need("Trino", 25, 99)
    folder = tmp_path_factory.mktemp("mended")
    with (
        serving(folder, settings={"send_sketches": True}) as port,
        planner("trino", port, folder) as url,
        stock_spark(port, folder, folder / "events") as spark,
    ):
        found = Scene(port, int(url.rpartition(":")[2]), spark, folder, folder / "events")
        found.trino("CREATE SCHEMA hive.shop")
        for each in TABLES:
            source = f'SELECT * FROM tpch."sf{SCALE}".{each}'
            found.trino(f"CREATE TABLE hive.shop.{each} WITH (format = 'PARQUET') AS {source}")
        done = found.hmstats("analyze", *(f"shop.{each}" for each in TABLES))
        assert done.returncode == 0, done.stdout + done.stderr
        yield found


def now() -> str:
    """A time between two writes."""
    time.sleep(0.05)
    found = datetime.now(UTC).isoformat(timespec="milliseconds")
    time.sleep(0.05)
    return found


def test_the_broken_column_is_blamed_first_and_a_refresh_mends_it(scene: Scene) -> None:
    before = {"trino": scene.in_trino(), "spark": scene.in_spark()}
    good = now()
    scene.broken()
    assert scene.clerks() == {"trino": BROKEN, "spark": BROKEN}
    broken = {"trino": scene.in_trino(), "spark": scene.in_spark()}

    scene.objects("learn", str(scene.events), *(str(each) for each in scene.folder.glob("trino-*.txt")))
    first, *_ = scene.objects("blame")
    assert (first["table"], first["column"], first["verdict"], first["analyzed_since"]) == (
        "orders",
        "clerk",
        "wrong",
        False,
    )
    done = scene.objects("refresh", "shop.*")
    assert (done[0]["table"], done[0]["blamed"], done[0]["outcome"]) == ("orders", True, "done")
    assert [each["table"] for each in done[1:] if not each["look"]] == []  # files of others may be looked at
    mended = {"trino": scene.in_trino(), "spark": scene.in_spark()}
    for engine in ("trino", "spark"):
        told = ((before, "before"), (broken, "broken"), (mended, "mended"))
        for each, when in told:
            found = each[engine]
            print(f"{engine} {when}: {found.expected:,.0f} rows, {found.joins}, {found.seconds:.2f} s")
        assert broken[engine].expected > 100 * mended[engine].expected
        assert mended[engine].expected == pytest.approx(before[engine].expected, rel=0.1)
        assert mended[engine].joins == before[engine].joins
    assert all(each["analyzed_since"] for each in scene.objects("blame") if each["column"] == "clerk")
    assert scene.objects("refresh", "shop.*") == []

    bad = now()
    assert bad > good
    assert all(each == pytest.approx(CLERKS, rel=0.1) for each in scene.clerks().values())


def test_what_was_in_force_comes_back_and_so_does_what_that_replaced(scene: Scene) -> None:
    right, good = scene.clerks(), now()
    scene.broken()
    bad = now()
    assert scene.hmstats("restore", "shop.orders", "--as-of", good).returncode == 0
    assert scene.clerks() == right
    assert scene.hmstats("restore", "shop.orders", "--as-of", bad).returncode == 0
    assert scene.clerks() == {"trino": BROKEN, "spark": BROKEN}
    assert scene.hmstats("restore", "shop.orders", "--as-of", good).returncode == 0
    assert scene.clerks() == right


def test_engines_cannot_write_what_is_locked(scene: Scene) -> None:
    right, good = scene.clerks(), now()
    scene.broken()
    locked = LockedObject(DatabaseName("hive", "shop"), "orders")
    with connect(f"thrift://127.0.0.1:{scene.port}") as service:
        service.locks.lock(locked, reason="on purpose")
        scene.trino("ANALYZE hive.shop.orders")
        scene.spark.answer("ANALYZE TABLE shop.orders COMPUTE STATISTICS FOR COLUMNS clerk")
        assert scene.hmstats("analyze", "shop.orders").returncode != 0
        assert scene.clerks() == {"trino": BROKEN, "spark": BROKEN}
        assert [each.dropped > 0 for each in service.locks.listed("shop")] == [True]
        service.locks.unlock(locked)
    scene.trino("ANALYZE hive.shop.orders")
    assert scene.clerks()["trino"] == pytest.approx(CLERKS, rel=0.1)
    assert scene.hmstats("restore", "shop.orders", "--as-of", good).returncode == 0
    assert scene.clerks() == right


def test_numbers_that_wait_are_planned_with_when_they_are_published(scene: Scene) -> None:
    right, good = scene.clerks(), now()
    assert scene.hmstats("prefs set", "shop.orders", "publish=false").returncode == 0
    scene.broken()
    assert scene.clerks() == right
    (waiting,) = scene.objects("pending list")
    assert waiting["table"] == "shop.orders"
    assert scene.hmstats("pending publish", "shop.orders").returncode == 0
    assert scene.clerks() == {"trino": BROKEN, "spark": BROKEN}
    assert scene.hmstats("prefs unset", "shop.orders", "publish").returncode == 0
    assert scene.hmstats("restore", "shop.orders", "--as-of", good).returncode == 0
    assert scene.clerks() == right
