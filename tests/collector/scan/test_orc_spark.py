"""ORC files are read directly, or by Spark where its values may be others: the statistics are those of Spark's rows."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc
from tests.collector.checks import check_all

from hmstats import collector
from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.errors import UnreadableFile
from hmstats.model.statistics.column_statistics import DateStatistics

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DIRECT = {
    "narrower, another case": ("n BIGINT", pa.table({"N": pa.array([1, -2, None], pa.int16())})),
    "older than a column": ("n BIGINT, added STRING", pa.table({"n": pa.array([1, 2], pa.int64())})),
    "chars": ("c CHAR(4), v VARCHAR(3)", pa.table({"c": ["a", "bc", None], "v": ["a", "bc", None]})),
}
BY_SPARK = {
    "without names": ("n BIGINT, t STRING", pa.table({"_col0": [1, 2], "_col1": ["a", None]})),
    "long ago": ("d DATE", pa.table({"d": pa.array([-200_000, 0], pa.int32()).cast(pa.date32())})),
    "before 1970": ("t TIMESTAMP", pa.table({"t": pa.array([-2_000_000, 2_500_000], pa.timestamp("us"))})),
    "another scale": ("p DECIMAL(12,2)", pa.table({"p": pa.array([1, 2], pa.int32()).cast(pa.decimal128(10, 0))})),
    "numbers as doubles": ("d DOUBLE", pa.table({"d": pa.array([1, 2], pa.int32())})),
}


@pytest.mark.parametrize("case", [*DIRECT, *BY_SPARK])
@pytest.mark.parametrize("clause", ["USING orc", "STORED AS orc"])
def test_statistics_are_those_of_sparks_rows(
    spark: Any, spark_metastore: str, tmp_path: Path, case: str, clause: str
) -> None:
    columns, rows = (DIRECT | BY_SPARK)[case]
    (tmp_path / "t").mkdir()
    orc.write_table(rows, str(tmp_path / "t" / "part-0.orc"))
    name = f"default.orc_{abs(hash((case, clause))) % 10**9}"
    place = f"LOCATION '{(tmp_path / 't').as_uri()}'"
    kind = "TABLE" if clause.startswith("USING") else "EXTERNAL TABLE"
    spark.sql(f"CREATE {kind} {name} ({columns}) {clause} {place}")
    try:
        report = collector.analyze(spark, name)
        found = spark.table(name).toArrow()
        types = dict(each.lower().split(" ") for each in columns.split(", ") if "DECIMAL" not in each)
        types |= {"p": "decimal(12,2)"} if "DECIMAL" in columns else {}
        with connect(spark_metastore) as service:
            (stored,) = service.statistics(service.existing_table(name).name, list(types))
        assert (report.rows, report.failed) == (found.num_rows, {})
        assert {each.column for each in stored.columns} == types.keys()
        check_all(sorted(stored.columns, key=lambda each: list(types).index(each.column)), found, types)
        assert (report.reads is None) is (case in BY_SPARK)
    finally:
        spark.sql(f"DROP TABLE {name}")


BY_POSITION = "orc.force.positional.evolution"


@pytest.mark.parametrize(
    "made",
    [
        f"USING orc OPTIONS('{BY_POSITION}' = 'true') LOCATION '{{place}}'",
        f"STORED AS orc LOCATION '{{place}}' TBLPROPERTIES('{BY_POSITION}' = 'true')",
        "USING orc LOCATION '{place}'",
    ],
    ids=["options", "parameters", "session"],
)
def test_columns_that_spark_finds_by_their_places(
    spark: Any, spark_metastore: str, tmp_path: Path, made: str, request: pytest.FixtureRequest
) -> None:
    """A column that was renamed in the metastore has values in files where it has its old name."""
    orc.write_table(pa.table({"old": [1, 2, 3]}), str(tmp_path / "part-0.orc"))
    name = f"default.orc_by_place_{request.node.callspec.id}"
    spark.sql(
        f"CREATE {'EXTERNAL ' * ('STORED' in made)}TABLE {name} (n BIGINT) {made.format(place=tmp_path.as_uri())}"
    )
    if BY_POSITION not in made:
        spark.conf.set(BY_POSITION, "true")
    try:
        assert spark.sql(f"SELECT count(n) FROM {name}").first()[0] == 3
        collector.analyze(spark, name)
        with connect(spark_metastore) as service:
            (found,) = service.table_statistics(service.existing_table(named_table(name, "default")).name, ["n"])
        assert (found.data.nulls, found.data.low, found.data.high) == (0, 1, 3)  # type: ignore[union-attr]
    finally:
        spark.conf.unset(BY_POSITION)
        spark.sql(f"DROP TABLE {name}")


def test_a_file_that_is_cut_off_is_named_with_the_reason(spark: Any, tmp_path: Path) -> None:
    name, file = "default.orc_cut_off", tmp_path / "part-0.orc"
    orc.write_table(pa.table({"n": range(10_000)}), str(file))
    file.write_bytes(file.read_bytes()[:100])
    spark.sql(f"CREATE EXTERNAL TABLE {name} (n BIGINT) STORED AS orc LOCATION '{tmp_path.as_uri()}'")
    try:
        with pytest.raises(
            UnreadableFile, match=r"file:/.*/part-0\.orc: Protocol message tag had invalid wire type\.$"
        ):
            collector.analyze(spark, name)
    finally:
        spark.sql(f"DROP TABLE {name}")


def test_partitions_are_read_in_the_way_of_each(spark: Any, spark_metastore: str, tmp_path: Path) -> None:
    """One of them alone has a day of another calendar, so that Spark reads it."""
    name = "default.orc_mixed"
    spark.sql(
        f"CREATE TABLE {name} (d DATE, k INT) USING orc PARTITIONED BY (k) LOCATION '{(tmp_path / 't').as_uri()}'"
    )
    try:
        spark.sql(f"INSERT INTO {name} VALUES (DATE'2020-01-01', 1), (DATE'2020-01-03', 1), (DATE'1400-01-02', 2)")
        report = collector.analyze(spark, name)
        assert (report.rows, report.partitions, report.failed, report.reads) == (3, 2, {}, None)
        with connect(spark_metastore) as service:
            table = service.existing_table(name).name
            (whole,) = service.table_statistics(table, ["d"])
            (first,), _ = service.aggregated_statistics(table, ["d"], ["k=1"])
        expected = spark.sql(f"SELECT unix_date(min(d)), unix_date(max(d)) FROM {name}").first()
        whole_data, first_data = whole.data, first.data
        assert isinstance(whole_data, DateStatistics)
        assert isinstance(first_data, DateStatistics)
        assert (whole_data.low, whole_data.high) == tuple(expected)
        assert (first_data.low, first_data.high) == (18262, 18264)
    finally:
        spark.sql(f"DROP TABLE {name}")
