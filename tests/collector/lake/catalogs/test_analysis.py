"""Analyses of Iceberg tables of SQL catalogs and REST catalogs: their distinct counts, and nothing else of a table."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.catalog.rest import TableResponse
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import IntegerType, LongType
from pyiceberg.utils.config import Config
from tests.collector.lake.catalogs.rest_server import RestServer, rest_server
from tests.collector.lake.iceberg.iceberg_tables import ROWS, counts_of, puffin_of
from tests.collector.lake.test_delta import stored
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.lake.catalogs.analysis import analyze_in_catalog
from hmstats.collector.lake.catalogs.named import NamedCatalog, open_catalog
from hmstats.collector.lake.catalogs.sql_pointer import SqlPointer
from hmstats.collector.lake.iceberg import table_files
from hmstats.collector.lake.iceberg.table_metadata import encode, entries, next_location
from hmstats.collector.options import Options
from hmstats.collector.report import Report
from hmstats.errors import AnalysisIncomplete, ServiceError, StatementError
from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.file import PuffinFile, write
from hmstats.outlets.puffin.snapshot import THETA, statistics_entry
from hmstats.sketch.distinct.theta import ThetaSketch

ALL = Options(puffin_columns="all")
ID, NAME, PRICE = 1, 2, 3
PARTLY_DONE, ERROR = 3, 2
TABLE = "outer.Inner.Events"
"""A name as a metastore has none: of two namespaces, and in upper case."""


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[SqlCatalog]:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("outer")
    catalog.create_namespace("outer.Inner")
    catalog.create_table(TABLE, schema=ROWS.schema).append(ROWS)
    yield catalog
    catalog.close()


@pytest.fixture
def server(tables: SqlCatalog) -> Iterator[RestServer]:
    with rest_server(tables) as server:
        yield server


@pytest.fixture(params=["sql", "rest"])
def name(request: pytest.FixtureRequest, tables: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a catalog in PyIceberg's configuration."""
    if request.param == "rest":
        _configure(monkeypatch, type="rest", uri=request.getfixturevalue("server").uri)
    else:
        _configure(monkeypatch, type="sql", uri=tables.properties["uri"])
    return "lake"


@pytest.fixture
def catalog(name: str) -> Iterator[NamedCatalog]:
    with closing(open_catalog(name)) as opened:
        yield opened


def _configure(monkeypatch: pytest.MonkeyPatch, **given: str) -> None:
    for key, value in given.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.upper()}", value)
    # PyIceberg reads its configuration once in a process.
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())


def analyzed(catalog: NamedCatalog, *, options: Options = ALL, **given: Any) -> Report:
    return analyze_in_catalog(catalog.table(TABLE), options=options, **given)


def metadata_of(tables: SqlCatalog) -> Any:
    return json.loads(Path(tables.load_table(TABLE).metadata_location.removeprefix("file://")).read_text())


def entry_of(tables: SqlCatalog) -> Any:
    metadata = metadata_of(tables)
    return entries(metadata)[metadata["current-snapshot-id"]]


