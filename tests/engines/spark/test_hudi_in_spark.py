"""One session of Hudi's tables in Spark on a real Hive Metastore and on ours: every statement answers the same.

Hudi tells the metastore of each commit by itself: partitions, columns, and two tables for one that is merged on read.
"""

import re
import shutil
from pathlib import Path

import pytest
from tests.engines.spark.sessions import older_spark
from tests.engines.spark.sessions.older_spark import Answers
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers.spark_jars import hudi_spark

from hmstats.client import connect
from hmstats.collector.dry_run import dry_run
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

STATEMENTS = Path(__file__).parent / "sessions" / "hudi_session.sql"
CONF = {
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
}
FAIL = ["INSERT INTO", "CALL show_commits(table", "DROP DATABASE"]
"""The first words of the statements that fail on both, in their order: the first has a key with a slash."""
_VARYING = ((re.compile(r"\b20\d{15}\b"), "TIME"), (re.compile(r"\b\d+ bytes"), "SIZE"))


def session(port: int, warehouse: Path) -> Answers:
    """What each statement answers, without times of commits and sizes of files."""
    parts = hudi_spark.fetched()
    found = older_spark.session(port, warehouse, STATEMENTS, parts.packages, [parts.jar], CONF)
    return [{**each, "rows": [[_blank(cell) for cell in row] for row in each["rows"]]} for each in found]


def _blank(cell: object) -> object:
    if isinstance(cell, str):
        for pattern, instead in _VARYING:
            cell = pattern.sub(instead, cell)
    return cell


def test_every_statement_answers_as_on_hive(tmp_path: Path) -> None:
    """Hive 2.3's client is Spark's. On ours the tables lie in another folder than the server's warehouse."""
    if shutil.which("mvn") is None:
        pytest.skip("Hudi's bundle comes from Maven, not found on this machine")
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"hive.metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with hive("2.3", tmp_path / "hive", where) as port:
        expected = session(port, tmp_path / "hive" / "warehouse")
    with serving(tmp_path / "ours") as port:
        found = session(port, tmp_path / "ours" / "elsewhere")
        with connect(f"thrift://127.0.0.1:{port}") as service:
            assert sorted(service.table_names("formats")) == ["m_ro", "m_rt", "t"]
            for table in ("m_ro", "m_rt", "t"):
                with pytest.raises(StatementError, match=f"formats.{table} is of the format Hudi, which is not"):
                    dry_run(service, Statement(TableName("hive", "formats", table)))
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []
    assert [" ".join(each["sql"].split()[:2]) for each in found if each["error"]] == FAIL
