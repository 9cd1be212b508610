"""What Spark writes is read as Spark reads it, by both feeds, and partitions of several formats make one table."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.collector.checks import check_all, comparable
from tests.collector.data import TYPES, rows
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.collector import analyze
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import data_files
from hmstats.collector.scan import dataframe, file_rows
from hmstats.collector.scan.files.splits import Split
from hmstats.collector.scan.states import States
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import Data
from hmstats.sketch.accumulator import TableAccumulator

pytestmark = pytest.mark.spark

WRITERS = [
    {},
    {"spark.sql.parquet.outputTimestampType": "INT96"},
    {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
    {"spark.sql.parquet.writeLegacyFormat": "true", "parquet.enable.dictionary": "false"},
]


@pytest.mark.parametrize("conf", WRITERS, ids=["default", "int96", "millis", "legacy"])
@pytest.mark.slow
def test_files_of_spark(spark: Any, tmp_path: Path, conf: dict[str, str]) -> None:
    table = rows()
    written = spark.createDataFrame(table)
    for name, value in conf.items():
        spark.conf.set(name, value)
    try:
        written.coalesce(1).write.option("parquet.block.size", 64 * 1024).parquet(str(tmp_path / "t"))
    finally:
        for name in conf:
            spark.conf.unset(name)
    (file,) = data_files(str(tmp_path / "t"))
    from_files = file_rows.accumulate([Split("", str(tmp_path / "t"), file.path, None, file.bytes)], TYPES)
    if "MILLIS" not in str(conf):
        check_all(from_files.statistics(TYPES), table)
    from_rows = States(TYPES)
    from_rows.merge(dataframe.states(spark.read.parquet(str(tmp_path / "t")), (), TYPES).collect())
    check_alike(from_files, from_rows.total())


@pytest.mark.slow
def test_a_partition_that_is_no_parquet_is_read_by_spark(spark: Any, spark_metastore: str) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS mixed")
    spark.sql("CREATE TABLE mixed.t (c char(4), d decimal(38,2), s string) PARTITIONED BY (k string) STORED AS PARQUET")
    spark.sql("INSERT INTO mixed.t PARTITION (k = 'a/b') VALUES ('x', 1.50, ''), ('yy', -2, null)")
    spark.sql("INSERT INTO mixed.t PARTITION (k = null) VALUES ('zzz', 3, 'ü')")
    spark.sql("ALTER TABLE mixed.t ADD PARTITION (k = 'text')")
    name = TableName("hive", "mixed", "t")
    as_text(int(spark_metastore.rpartition(":")[2]))
    with connect(spark_metastore) as service:
        (text,) = service.partitions(name, ["k=text"])
        assert text.storage is not None
        place = Path((text.storage.location or "").removeprefix("file:"))
        place.mkdir(exist_ok=True)
        (place / "rows.txt").write_text("w\x0199.99\x01text\n")
        report = analyze(spark, "mixed.t")
        assert (report.rows, report.partitions) == (4, 3)
        partitions = ["k=a%2Fb", "k=text", "k=__HIVE_DEFAULT_PARTITION__"]
        found = {
            str(each.partition): {column.column: vars_of(column.data) for column in each.columns}
            for each in service.partition_statistics(name, ["c", "d", "s"], partitions)
        }
        assert sorted(found) == sorted(partitions)
        highs = {partition: found[partition]["d"]["high"] for partition in partitions}
        assert highs == dict(zip(partitions, [Decimal("1.50"), Decimal("99.99"), Decimal("3.00")], strict=True))
        assert {each["c"]["max_length"] for each in found.values()} == {4}


@pytest.mark.slow
def test_a_sample_knows_its_size(spark: Any, spark_metastore: str) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS sampled")
    frame = spark.range(20_000).selectExpr("id", "IF(id % 4 = 0, NULL, id) AS n").coalesce(1)
    frame.write.option("parquet.block.size", 16 * 1024).saveAsTable("sampled.t")
    report = analyze(spark, "sampled.t", options=Options(sample_fraction=0.2))
    assert report.rows == 20_000
    with connect(spark_metastore) as service:
        made = {each.column: each.provenance for each in service.provenance(TableName("hive", "sampled", "t"))}
        fraction = made["n"].sample_fraction or 0
        assert made["n"].exact is False
        assert made["n"].rows_seen == pytest.approx(fraction * 20_000)
        assert 0.2 <= fraction < 1
        found = service.table_statistics(TableName("hive", "sampled", "t"), ["n"])
        assert found[0].data.nulls == pytest.approx(5000, rel=0.01)


def vars_of(data: Data) -> dict[str, Any]:
    return {name: getattr(data, name) for name in data.__dataclass_fields__}


def as_text(port: int) -> None:
    """Say in the metastore that the partition k=text is text."""
    metastore = Metastore("", port, 4.0, database="mixed")
    with metastore.clients:
        ask = metastore.client()
        partition = ask.get_partition("mixed", "t", ["text"])
        partition.sd.inputFormat = "org.apache.hadoop.mapred.TextInputFormat"
        partition.sd.outputFormat = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
        partition.sd.serdeInfo.serializationLib = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
        ask.alter_partition("mixed", "t", partition)


def check_alike(one: TableAccumulator, other: TableAccumulator) -> None:
    assert one.rows == other.rows
    for found, expected in zip(one.statistics(TYPES), other.statistics(TYPES), strict=True):
        assert comparable(found) == comparable(expected), found.column
