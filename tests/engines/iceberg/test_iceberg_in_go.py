"""Iceberg's Go library and the client below it, on a real Hive Metastore and on ours: every answer is the same.

The tables lie elsewhere than in the server's warehouse.
"""

import re
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers.go_clients import programs

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

INTEGRATION_TESTS = 14
"""How many tests of iceberg-go 0.7.0 ask a metastore and begin with this name, conformance apart."""


def test_its_own_tests_pass(tmp_path: Path) -> None:
    """On Hive 4.0.1, which has no `get_table` any more, 12 of these 15 fail."""
    with serving(tmp_path) as port:
        places = {"TEST_HIVE_URI": f"thrift://127.0.0.1:{port}", "TEST_TABLE_LOCATION": f"file://{tmp_path}/elsewhere"}
        command = [str(programs.built() / "catalog_tests"), "-test.v", "-test.run", "Integration|Conformance"]
        done = subprocess.run(command, env=places, capture_output=True, text=True, check=False, timeout=300)
    assert "--- FAIL" not in done.stdout, done.stdout
    assert "--- SKIP" not in done.stdout, done.stdout
    assert len(re.findall(r"^--- PASS: TestHiveIntegration", done.stdout, re.MULTILINE)) == INTEGRATION_TESTS
    assert "--- PASS: TestHiveCatalogConformance" in done.stdout


def test_a_session_answers_as_on_hive(tmp_path: Path, postgres_server: str) -> None:
    """With four writers that commit to one table at once; Hive needs PostgreSQL for their locks."""
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"hive.metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with fresh_database(postgres_server) as url, hive("2.3", tmp_path / "hive", where, database=url) as port:
        expected = programs.answers("session", port, tmp_path / "hive")
    with serving(tmp_path / "ours") as port:
        found = programs.answers("session", port, tmp_path / "ours")
    assert found == expected
    assert "rows: 20" in found


def test_statistics_answer_as_on_hive(tmp_path: Path, postgres_server: str) -> None:
    """Its client knows the calls of a Hive newer than 4.0.1. On Derby Hive aggregates in another way."""
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with fresh_database(postgres_server) as url, hive("4.0", tmp_path / "hive", where, database=url) as port:
        expected = programs.answers("statistics", port, tmp_path / "hive")
    with serving(tmp_path / "ours") as port:
        found = programs.answers("statistics", port, tmp_path / "ours")
    assert found == expected
    assert [line for line in found if "error" in line] == [
        'read an absent table\'s: "error: *hive_metastore.NoSuchObjectException"'
    ]
