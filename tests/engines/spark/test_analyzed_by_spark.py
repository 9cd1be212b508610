"""SHOW STATS in Trino and Presto of a table that Spark's collector analysed, and of one that Spark's ANALYZE did."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engines.test_planners import JDKS, planner
from tests.fixtures.servers import serving
from tests.peers import launch
from tests.peers.sessions.planner_session import Client

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

Stats = dict[str | None, dict[str, Any]]


@pytest.fixture(scope="module", params=list(JDKS))
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stats]:
    """What an engine shows of each table: by column, and of the table itself by None."""
    dialect: str = request.param
    try:
        launch.find_java(*JDKS[dialect], None)
    except SystemExit as missing:
        pytest.skip(f"{dialect}: {missing}")
    folder = tmp_path_factory.mktemp(f"{dialect}-spark")
    with serving(folder) as port:
        script = Path(__file__).parent / "sessions" / "analyzed_by_spark.py"
        command = [sys.executable, str(script), f"thrift://127.0.0.1:{port}", f"file:{folder}/warehouse"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        with planner(dialect, port, folder) as url:
            return {table: _stats(Client(url, dialect, "hive"), table) for table in ("ours", "theirs")}


def _stats(client: Client, table: str) -> Stats:
    rows, error = client.run(f"SHOW STATS FOR shop.{table}")
    assert error is None
    names = ("data_size", "distinct", "nulls_fraction", "rows", "low", "high")
    return {row[0]: dict(zip(names, row[1:7], strict=True)) for row in rows}


@pytest.mark.parametrize("table", ["ours", "theirs"])
def test_the_engine_knows_the_table(found: dict[str, Stats], table: str) -> None:
    stats = found[table]
    assert stats[None]["rows"] == 1000.0
    bounds = {column: (each["low"], each["high"]) for column, each in stats.items() if each["low"] is not None}
    assert {column: tuple(map(_number, ends)) for column, ends in bounds.items() if column != "day"} == {
        "id": (0.0, 999.0),
        "price": (0.0, 499.5),
        "paid": (0.0, 999.0),
        "quarter": (1.0, 3.0),
    }
    assert bounds["day"] == ("2024-01-01", "2026-09-26")
    assert stats["quarter"]["nulls_fraction"] == pytest.approx(0.25)
    assert stats["region"]["data_size"] == pytest.approx(1000.0)


@pytest.mark.parametrize("table", ["ours", "theirs"])
def test_distinct_values_are_near_enough(found: dict[str, Stats], table: str) -> None:
    expected = {"id": 1000, "price": 1000, "paid": 1000, "region": 10, "day": 1000}
    for column, distinct in expected.items():
        assert found[table][column]["distinct"] == pytest.approx(distinct, rel=0.15), column


def _number(text: str) -> float:
    return float(text)
