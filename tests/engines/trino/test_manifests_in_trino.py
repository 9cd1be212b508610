"""A table whose data files are named by manifests, as Delta Lake writes them for Trino: analysed here, read there."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.test_planners import planner
from tests.peers import launch

from hmstats import collector

pytestmark = [
    pytest.mark.engines,
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="Trino comes from Maven, not found on this machine"),
]

DATABASE = "manifests_in_trino"


def test_trino_reads_the_rows_that_were_counted(spark: Any, spark_metastore: str, tmp_path: Path) -> None:
    try:
        launch.find_java(25, 99, None)
    except SystemExit as missing:
        pytest.skip(f"Trino: {missing}")
    pq.write_table(pa.table({"n": [1, 2, 2, 3], "s": ["a", "b", "b", "c"]}), tmp_path / "new.parquet")
    pq.write_table(pa.table({"n": [9], "s": ["old"]}), tmp_path / "old.parquet")
    manifest = tmp_path / "m/day=1/manifest"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(f"file:{tmp_path}/new.parquet\n")
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{(tmp_path / 'db').as_uri()}'")
    spark.sql(
        f"CREATE EXTERNAL TABLE {DATABASE}.t (n BIGINT, s STRING) PARTITIONED BY (day INT)"
        " ROW FORMAT SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe'"
        " STORED AS INPUTFORMAT 'org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat'"
        " OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat'"
        f" LOCATION 'file:{tmp_path}/m'"
    )
    spark.sql(f"MSCK REPAIR TABLE {DATABASE}.t")
    assert collector.analyze(spark, f"{DATABASE}.t").rows == 4
    headers = {"X-Trino-User": "peer", "X-Trino-Catalog": "hive", "X-Trino-Schema": DATABASE}
    with planner("trino", int(spark_metastore.rsplit(":", 1)[1]), tmp_path) as url:
        port = int(url.rsplit(":", 1)[1])
        rows = launch.query(port, "SELECT count(*), min(n), max(n), count(DISTINCT s) FROM t", headers, 600)
        assert rows == [[4, 1, 3, 3]]
        shown = {row[0]: row[1:7] for row in launch.query(port, "SHOW STATS FOR t", headers, 600)}
    assert shown["n"] == [None, 3.0, 0.0, None, "1", "3"]
    assert shown["s"][1:3] == [3.0, 0.0]
    assert shown[None][3] == 4.0
