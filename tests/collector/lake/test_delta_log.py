"""With --changed-only, files that were added to a Delta Lake table since are read, and no others, unless rows went."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.collector.lake.delta_tables import ROWS, registered
from tests.collector.lake.test_delta import COLUMNS, analyzed, stored, table_of
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.lake import delta_log
from hmstats.collector.lake.delta_log import added_paths
from hmstats.collector.options import Options
from hmstats.errors import StatementError

MORE = ROWS.set_column(0, "Id", pa.array(range(5000, 6000), pa.int64()))
ADD: Mapping[str, Any] = {"add": {"path": "a", "dataChange": True}}
REMOVE: Mapping[str, Any] = {"remove": {"path": "b", "dataChange": True}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "with a space"


@pytest.fixture
def name(our_metastore: Metastore, service: client.Metastore, folder: Path) -> str:
    """A table of one commit, partitioned by a column, which is analysed."""
    write_deltalake(folder, ROWS, partition_by=["p"])
    name = registered(our_metastore, folder)
    analyzed(service, name)
    return name


def append(folder: Path, rows: pa.Table = MORE) -> None:
    write_deltalake(folder, rows, mode="append")


def test_added_files_alone_are_read(service: client.Metastore, name: str, folder: Path) -> None:
    append(folder)
    append(folder)
    report = analyzed(service, name, changed_only=True)
    assert (report.files, report.rows) == (6, 3000)
    merged = stored(service, name, COLUMNS), table_of(service, name).parameters
    whole = analyzed(service, name)
    assert (whole.files, whole.rows) == (9, 3000)
    assert {each: found.data for each, found in stored(service, name, COLUMNS).items()} == {
        each: found.data for each, found in merged[0].items()
    }
    assert merged[1]["numRows"] == "3000"
    assert analyzed(service, name, changed_only=True).unchanged == 1


def test_values_of_partitions_as_no_url_has_them(
    our_metastore: Metastore,
    service: client.Metastore,
    folder: Path,
) -> None:
    rows = pa.table({"Id": [1, 2, 3], "Place": ["a b%/c", "ü", None]})
    write_deltalake(folder, rows, partition_by=["Place"])
    name = registered(our_metastore, folder)
    analyzed(service, name)
    append(folder, pa.table({"Id": [4, 5], "Place": ["d%20e?", None]}))
    assert analyzed(service, name, changed_only=True).files == 2
    found = stored(service, name, ["id", "place"])
    assert (found["place"].data.ndv, found["place"].data.nulls) == (3, 2)  # type: ignore[union-attr]
    assert found["id"].data.high == 5  # type: ignore[union-attr]


def test_the_log_is_not_looked_through_for_an_analysis_of_other_options(
    service: client.Metastore, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No version was analysed so, and each entry is a request."""
    append(folder)
    asked: list[Sequence[Any]] = []

    def noticed(entries: Sequence[Mapping[str, Any]]) -> list[str] | None:
        asked.append(entries)
        return added_paths(entries)

    monkeypatch.setattr(delta_log, "added_paths", noticed)
    assert analyzed(service, name, changed_only=True, options=Options.bounds_only()).files == 6
    assert asked == []
    append(folder)
    assert analyzed(service, name, changed_only=True, options=Options.bounds_only()).files == 3
    assert len(asked) == 1


def test_the_commits_of_a_caller_are_read_alone(
    service: client.Metastore,
    name: str,
    folder: Path,
) -> None:
    append(folder)
    assert analyzed(service, name, changed_only=True, own_commits=1).files == 3
    DeltaTable(folder).delete("Id < 10")
    with pytest.raises(StatementError, match="must be read as a whole at Delta Lake version 2"):
        analyzed(service, name, changed_only=True, own_commits=1)


def test_all_is_read_after_a_delete(service: client.Metastore, name: str, folder: Path) -> None:
    append(folder)
    DeltaTable(folder).delete("Id < 10")
    append(folder)
    report = analyzed(service, name, changed_only=True)
    assert (report.files, report.rows) == (9, 2990)


def test_all_is_read_if_the_schema_has_changed(
    service: client.Metastore,
    name: str,
    folder: Path,
) -> None:
    more = ROWS.select(["Id", "p"]).append_column("note", pa.array(["a"] * 1000))
    write_deltalake(folder, more, mode="append", schema_mode="merge")
    assert analyzed(service, name, changed_only=True).files == 6
    assert stored(service, name, ["note"])["note"].data.nulls == 1000


def test_nothing_is_read_after_a_compaction(
    service: client.Metastore,
    name: str,
    folder: Path,
) -> None:
    append(folder)
    analyzed(service, name, changed_only=True)
    DeltaTable(folder).optimize.compact()
    report = analyzed(service, name, changed_only=True)
    assert (report.files, report.rows) == (0, 2000)


def test_all_is_read_if_added_files_were_compacted(
    service: client.Metastore,
    name: str,
    folder: Path,
) -> None:
    append(folder)
    DeltaTable(folder).optimize.compact()
    report = analyzed(service, name, changed_only=True)
    assert (report.files, report.rows) == (3, 2000)


def test_all_is_read_if_the_log_has_been_cleaned(
    service: client.Metastore,
    name: str,
    folder: Path,
) -> None:
    append(folder)
    append(folder)
    DeltaTable(folder).create_checkpoint()
    (folder / "_delta_log" / f"{1:020}.json").unlink()
    assert analyzed(service, name, changed_only=True).files == 9


@pytest.mark.parametrize(
    ("entries", "paths"),
    [
        ([{"commitInfo": {}}, ADD], ["a"]),
        ([{"txn": {}}], []),
        ([ADD, REMOVE], None),
        ([{"add": {**ADD["add"], "deletionVector": {"cardinality": 1}}}], None),
        ([ADD, {"metaData": {}}], None),
        ([{"add": {"path": "a", "dataChange": False}}, {"remove": {"path": "b", "dataChange": False}}], []),
        ([ADD, {"add": {"path": "c", "dataChange": False}}], None),
        ([], None),
    ],
    ids=["append", "no files", "overwrite", "deletion vector", "schema", "compaction", "both", "no entry"],
)
def test_what_a_commit_added(entries: list[Mapping[str, Any]], paths: list[str] | None) -> None:
    assert added_paths(entries) == paths
