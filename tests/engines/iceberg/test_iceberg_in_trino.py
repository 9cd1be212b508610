"""One session of Trino's Iceberg connector on a real Hive Metastore and on ours: every statement answers the same."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engines.test_planners import planner
from tests.fixtures import java_peers
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import CHECKOUT, hive
from tests.fixtures.servers import serving

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

STATEMENTS = Path(__file__).with_name("trino_iceberg_session.sql")
_OWN = re.compile(r"(?<=-)[0-9a-f]{32}\b")
"""What Trino adds to the name of a table's folder."""


def answers(port: int, folder: Path, warehouse: Path) -> list[dict[str, Any]]:
    """What each statement answers on the metastore of this port."""
    warehouse.mkdir(parents=True)
    with planner("trino", port, folder) as url:
        options = ("--warehouse", f"file:{warehouse}", "--session", str(STATEMENTS), "--catalog", "iceberg")
        command = [sys.executable, "-m", "tests.peers.sessions.planner_session", url, *options]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=900, check=True)
    return [json.loads(_OWN.sub("OWN", line)) for line in done.stdout.splitlines()]


def test_every_statement_answers_as_on_hive(tmp_path: Path, postgres_server: str) -> None:
    """Hive is over PostgreSQL, for its locks. On ours the tables lie in another folder than the server's warehouse."""
    java_peers.need("Trino", 25, 99)
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"hive.metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    conf = (where, "hive.metastore.disallow.incompatible.col.type.changes=false")  # or no column could be dropped
    with fresh_database(postgres_server) as url, hive("2.3", tmp_path / "hive", *conf, database=url) as port:
        expected = answers(port, tmp_path / "hive", tmp_path / "hive" / "warehouse" / "of_trino")
    with serving(tmp_path / "ours") as port:
        found = answers(port, tmp_path / "ours", tmp_path / "ours" / "elsewhere")
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []
