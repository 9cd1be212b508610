"""Spark plans by the statistics that hmstats makes of Delta's tables, for which Spark's own ANALYZE is refused."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.engines.spark.sessions import older_spark
from tests.engines.spark.sessions.older_spark import Answers
from tests.engines.spark.test_delta_in_spark import CONF
from tests.fixtures.servers import HMSTATS, serving
from tests.peers.spark_jars import delta_spark, iceberg_spark

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import LongStatistics, StringStatistics

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

SESSIONS = Path(__file__).parent / "sessions"
CBO = {"spark.sql.cbo.enabled": "true", "spark.sql.cbo.joinReorder.enabled": "true"}


def session(port: int, warehouse: Path, statements: str) -> Answers:
    """What each statement of a file answers."""
    packages = iceberg_spark.fetched().packages
    return older_spark.session(port, warehouse, SESSIONS / statements, packages, delta_spark.jars(), {**CONF, **CBO})


def rows_of(answer: dict[str, object]) -> list[str]:
    """The numbers of rows that a plan says, from its top down."""
    return re.findall(r"rowCount=([\d.E+]+)", str(answer["rows"]))


def joined(answer: dict[str, object]) -> list[str]:
    """The tables that an optimized plan joins, in their order."""
    plan = str(answer["rows"]).partition("== Physical Plan ==")[0]
    return re.findall(r"Relation spark_catalog\.formats\.(\w+)\[", plan)


def analyze(address: str, tables: Sequence[str], folder: Path) -> None:
    """Analyse tables with no Java at hand."""
    names = [f"formats.{each}" for each in tables]
    nowhere = {**os.environ, "JAVA_HOME": str(folder / "nowhere")}
    done = subprocess.run([HMSTATS, "analyze", "--metastore", address, *names], env=nowhere, check=False)
    assert done.returncode == 0


def test_spark_plans_by_the_statistics_of_delta_s_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "spark")
    if shutil.which("mvn") is None:
        pytest.skip("Delta's jars come from Maven, not found on this machine")
    with serving(tmp_path) as port:
        before = session(port, tmp_path / "warehouse", "delta_written.sql")
        assert [each["error"] for each in before] == [None] * len(before)
        assert rows_of(before[-1]) == []
        assert joined(before[-2]) == ["facts", "dims", "few"]  # as the query has them
        address = f"thrift://127.0.0.1:{port}"
        analyze(address, ("facts", "mapped", "dims", "few"), tmp_path)
        after = session(port, tmp_path / "warehouse", "delta_planned.sql")
        with client.connect(address) as service:
            facts = service.table_statistics(TableName("hive", "formats", "facts"), ["id", "dim"])
            mapped = service.table_statistics(TableName("hive", "formats", "mapped"), ["a b", "c"])
    # Deleted rows are not counted, and columns have their own names, not those in the files.
    assert [(each.data.low, each.data.high) for each in facts] == [(5000, 19_999), (0, 99)]  # type: ignore[union-attr]
    assert [each.data.ndv for each in mapped] == [pytest.approx(1000, rel=0.05), 7]  # type: ignore[union-attr]
    assert after[-1]["rows"] == [[15_000]]
    assert rows_of(after[1])[0] == "1.50E+4"
    # Spark takes them from the histogram; its own ALTER TABLE leaves them there.
    filtered = [float(rows_of(after[place])[0]) for place in (0, 4)]
    assert filtered == [pytest.approx(150, rel=0.25)] * 2
    assert float(rows_of(after[2])[0]) == pytest.approx(500, rel=0.1)
    # The join that leaves ten rows comes first.
    assert set(joined(after[-2])[:2]) == {"facts", "few"}
    assert joined(after[-2])[2] == "dims"


def test_statistics_are_of_the_rows_that_spark_reads_after_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "spark")
    if shutil.which("mvn") is None:
        pytest.skip("Delta's jars come from Maven, not found on this machine")
    tables = ("restored", "clustered", "renamed", "widened")
    with serving(tmp_path) as port:
        answers = session(port, tmp_path / "warehouse", "delta_changed.sql")
        assert [each["error"] for each in answers] == [None] * len(answers)
        address = f"thrift://127.0.0.1:{port}"
        analyze(address, tables, tmp_path)
        with client.connect(address) as service:
            found = [numbers(service, each) for each in tables]
    assert found == [each["rows"][0] for each in answers[-len(tables) :]]


def numbers(service: client.Metastore, table: str) -> list[object]:
    """What hmstats says of a table, as the last statements of the session ask Spark."""
    name = TableName("hive", "formats", table)
    rows = int(service.table(name).table.parameters["numRows"])
    ids, texts = (each.data for each in service.table_statistics(name, ["id", "k"]))
    assert isinstance(ids, LongStatistics)
    assert isinstance(texts, StringStatistics)
    assert ids.nulls is not None
    assert texts.nulls is not None
    return [rows, rows - ids.nulls, ids.low, ids.high, rows - texts.nulls, texts.ndv, texts.max_length]