def test_distinct_counts_are_registered_and_all_numbers_reported(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    before = metadata_of(tables)
    report = analyzed(catalog)
    after, entry = metadata_of(tables), entry_of(tables)
    assert counts_of(entry) == {ID: 1000, NAME: 45, PRICE: 1000}
    made = ThetaSketch()
    made.update(ROWS["name"])
    assert [each.content() for each in puffin_of(entry).blobs if each.fields == (NAME,)] == [made.to_bytes()]
    changed = {key for key in {*after, *before} if after.get(key) != before.get(key)}
    assert changed - {"last-updated-ms"} == {"statistics", "metadata-log"}
    assert report.puffin is not None
    assert (report.puffin.path, report.rows, str(report.table)) == (entry["statistics-path"], 1000, f"lake.{TABLE}")
    assert report.whole is not None
    found = {each.column: each for each in report.whole.columns}
    assert [found["name"].data.nulls, found["name"].data.max_length] == [100, 3]  # type: ignore[union-attr]
    tool = found["id"].provenance.tool if found["id"].provenance else ""
    assert tool.endswith(f"Iceberg snapshot {before['current-snapshot-id']}")  # type: ignore[union-attr]


def test_added_files_alone_are_read_of_a_changed_table(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    assert analyzed(catalog, changed_only=True).files == 1
    location = tables.load_table(TABLE).metadata_location
    assert analyzed(catalog, changed_only=True).unchanged == 1
    assert tables.load_table(TABLE).metadata_location == location
    more = ROWS.set_column(1, "name", pa.array([f"more {each % 70}" for each in range(1000)]))
    tables.load_table(TABLE).append(more)
    report = analyzed(catalog, changed_only=True)
    assert (report.files, report.rows, report.whole) == (1, 1000, None)
    assert counts_of(entry_of(tables)) == {ID: 1000, NAME: 115, PRICE: 1000}
    tables.load_table(TABLE).delete("Id < 500")
    assert analyzed(catalog, changed_only=True).rows == 1000
    assert counts_of(entry_of(tables))[NAME] == 45 + 70


def test_all_is_read_when_a_type_has_grown(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    """A sketch hashes an int and the same long to others."""
    tables.load_table(TABLE).update_schema().add_column("n", IntegerType()).commit()
    numbers = pa.array([each % 40 for each in range(1000)], pa.int32())
    tables.load_table(TABLE).append(ROWS.append_column("n", numbers))
    analyzed(catalog)
    tables.load_table(TABLE).update_schema().update_column("n", LongType()).commit()
    tables.load_table(TABLE).append(ROWS.append_column("n", numbers.cast(pa.int64())))
    assert analyzed(catalog, changed_only=True).rows == 3000
    assert counts_of(entry_of(tables)) == {ID: 1000, NAME: 45, PRICE: 1000, 4: 40}


def test_counts_of_dropped_columns_are_removed(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    analyzed(catalog)
    with tables.load_table(TABLE).update_schema() as update:
        update.delete_column("name")
        update.add_column("name", IntegerType())
    assert analyzed(catalog, options=Options(puffin_columns="id"), changed_only=True).unchanged == 0
    assert counts_of(entry_of(tables)) == {ID: 1000}


def test_a_commit_that_comes_in_between_stays(
    catalog: NamedCatalog, tables: SqlCatalog, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    read = metadata_of(tables)["current-snapshot-id"]
    left = [1, 2]

    def append() -> None:
        if left:
            left.pop()
            tables.load_table(TABLE).append(ROWS)

    if catalog.opened.properties["type"] == "rest":
        request.getfixturevalue("server").before_commit = append
    else:
        replace = SqlPointer.replace

        def replace_after_append(pointer: SqlPointer, before: str, after: str) -> bool:
            append()
            return replace(pointer, before, after)

        monkeypatch.setattr(SqlPointer, "replace", replace_after_append)
    analyzed(catalog)
    metadata = metadata_of(tables)
    assert (left, len(metadata["snapshots"]), tables.load_table(TABLE).scan().to_arrow().num_rows) == ([], 3, 3000)
    assert counts_of(entries(metadata)[read]) == {ID: 1000, NAME: 45, PRICE: 1000}
    folder = Path(metadata["location"].removeprefix("file://")) / "metadata"
    assert len([*folder.glob("*.stats")]) == 1  # those of the attempts before are removed


def test_a_snapshot_that_expired_has_no_file(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    table = catalog.table(TABLE)
    source = table.source()
    tables.load_table(TABLE).append(ROWS)
    tables.load_table(TABLE).maintenance.expire_snapshots().by_id(source.metadata["current-snapshot-id"]).commit()
    report = analyze_in_catalog(replace(table, source=lambda: source), options=ALL)
    assert report.puffin is not None
    assert "is no longer one of table outer.Inner.Events" in (report.puffin.reason or "")
    assert not metadata_of(tables).get("statistics")


def test_a_table_that_is_dropped_meanwhile_has_no_file(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    table = catalog.table(TABLE)
    source = table.source()
    tables.drop_table(TABLE)
    report = analyze_in_catalog(replace(table, source=lambda: source), options=ALL)
    assert report.puffin is not None
    assert report.puffin.reason == "table outer.Inner.Events is no longer one of Iceberg"


def test_other_engines_counts_stay(catalog: NamedCatalog, tables: SqlCatalog) -> None:
    _registered(tables, Blob(THETA, (PRICE,), 7, 1, b"theirs", properties={"ndv": "999"}))
    analyzed(catalog, options=Options())
    assert counts_of(entry_of(tables)) == {NAME: 45, PRICE: 999}


def test_blobs_of_hive_are_said_in_a_rest_catalog(tables: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"metadata": metadata_of(tables), "metadata-location": "file:/t"}
    hive = {"type": "ColumnStatisticsObj", "snapshot-id": 7, "sequence-number": 1, "fields": [1]}
    entry = {"snapshot-id": 7, "statistics-path": "file:/s", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}
    answer["metadata"]["statistics"] = [{**entry, "blob-metadata": [hive]}]

    def load(*_: object) -> None:
        TableResponse.model_validate(answer)

    with rest_server(tables) as server:
        _configure(monkeypatch, type="rest", uri=server.uri)
        with closing(open_catalog("lake")) as catalog:
            monkeypatch.setattr(catalog.opened, "load_table", load)
            with pytest.raises(StatementError, match=r"cannot answer for table .* 'apache-datasketches-theta-v1'"):
                analyzed(catalog)


def test_a_catalog_that_is_a_metastore_keeps_all_numbers(
    our_metastore: Metastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"thrift://127.0.0.1:{our_metastore.port}"
    _configure(monkeypatch, type="hive", uri=uri)
    name = f"{our_metastore.database}.t"
    warehouse = f"file://{tmp_path}/lake"
    HiveCatalog("lake", uri=uri, warehouse=warehouse).create_table(name, schema=ROWS.schema).append(ROWS)
    done = _command("--catalog", "lake", name)
    assert done.exit_code == 0, done.output
    with client.connect(uri) as service:
        assert stored(service, name, ["id"])["id"].data.ndv == 1000  # type: ignore[union-attr]


def test_blobs_of_hive_are_no_obstacle_in_a_sql_catalog(tables: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    hive = Blob("ColumnStatisticsObj", (1,), 7, 1, b"java", properties={"partition": "null"})
    _registered(tables, hive)
    _configure(monkeypatch, type="sql", uri=tables.properties["uri"])
    with closing(open_catalog("lake")) as catalog:
        pointer = SqlPointer(catalog.opened, tuple(TABLE.split(".")))
        analyzed(catalog)
        found = json.loads(Path(str(pointer.location()).removeprefix("file://")).read_text())
    blobs = puffin_of(found["statistics"][0]).blobs
    assert (blobs[-1], len(blobs)) == (hive, 4)


def test_version_3_is_registered_in_a_sql_catalog(tables: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = {**metadata_of(tables), "format-version": 3, "next-row-id": 1000}
    _committed(tables, metadata)
    _configure(monkeypatch, type="sql", uri=tables.properties["uri"])
    with closing(open_catalog("lake")) as catalog:
        analyzed(catalog)
    assert metadata_of(tables)["format-version"] == 3
    assert counts_of(entry_of(tables))[NAME] == 45


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_lost_answer_is_asked_for(
    tables: SqlCatalog, server: RestServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    _configure(monkeypatch, type="rest", uri=server.uri)
    with closing(open_catalog("lake")) as catalog:
        server.answers = [status]
        report = analyzed(catalog)
    assert report.puffin is not None
    assert (entry_of(tables)["statistics-path"], server.answers) == (report.puffin.path, [])


def test_what_cannot_be_analysed_is_said(
    catalog: NamedCatalog, tables: SqlCatalog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StatementError, match=r"catalog lake has no table outer\.none"):
        analyze_in_catalog(catalog.table("outer.none"))
    with pytest.raises(StatementError, match=r"must be named as DB\.TABLE, found 'none'"):
        catalog.table("none")
    with pytest.raises(StatementError, match=r"has no column none, only id, name, price"):
        analyzed(catalog, columns=["none"])
    files = tables.load_table(TABLE).inspect.files()["file_path"].to_pylist()
    monkeypatch.setattr(table_files, "write_new", _full)
    with pytest.raises(AnalysisIncomplete, match=r"the Puffin file: the disk is full"):
        analyzed(catalog)
    assert all(Path(each.removeprefix("file://")).exists() for each in files)
    assert not metadata_of(tables).get("statistics")


def test_a_catalog_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StatementError, match=r"catalog nowhere cannot answer for its configuration: URI missing"):
        open_catalog("nowhere")
    _configure(monkeypatch, type="rest", uri="http://127.0.0.1:1")
    with pytest.raises(ServiceError, match=r"catalog lake failed at its configuration"):
        open_catalog("lake")


def test_the_command(name: str, tables: SqlCatalog, tmp_path: Path) -> None:
    tables.create_table("outer.Inner.other", schema=ROWS.schema.append(pa.field("tags", pa.list_(pa.string()))))
    log = tmp_path / "log"
    done = _command("--catalog", name, "--json", "--job-log", str(log), "outer.Inner.*")
    assert done.exit_code == PARTLY_DONE, done.output
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["table"], first["catalog"], first["puffin_columns"]) == (TABLE, "lake", ["name"])
    assert (second["rows"], list(second["skipped"])) == (0, ["tags"])
    assert len(log.read_text().splitlines()) == 2
    done = _command("--catalog", name, TABLE)
    assert (done.exit_code, "catalog lake keeps distinct counts alone" in done.stdout) == (0, True), done.output
    done = _command("--catalog", name, "--where", "a = 1", "--spool", "x", TABLE)
    assert isinstance(done.exception, StatementError)
    assert "tables of catalog lake take no --where, --spool" in str(done.exception)
    for option in ("--reliable", "--master=local", "--conf=a=b"):
        done = _command("--catalog", name, option, TABLE)
        assert f"take no {option.partition('=')[0]}" in str(done.exception), done.output
    done = _command("--catalog", name, "--metastore", "thrift://localhost:9083", TABLE)
    assert "catalog lake says where its tables are: leave out --metastore" in str(done.exception)


def test_the_command_closes_the_catalog(tables: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    _configure(monkeypatch, type="sql", uri=tables.properties["uri"])
    closed = list[str]()
    close = SqlCatalog.close

    def closing_noted(catalog: SqlCatalog) -> None:
        closed.append(catalog.name)
        close(catalog)

    monkeypatch.setattr(SqlCatalog, "close", closing_noted)
    for table in (TABLE, "outer.Inner.none"):
        _command("--catalog", "lake", table)
    assert closed == ["lake", "lake"]


def _command(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["analyze", *arguments])


def _full(*_: Any) -> None:
    raise OSError("the disk is full")


def _registered(tables: SqlCatalog, blob: Blob) -> None:
    """Register a file with a blob for the current snapshot, as another engine does."""
    metadata = metadata_of(tables)
    path = f"{metadata['location']}/metadata/theirs.stats"
    written = write(PuffinFile((blob,), {"created-by": "another engine"}))
    Path(path.removeprefix("file://")).write_bytes(written.data)
    entry = statistics_entry(written, (blob,), path, metadata["current-snapshot-id"])
    _committed(tables, {**metadata, "statistics": [json.loads(json.dumps(entry))]})


def _committed(tables: SqlCatalog, metadata: Any) -> None:
    """Make this the table's metadata."""
    pointer = SqlPointer(tables, tuple(TABLE.split(".")))
    before = str(pointer.location())
    after = next_location(metadata, before)
    Path(after.removeprefix("file://")).write_bytes(encode(metadata))
    assert pointer.replace(before, after)
