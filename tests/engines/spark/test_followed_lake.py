"""A session that is followed writes Iceberg's and Delta Lake's tables: what it adds is in the statistics at once.

Commits that change or remove rows are not gathered, and nothing is called exact then.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.engines.iceberg.test_iceberg_in_spark import settings as of_iceberg
from tests.engines.spark.test_delta_in_spark import CONF as OF_DELTA
from tests.fixtures.hive import CHECKOUT
from tests.fixtures.servers import serving
from tests.peers.spark_jars import delta_spark, iceberg_spark

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

SESSIONS = Path(__file__).parent / "sessions"
GATHERED = [True, None]
TIMEOUT_SECONDS = 600


@pytest.fixture(autouse=True)
def _maven() -> None:
    if shutil.which("mvn") is None:
        pytest.skip("the formats' runtimes come from Maven, not found on this machine")


def followed(
    port: int, folder: Path, statements: str, jars: Sequence[Path], conf: Mapping[str, str]
) -> list[dict[str, Any]]:
    """What is gathered and stored after each statement."""
    given = {"spark.jars": ",".join(map(str, jars)), **conf}
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    packages = os.pathsep.join([str(iceberg_spark.fetched().packages), str(CHECKOUT)])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.engines.spark.sessions.followed_lake",
            f"thrift://127.0.0.1:{port}",
            f"file:{folder}/warehouse",
            "shop.t",
            str(SESSIONS / statements),
            *(f"{name}={value}" for name, value in given.items()),
        ],
        env={**environment, "PYTHONPATH": packages},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_iceberg(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        _, created, appended, merged, updated = followed(
            port, tmp_path, "followed_iceberg.sql", [iceberg_spark.fetched().jar], of_iceberg(port, tmp_path)
        )
    for each, rows in ((created, 1000), (appended, 1500), (merged, 1600)):
        assert each["outcomes"] == [GATHERED], each["sql"]
        assert (each["count"], each["exact"]) == (rows, True), each["sql"]
        assert each["distinct"] == pytest.approx(rows, rel=0.05)
    ((gathered, reason),) = updated["outcomes"]
    assert not gathered
    assert "table shop.t must be read as a whole at Iceberg snapshot" in reason
    assert not updated["exact"]


def test_delta_lake(tmp_path: Path) -> None:
    """Of its writers' commits none is told to a metastore, so no count is exact."""
    with serving(tmp_path) as port:
        _, created, *added, deleted, appended = followed(
            port, tmp_path, "followed_delta.sql", delta_spark.jars(), OF_DELTA
        )
    assert len(added) == 4
    for each, rows in zip((created, *added), (1000, 1500, 1600, 1700, 1800), strict=True):
        assert (each["outcomes"], each["count"], each["exact"]) == ([GATHERED], rows, False), each["sql"]
        assert each["distinct"] == pytest.approx(rows, rel=0.05), each["sql"]
    for version, each in ((5, deleted), (6, appended)):
        ((gathered, reason),) = each["outcomes"]
        assert not gathered
        assert f"table shop.t must be read as a whole at Delta Lake version {version}" in reason
        assert (each["count"], each["exact"]) == (1800, False)
