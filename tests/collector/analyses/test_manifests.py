"""Tables whose folder has manifests, which name the data files, as Delta Lake writes them for Trino."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from hmstats import collector
from hmstats.client import connect
from hmstats.collector.scan import scan
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName

pytestmark = pytest.mark.spark

DATABASE = "by_manifest"
ROWS = pa.table({"n": pa.array([1, 2, 2, None], pa.int64()), "s": ["a", "b", "b", "c"]})
FORMATS = {
    "parquet": "SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe'",
    "orc": "SERDE 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'",
    "csv": "DELIMITED FIELDS TERMINATED BY ',' NULL DEFINED AS ''",
}


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp(DATABASE).as_uri()}'")


def create(
    spark: Any, table: str, folder: Path, form: str = "parquet", *, columns: str = "n BIGINT, s STRING", keys: str = ""
) -> str:
    """The name of a new table whose files are named by the manifests in a folder."""
    spark.sql(
        f"CREATE EXTERNAL TABLE {DATABASE}.{table} ({columns}) {keys} ROW FORMAT {FORMATS[form]}"
        " STORED AS INPUTFORMAT 'org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat'"
        " OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat'"
        f" LOCATION '{folder.as_uri()}'"
    )
    return f"{DATABASE}.{table}"


def write(path: Path, rows: pa.Table = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".parquet":
            pq.write_table(rows, path)
        case ".orc":
            orc.write_table(rows, path)
        case _:
            path.write_text(
                "".join(f"{'' if n is None else n},{s}\n" for n, s in zip(*rows.to_pydict().values(), strict=True))
            )
    return path


def name(manifest: Path, *files: Path | str) -> Path:
    """Write a manifest that names files."""
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text("".join(f"{each if isinstance(each, str) else f'file:{each}'}\n" for each in files))
    return manifest


@pytest.mark.parametrize("form", FORMATS)
def test_the_files_that_are_named_are_the_tables(spark: Any, spark_metastore: str, tmp_path: Path, form: str) -> None:
    """The folder of the files has an older one too, which is not the table's any more."""
    one, other = write(tmp_path / f"data/1.{form}"), write(tmp_path / f"data/deep/2.{form}")
    write(tmp_path / f"data/older.{form}")
    folder = tmp_path / "_symlink_format_manifest"
    name(folder / "manifest", one, str(other))
    table = create(spark, f"whole_{form}", folder, form)
    report = collector.analyze(spark, table)
    size = one.stat().st_size + other.stat().st_size
    assert (report.rows, report.files, report.bytes) == (8, 2, size)
    assert report.whole is not None
    columns: Any = report.whole.columns
    assert {each.column: (each.data.nulls, each.data.ndv) for each in columns} == {"n": (2, 2), "s": (0, 3)}
    with connect(spark_metastore) as service:
        found = service.find_table(TableName("hive", DATABASE, f"whole_{form}"))
    assert found is not None
    assert (found.parameters["numRows"], found.parameters["totalSize"]) == ("8", str(size))
    assert collector.check(spark, table, sample_fraction=1).wrong == ()
    assert collector.analyze(spark, table, changed_only=True).unchanged == 1
    assert collector.analyze(spark, table, noscan=True).bytes == size
    name(folder / "manifest", other)
    again = collector.analyze(spark, table, changed_only=True)
    assert (again.unchanged, again.rows) == (0, 4)


def test_partitions_have_manifests_of_their_own(spark: Any, tmp_path: Path) -> None:
    for day in (1, 2):
        name(tmp_path / f"m/day={day}/manifest", *(write(tmp_path / f"day={day}/{n}.parquet") for n in range(day)))
    table = create(spark, "parted", tmp_path / "m", keys="PARTITIONED BY (day INT)")
    spark.sql(f"MSCK REPAIR TABLE {table}")
    report = collector.analyze(spark, table)
    assert (report.rows, report.files, report.failed) == (12, 3, {})


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("file:/nowhere/1.parquet", r"manifest \S+/manifest names file:/nowhere/1.parquet, which does not exist"),
        ("s3://bucket/1.parquet", r"names s3://bucket/1.parquet, which is not in the store of file:"),
        ("1.parquet", "names 1.parquet, which is not in the store of file:"),
        ("\udcff", "must be a text with the place of a data file in each line"),
    ],
)
def test_a_manifest_that_names_nothing_is_named(
    spark: Any, spark_metastore: str, tmp_path: Path, named: str, reason: str
) -> None:
    manifest = name(tmp_path / "m/manifest")
    manifest.write_bytes(named.encode(errors="surrogateescape"))
    table = create(spark, f"wrong_{abs(hash(named))}", tmp_path / "m")
    with pytest.raises(StatementError, match=reason):
        collector.analyze(spark, table)


def test_an_empty_manifest_is_an_empty_table(spark: Any, tmp_path: Path) -> None:
    name(tmp_path / "m/manifest", write(tmp_path / "1.parquet", ROWS.slice(0, 0)))
    (tmp_path / "m/empty").touch()
    report = collector.analyze(spark, create(spark, "without_rows", tmp_path / "m"))
    assert (report.rows, report.failed) == (0, {})


def test_times_of_orc_that_neither_reader_knows_are_refused(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("SELECT 1L AS n, TIMESTAMP '2020-01-01 00:00:00' AS t").write.orc((tmp_path / "data").as_uri())
    name(tmp_path / "m/manifest", *(tmp_path / "data").glob("*.orc"))
    table = create(spark, "times", tmp_path / "m", "orc", columns="n BIGINT, t TIMESTAMP")
    monkeypatch.setattr(scan, "_is_in_utc", lambda _: False)
    with pytest.raises(StatementError, match=r"table by_manifest.times names its files of ORC in manifests"):
        collector.analyze(spark, table)
    assert collector.analyze(spark, table, columns=["n"]).rows == 1
    monkeypatch.undo()
    report = collector.analyze(spark, table)
    assert (report.rows, report.failed) == (1, {})
