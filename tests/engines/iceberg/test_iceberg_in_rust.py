"""Iceberg's Rust library and the client below it, on real Hive Metastores and on ours: every answer is the same."""

from pathlib import Path

import pytest
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers.rust_clients import programs

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]


@pytest.mark.parametrize("release", ["2.3", "3.1"])
def test_a_session_answers_as_on_hive(tmp_path: Path, postgres_server: str, release: str) -> None:
    """On ours over both transports, of which a Hive has one at a time. On Derby Hive aggregates in another way."""
    (tmp_path / "hive").mkdir()
    where = f"hive.metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with fresh_database(postgres_server) as url, hive(release, tmp_path / "hive", where, database=url) as port:
        expected = programs.answers(port, tmp_path / "hive")
    for transport in ("buffered", "framed"):
        folder = tmp_path / transport
        folder.mkdir()
        with serving(folder) as port:
            assert programs.answers(port, folder, transport) == expected
    assert any(line.startswith("their aggregate: ([ColumnStatisticsObj") for line in expected)
