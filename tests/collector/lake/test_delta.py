"""Tables of Delta Lake: their rows, columns and files by the log, their statistics where all others are."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.collector.lake.delta_tables import ROWS, registered, written
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.delivery.deliver import Delivery, new_run
from hmstats.collector.dry_run import dry_run
from hmstats.collector.lake.analysis import analyze_lake
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.locked import LOCKED
from hmstats.collector.report import Report
from hmstats.collector.request.statement import statement
from hmstats.errors import SettingsError, StatementError, UnreadableFile
from hmstats.model.catalog.objects import DatabaseName, Table
from hmstats.model.spark.spark_schema import LOG_SCHEMA, data_columns
from hmstats.model.statistics.answers import RowCount
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.statistics_locks import LockedObject

COLUMNS = ["id", "name", "p", "day", "at", "price", "flag", "raw"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "with a space")


def table_of(service: client.Metastore, name: str) -> Table:
    found = service.find_table(statement(name).table)
    assert found is not None
    return found


def analyzed(
    service: client.Metastore,
    name: str,
    *,
    options: Options = DEFAULT,
    changed_only: bool = False,
    noscan: bool = False,
    columns: list[str] | None = None,
    past_locks: bool = False,
    own_commits: int | None = None,
) -> Report:
    table = table_of(service, name)
    assert is_lake_table(table)
    delivery = Delivery(table.name, (), service.address, new_run(), None, 5.0, past_locks=past_locks)
    request = statement(name, noscan=noscan, columns=columns)
    return analyze_lake(
        service,
        table,
        request,
        options,
        delivery,
        changed_only=changed_only,
        row_counts=True,
        own_commits=own_commits,
    )


def stored(service: client.Metastore, name: str, columns: list[str]) -> dict[str, ColumnStatistics]:
    return {each.column: each for each in service.table_statistics(statement(name).table, columns)}


def test_all_columns_of_the_log_have_statistics_of_the_live_rows(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    report = analyzed(service, name)
    live = pa.concat_tables([ROWS.slice(10), ROWS.slice(10)])
    assert (report.rows, list(report.skipped)) == (live.num_rows, ["tags"])
    found = stored(service, name, COLUMNS)
    assert list(found) == COLUMNS
    assert [(each.column_type, each.data.nulls) for each in found.values()] == [
        ("bigint", 0),
        ("string", live["name"].null_count),
        ("int", 0),
        ("date", 0),
        ("timestamp", 0),
        ("decimal(9,2)", 0),
        ("boolean", live["flag"].null_count),
        ("binary", 0),
    ]
    numbers = {name: found[name].data for name in ("id", "p")}
    assert [(each.low, each.high) for each in numbers.values()] == [(10, 999), (0, 2)]  # type: ignore[union-attr]
    assert (found["p"].data.ndv, found["name"].data.ndv) == (3, 45)  # type: ignore[union-attr]
    assert found["flag"].data.trues == 990  # type: ignore[union-attr]


def test_counts_and_the_log_s_schema_stand_in_the_table(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name)
    table, log = table_of(service, name), DeltaTable(folder)
    files = pa.table(log.get_add_actions())
    assert {key: table.parameters[key] for key in ("numRows", "numFiles", "totalSize")} == {
        "numRows": "1980",
        "numFiles": str(files.num_rows),
        "totalSize": str(sum(files["size_bytes"].to_pylist())),
    }
    assert table.parameters[LOG_SCHEMA] == log.schema().to_json()
    assert [each.name for each in data_columns(table)] == [*COLUMNS, "tags"]
    assert sum(1 for _ in folder.rglob("*.parquet")) > files.num_rows


def test_locked_statistics_are_left_out_unless_told_otherwise(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name)
    before = stored(service, name, COLUMNS)
    of = LockedObject(DatabaseName("hive", our_metastore.database), table_of(service, name).name.table)
    service.locks.lock(replace(of, columns=("id",)))
    write_deltalake(folder, ROWS.slice(0, 10), mode="append")
    assert analyzed(service, name).skipped["id"] == LOCKED
    now = stored(service, name, COLUMNS)
    assert (now["id"].data, now["flag"].data != before["flag"].data) == (before["id"].data, True)
    service.locks.lock(of)
    with pytest.raises(StatementError, match=r"are locked: .*; --past-locks writes them too"):
        analyzed(service, name)
    report = analyzed(service, name, changed_only=True)
    assert (report.rows, report.whole, "is locked" in (report.left or "")) == (0, None, True)
    assert stored(service, name, COLUMNS) == now
    analyzed(service, name, past_locks=True)
    assert stored(service, name, ["id"])["id"].data != before["id"].data


def test_spark_is_shown_the_statistics_under_its_own_names(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name)
    spark = our_metastore.client()
    spark.set_ugi("spark", [])
    shown = spark.get_table(our_metastore.database, "t").parameters
    assert shown["spark.sql.statistics.numRows"] == "1980"
    assert shown["spark.sql.statistics.colStats.Id.max"] == "999"
    assert shown["spark.sql.statistics.colStats.p.distinctCount"] == "3"


def test_the_version_that_was_read_is_in_the_provenance(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name, columns=["id"])
    (found,) = service.provenance(statement(name).table, ["id"])
    assert found.provenance is not None
    assert (found.provenance.tool or "").endswith(f", Delta Lake version {DeltaTable(folder).version()}")
    assert found.provenance.rows_seen == 1980


def test_only_a_new_version_is_read_again(our_metastore: Metastore, service: client.Metastore, folder: Path) -> None:
    name = registered(our_metastore, folder)
    assert analyzed(service, name, changed_only=True).rows == 1980
    assert analyzed(service, name, changed_only=True).unchanged == 1
    write_deltalake(folder, ROWS.slice(0, 10), mode="append")
    assert analyzed(service, name, changed_only=True).rows == 1990
    assert analyzed(service, name, changed_only=True, options=Options.bounds_only()).unchanged == 0


def test_statistics_that_somebody_deleted_are_made_again(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name)
    service.delete_statistics(statement(name).table, ["p"])
    assert analyzed(service, name, changed_only=True).rows == 1980
    assert list(stored(service, name, COLUMNS)) == COLUMNS
    assert analyzed(service, name, changed_only=True).unchanged == 1


def test_a_count_is_never_exact(our_metastore: Metastore, service: client.Metastore, folder: Path) -> None:
    """Writers of Delta Lake tell a metastore nothing."""
    name = registered(our_metastore, folder)
    for noscan in (True, False):
        analyzed(service, name, noscan=noscan)
        assert service.table(name).count() == RowCount(1980, exact=False)


def test_a_column_that_is_added_and_one_that_goes(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name)
    more = ROWS.select(["Id", "p"]).append_column("note", pa.array(["a"] * 1000))
    write_deltalake(folder, more, mode="append", schema_mode="merge")
    analyzed(service, name)
    assert stored(service, name, ["note", "name"])["note"].data.nulls == 1980
    write_deltalake(folder, more, mode="overwrite", schema_mode="overwrite")
    report = analyzed(service, name)
    assert (report.rows, report.columns) == (1000, ("id", "p", "note"))
    assert list(stored(service, name, ["note", "p", "id"])) == ["note", "p", "id"]
    assert [each.name for each in data_columns(table_of(service, name))] == ["id", "p", "note"]


def test_noscan_counts_by_the_log(our_metastore: Metastore, service: client.Metastore, folder: Path) -> None:
    name = registered(our_metastore, folder)
    analyzed(service, name, noscan=True)
    parameters = table_of(service, name).parameters
    assert (parameters["numRows"], parameters["numFiles"]) == ("1980", "3")
    assert LOG_SCHEMA not in parameters


def test_a_sample_reads_a_part_of_the_rows(our_metastore: Metastore, service: client.Metastore, folder: Path) -> None:
    name = registered(our_metastore, folder)
    report = analyzed(service, name, options=Options(sample_fraction=0.5))
    assert report.rows == 1980
    (found,) = service.provenance(statement(name).table, ["id"])
    assert found.provenance is not None
    assert found.provenance.exact is False
    assert 500 < (found.provenance.rows_seen or 0) < 1480


def test_a_dry_run_writes_nothing(our_metastore: Metastore, service: client.Metastore, folder: Path) -> None:
    name = registered(our_metastore, folder)
    found = dry_run(service, statement(name))
    assert (found.files, found.columns, found.skipped, found.tasks) == (3, tuple(COLUMNS), ("tags",), 0)
    assert LOG_SCHEMA not in table_of(service, name).parameters


def test_requests_that_make_no_sense_are_refused(
    our_metastore: Metastore, service: client.Metastore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = registered(our_metastore, folder)
    with pytest.raises(StatementError, match="has no column other, only id"):
        analyzed(service, name, columns=["other"])
    with pytest.raises(StatementError, match=r"column tags of .* is of type array<bigint>, without statistics"):
        analyzed(service, name, columns=["tags"])
    with pytest.raises(StatementError, match="is of the format Delta Lake, which has no partitions in the metastore"):
        dry_run(service, statement(name, partitions={"p": 1}))
    nowhere = registered(our_metastore, folder / "nowhere", "gone")
    with pytest.raises(StatementError, match="gone cannot be read at file:"):
        analyzed(service, nowhere)
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    with pytest.raises(SettingsError, match=r"reader is not installed: pip install '\.\[delta\]'"):
        analyzed(service, name)


def test_a_live_file_that_is_gone_is_an_error_and_stores_nothing(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    name = registered(our_metastore, folder)
    (folder / pa.table(DeltaTable(folder).get_add_actions())["path"][0].as_py()).unlink()
    with pytest.raises(UnreadableFile, match="cannot be read as Delta Lake"):
        analyzed(service, name)
    assert "numRows" not in table_of(service, name).parameters


def test_only_the_commits_of_the_caller_are_read(
    our_metastore: Metastore, service: client.Metastore, folder: Path
) -> None:
    """The folder has three commits: two writes, and a delete."""
    name = registered(our_metastore, folder)
    with pytest.raises(
        StatementError, match=f"table {name} must be read as a whole at Delta Lake version 2: rows were"
    ):
        analyzed(service, name, changed_only=True, own_commits=2)
    assert not stored(service, name, COLUMNS)
    assert analyzed(service, name, changed_only=True, own_commits=3).rows == 1980
