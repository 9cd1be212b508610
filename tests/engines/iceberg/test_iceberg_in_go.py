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


@pytest.mark.parametrize(
    ("program", "release", "refused"),
    [
        pytest.param("session", "2.3", 8, id="a session, with four writers that commit to one table at once"),
        pytest.param("statistics", "4.0", 1, id="statistics, by a client that knows the calls of a newer Hive"),
    ],
)
def test_every_step_answers_as_on_hive(
    program: str, release: str, refused: int, tmp_path: Path, postgres_server: str
) -> None:
    """On PostgreSQL: on Derby a Hive 2.3 has no locks, and a Hive 4 aggregates in another way."""
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"hive.metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with fresh_database(postgres_server) as url, hive(release, tmp_path / "hive", where, database=url) as port:
        expected = programs.answers(program, port, tmp_path / "hive")
    with serving(tmp_path / "ours") as port:
        found = programs.answers(program, port, tmp_path / "ours")
    assert found == expected
    assert len([line for line in found if '"error: ' in line]) == refused
