"""Data files of Delta Lake tables give the rows that delta-rs gives, whatever the log says of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.collector.lake.delta_tables import ROWS, delete_by_vector, written

from hmstats.collector.lake.delta import open_delta
from hmstats.collector.lake.opened import LakeTable, no_settings
from hmstats.errors import UnreadableFile

MAPPED = {"delta.columnMapping.mode": "name"}


def opened(folder: Path) -> LakeTable:
    return open_delta("db.t", f"file:{folder}", no_settings)


def texts_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The rows in an order of their own, times without a zone."""
    return sorted(str([_without_zone(each) for each in row.values()]) for row in rows)


def _without_zone(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def check_rows(folder: Path, columns: Sequence[str]) -> LakeTable:
    """Compare the rows with those of delta-rs."""
    found = opened(folder)
    assert found.reads is not None
    names = [each.lower() for each in columns]
    expected = texts_of(pa.table(DeltaTable(folder).scan(list(columns))).to_pylist())
    assert texts_of(row for batch in found.read(names) for row in batch.to_pylist()) == expected
    assert sum(batch.num_rows for batch in found.read([])) == len(expected)
    assert found.reads.count.bytes > 0
    return found


def test_partitions_and_all_types(tmp_path: Path) -> None:
    check_rows(written(tmp_path / "with a space"), [each for each in ROWS.column_names if each != "tags"])


def test_deletion_vectors(tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    write_deltalake(folder, ROWS, partition_by=["p"])
    delete_by_vector(folder, [0, 5, 300])
    found = check_rows(folder, ["Id", "p", "name"])
    assert sum(batch.num_rows for batch in found.read(["id"])) == 997
    assert found.rows is None


@pytest.mark.parametrize("value", ["a b", "50%", "x/y", "\u00fc", "a=b", "q?#", None])
def test_deletion_vectors_below_folders_with_odd_names(tmp_path: Path, value: str | None) -> None:
    folder = tmp_path / "100% of it"
    rows = pa.table({"id": pa.array(range(100)), "p": pa.array([value] * 100, pa.string())})
    write_deltalake(folder, rows, partition_by=["p"])
    delete_by_vector(folder, [0, 5])
    found = check_rows(folder, ["id", "p"])
    assert sum(batch.num_rows for batch in found.read(["id"])) == 98


def test_a_column_that_older_files_lack(tmp_path: Path) -> None:
    write_deltalake(tmp_path, ROWS.select(["Id", "p"]))
    more = ROWS.select(["Id", "p"]).append_column("Note", pa.array(["a"] * 1000))
    write_deltalake(tmp_path, more, mode="append", schema_mode="merge")
    check_rows(tmp_path, ["Id", "Note"])


def test_large_files_are_read_by_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.collector.lake.delta_files._MOST_READ_AHEAD_BYTES", 1)
    write_deltalake(tmp_path, ROWS, partition_by=["p"])
    delete_by_vector(tmp_path, [1, 2])
    check_rows(tmp_path, ["Id", "p"])


def commit(folder: Path, *entries: dict[str, Any]) -> None:
    """Add a commit with these entries."""
    version = DeltaTable(folder).version() + 1
    (folder / "_delta_log" / f"{version:020}.json").write_text("\n".join(map(json.dumps, entries)))


def mapped(folder: Path, mode: str) -> None:
    """A table whose columns have other names in its files."""
    write_deltalake(folder, pa.table({"x-1": [1, 2, 3]}), configuration={})
    entries = [json.loads(line) for line in (folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()]
    (meta,) = (each["metaData"] for each in entries if "metaData" in each)
    schema = json.loads(meta["schemaString"])
    (field,) = schema["fields"]
    field |= {"name": "a b", "metadata": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "x-1"}}
    configuration = {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "1"}
    commit(
        folder,
        {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
        {"metaData": {**meta, "schemaString": json.dumps(schema), "configuration": configuration}},
    )


def test_columns_with_other_names_in_the_files(tmp_path: Path) -> None:
    mapped(tmp_path, "name")
    check_rows(tmp_path, ["a b"])


def test_columns_that_are_found_by_ids_are_left_to_delta_rs(tmp_path: Path) -> None:
    mapped(tmp_path, "id")
    assert opened(tmp_path).reads is None


def test_files_elsewhere_are_left_to_delta_rs(tmp_path: Path) -> None:
    """A shallow clone's files are those of another table."""
    write_deltalake(tmp_path / "t", ROWS.select(["Id"]))
    elsewhere = tmp_path / "elsewhere.parquet"
    pq.write_table(ROWS.select(["Id"]), elsewhere)
    add = {"path": elsewhere.as_uri(), "partitionValues": {}, "size": elsewhere.stat().st_size}
    commit(tmp_path / "t", {"add": {**add, "modificationTime": 1, "dataChange": True}})
    assert opened(tmp_path / "t").reads is None


def test_a_file_that_is_gone_or_damaged_is_named(tmp_path: Path) -> None:
    write_deltalake(tmp_path, ROWS.select(["Id"]))
    write_deltalake(tmp_path, ROWS.select(["Id"]), mode="append")
    first, second = sorted(tmp_path.glob("*.parquet"))
    first.write_bytes(first.read_bytes()[:-20])
    with pytest.raises(UnreadableFile, match=f"table db.t cannot be read as Delta Lake: .*{first.name}"):
        list(opened(tmp_path).read(["id"]))
    first.unlink()
    second.unlink()
    with pytest.raises(UnreadableFile, match=r"table db\.t cannot be read as Delta Lake: .*cannot be read"):
        list(opened(tmp_path).read(["id"]))
