"""A session of Paimon's catalog in Flink on a real Hive Metastore and on ours: every statement answers the same.

The catalog locks its tables through the metastore, and stores the partitions of some of them there.
"""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures import java_peers
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers.sessions import flink_session

from hmstats.client import connect
from hmstats.collector.dry_run import dry_run
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

STATEMENTS = Path(__file__).with_name("flink_paimon_session.sql")
Answers = list[dict[str, Any]]
REFUSED = ["CREATE DATABASE", "CREATE TABLE", *["ANALYZE TABLE"] * 2, "SELECT *", "DROP DATABASE", "DROP TABLE"]
"""The first words of the statements that fail on both, in their order."""


def answers(port: int, folder: Path, warehouse: str) -> Answers:
    place = f"file:{folder}/{warehouse}"
    return flink_session.answers(
        f"thrift://127.0.0.1:{port}", folder, STATEMENTS.read_text(), "judged", warehouse=place
    )


def test_every_statement_answers_as_on_hive(tmp_path: Path) -> None:
    """Hive 3.1's client is Flink's. On ours the tables lie in another folder than the server's warehouse."""
    java_peers.need("Flink 1.20", 17, 17)
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with hive("3.1", tmp_path / "hive", where) as port:
        expected = answers(port, tmp_path / "hive", "warehouse")
    with serving(tmp_path / "ours") as port:
        found = answers(port, tmp_path / "ours", "elsewhere")
        with connect(f"thrift://127.0.0.1:{port}") as service:
            assert service.partition_names("judged.u") == ["dd=1", "dd=3"]
            for table in ("u", "k"):
                with pytest.raises(StatementError, match=f"judged.{table} is of the format Paimon, which is not"):
                    dry_run(service, Statement(TableName("hive", "judged", table)))
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []
    assert [" ".join(each["sql"].split()[:2]) for each in found if "error" in each] == REFUSED
