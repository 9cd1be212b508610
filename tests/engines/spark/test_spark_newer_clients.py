"""Spark with the client of Hive 3.1.3 and of 4.0.1 (`spark.sql.hive.metastore.version`) instead of its built-in one.

Each statement answers as on the real Hive Metastore of that release. On ours the tables lie in another folder than the
server's warehouse.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.engines.spark.test_spark import BETTER, STATEMENTS, Answers, session
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers.hive_engine import jars

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

NOT_OURS = ("numFilesErasureCoded=0, ", ", numFilesErasureCoded=0")
"""What Hive 4 counts by listing a table's directory."""


def with_client(release: str, port: int, warehouse: Path) -> Answers:
    """What Spark answers with this release's client, at a metastore."""
    conf = {
        "spark.sql.hive.metastore.version": jars.RELEASES[release],
        "spark.sql.hive.metastore.jars": "path",
        "spark.sql.hive.metastore.jars.path": ",".join(map(_place, jars.engine(release))),
    }
    return session(f"thrift://127.0.0.1:{port}", warehouse, "clienttest", conf=conf)


def _place(entry: str) -> str:
    """An entry of a class path as Spark names it: a jar, all jars of a folder, or a folder of classes."""
    if entry.endswith("/*"):
        return f"file://{entry}.jar"
    return f"file://{entry}" if entry.endswith(".jar") else f"file://{entry}/"


def _comparable(answers: Answers) -> list[tuple[Any, Any, str]]:
    found = []
    for each in answers.values():
        rows = str(sorted(each["rows"], key=str) if each["sql"].startswith("SHOW TABLES") else each["rows"])
        for part in NOT_OURS:
            rows = rows.replace(part, "")
        found.append((each["sql"], each["error"], rows))
    return found


@pytest.mark.parametrize("release", ["3.1", "4.0"])
def test_every_statement_answers_as_on_its_hive(release: str, tmp_path: Path, postgres_server: str) -> None:
    """Hive 4 is told to leave managed tables managed, as Spark makes them."""
    if shutil.which("mvn") is None:
        pytest.skip("Hive's clients come from Maven, not found on this machine")
    for each in ("hive", "ours"):
        (tmp_path / each).mkdir()
    settings = [f"metastore.warehouse.dir=file:{tmp_path}/hive/warehouse", "metastore.metadata.transformer.class= "]
    with fresh_database(postgres_server) as url, hive(release, tmp_path / "hive", *settings, database=url) as port:
        expected = with_client(release, port, tmp_path / "hive" / "warehouse")
    with serving(tmp_path / "ours") as port:
        found = with_client(release, port, tmp_path / "ours" / "another")
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    pairs = zip(_comparable(expected), _comparable(found), strict=True)
    assert [(one, other) for one, other in pairs if one != other and one[0] not in BETTER] == []
