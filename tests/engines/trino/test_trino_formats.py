"""Tables that Trino writes in each of its formats: what an analysis stores is what Trino reads."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.engines.test_planners import planner
from tests.peers import launch

from hmstats import collector
from hmstats.client import connect
from hmstats.errors import UnreadableFile
from hmstats.model.catalog.objects import TableName

pytestmark = [
    pytest.mark.engines,
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="Trino comes from Maven, not found on this machine"),
]

DATABASE = "trino_formats"
FORMATS = ["PARQUET", "ORC", "AVRO", "RCBINARY", "RCTEXT", "SEQUENCEFILE", "TEXTFILE", "CSV"]
TYPED = """
SELECT * FROM (VALUES
  (BIGINT '-9', INTEGER '7', TINYINT '-128', DOUBLE '0.1', REAL '1.5', DECIMAL '12.34', true, 'x', DATE '1999-12-31'),
  (BIGINT '9223372036854775807', 7, 127, -0.25, 2.5, 0.01, false, '', DATE '2024-02-29'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (BIGINT '0', -1, 0, 1e300, -3.5, -12.34, true, 'a,"b"', DATE '1970-01-01'))
AS t(n, i, y, f, r, m, b, s, d)"""
TEXTS = """
SELECT CAST(n AS varchar) AS n, CAST(s AS varchar) AS s
FROM (VALUES ('1', 'a,"b"'), ('2', ''), ('2', 'ünï')) AS t(n, s)"""


@dataclass(frozen=True, slots=True)
class Trino:
    """A Trino whose catalog is the session's metastore."""

    port: int

    def ask(self, sql: str) -> list[Any]:
        """The rows of a statement."""
        headers = {"X-Trino-User": "peer", "X-Trino-Catalog": "hive", "X-Trino-Schema": DATABASE}
        return launch.query(self.port, sql, headers, 600)


@pytest.fixture(scope="module")
def trino(spark_metastore: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    try:
        launch.find_java(25, 99, None)
    except SystemExit as missing:
        pytest.skip(f"Trino: {missing}")
    folder: Path = tmp_path_factory.mktemp("trino-formats")
    with planner("trino", int(spark_metastore.rsplit(":", 1)[1]), folder) as url:
        found = Trino(int(url.rsplit(":", 1)[1]))
        found.ask(f"CREATE SCHEMA {DATABASE} WITH (location = 'file:{folder}/tables')")
        yield found


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_stored_is_what_trino_reads(trino: Trino, spark: Any, spark_metastore: str, form: str) -> None:
    table = form.lower()
    trino.ask(f"CREATE TABLE {table} WITH (format = '{form}') AS {TEXTS if form == 'CSV' else TYPED}")
    report = collector.analyze(spark, f"{DATABASE}.{table}")
    assert report.rows == trino.ask(f"SELECT count(*) FROM {table}")[0][0]
    with connect(spark_metastore) as service:
        found = service.existing_table(TableName("hive", DATABASE, table))
        names = [each.name for each in found.storage.columns] if found.storage else []
        stored: dict[str, Any] = {
            each.column: each.data for each in service.table_statistics(f"{DATABASE}.{table}", names)
        }
    assert sorted(stored) == sorted(names)
    for name in names:
        query = f"SELECT count(*) - count({name}), count(DISTINCT {name}), min({name}), max({name}) FROM {table}"
        ((nulls, distinct, low, high),) = trino.ask(query)
        assert stored[name].nulls == nulls, name
        assert getattr(stored[name], "ndv", distinct) == distinct, name
        if isinstance(low, int) and name != "b":
            assert (stored[name].low, stored[name].high) == (low, high), name


@pytest.mark.parametrize("form", ["JSON", "OPENX_JSON"])
def test_json_needs_a_jar_that_spark_lacks(trino: Trino, spark: Any, form: str) -> None:
    trino.ask(f"CREATE TABLE {form} WITH (format = '{form}') AS {TYPED}")
    with pytest.raises(UnreadableFile, match="none of its columns: the class of its SerDe is in no jar"):
        collector.analyze(spark, f"{DATABASE}.{form.lower()}")
