"""Data files of Delta Lake tables give the rows that delta-rs gives, whatever the log says of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.collector.lake.delta_tables import ROWS, delete_by_vector, written

from hmstats.collector.lake.delta import open_delta
from hmstats.collector.lake.opened import LakeTable, no_settings
from hmstats.errors import StatementError, UnreadableFile

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


def test_days_of_partitions_that_python_has_not(tmp_path: Path) -> None:
    write_deltalake(tmp_path, pa.table({"id": [1], "day": pa.array([0], pa.date32())}), partition_by=["day"])
    file = next(tmp_path.rglob("*.parquet"))
    add = {"path": str(file.relative_to(tmp_path)), "size": file.stat().st_size, "modificationTime": 1}
    moved = {**add, "path": "moved.parquet", "partitionValues": {"day": "+10000-01-01"}, "dataChange": True}
    file.rename(tmp_path / "moved.parquet")
    commit(tmp_path, {"remove": {**add, "dataChange": True}}, {"add": moved})
    (batch,) = opened(tmp_path).read(["day"])
    assert batch["day"].cast(pa.int32()).to_pylist() == [2932897]


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


def reshaped(folder: Path, columns: Mapping[str, Mapping[str, Any]], protocol: Mapping[str, Any], **put: str) -> None:
    """Commit columns of other names, types or metadata, by their names so far, and properties."""
    entries = [json.loads(line) for line in (folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()]
    (meta,) = (each["metaData"] for each in entries if "metaData" in each)
    schema = json.loads(meta["schemaString"])
    schema["fields"] = [{**each, **columns.get(each["name"], {})} for each in schema["fields"]]
    metadata = {**meta, "schemaString": json.dumps(schema), "configuration": put}
    commit(folder, {"protocol": protocol}, {"metaData": metadata})


def mapped(folder: Path, mode: str) -> None:
    """A table whose columns have other names in its files, and no ids."""
    write_deltalake(folder, pa.table({"x-1": [1, 2, 3]}))
    mapping = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "x-1"}
    configuration = {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "1"}
    reshaped(
        folder,
        {"x-1": {"name": "a b", "metadata": mapping}},
        {"minReaderVersion": 2, "minWriterVersion": 5},
        **configuration,
    )


def added(folder: Path, file: Path, path: str) -> None:
    """Commit a file at a path of the log."""
    add = {"path": path, "partitionValues": {}, "size": file.stat().st_size}
    commit(folder, {"add": {**add, "modificationTime": 1, "dataChange": True}})


@pytest.mark.parametrize("mode", ["name", "id"])
def test_columns_with_other_names_in_the_files(tmp_path: Path, mode: str) -> None:
    mapped(tmp_path, mode)
    check_rows(tmp_path, ["a b"])


def with_ids(tmp_path: Path, path: str) -> Path:
    """A table of columns that are found by ids, in a file with other names, as Iceberg's; one column came later."""
    folder, file = tmp_path / "t", tmp_path / path
    write_deltalake(folder, pa.table({each: pa.array([], pa.int64()) for each in ("a", "b", "c")}))
    mapping = {
        name: {"metadata": {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": name}}
        for number, name in enumerate("abc", 1)
    }
    configuration = {"delta.columnMapping.mode": "id", "delta.columnMapping.maxColumnId": "3"}
    reshaped(folder, mapping, {"minReaderVersion": 2, "minWriterVersion": 5}, **configuration)
    names = {"B": "1", "a": "2"}
    schema = pa.schema([pa.field(each, pa.int64(), metadata={"PARQUET:field_id": names[each]}) for each in names])
    pq.write_table(pa.table([[1, 2], [3, 4]], schema=schema), file)
    added(folder, file, path.removeprefix("t/") if path.startswith("t/") else file.as_uri())
    return folder


def test_columns_are_found_by_ids(tmp_path: Path) -> None:
    found = opened(with_ids(tmp_path, "t/f.parquet"))
    assert pa.Table.from_batches(found.read(["c", "a", "b"])).to_pydict() == {"c": [None] * 2, "a": [1, 2], "b": [3, 4]}
    assert pa.Table.from_batches(found.read(["c"])).to_pydict() == {"c": [None] * 2}
    assert sum(batch.num_rows for batch in found.read([])) == 2


def test_columns_that_are_found_by_ids_in_files_elsewhere_are_refused(tmp_path: Path) -> None:
    """delta-rs finds them by names, and says null."""
    found = opened(with_ids(tmp_path, "elsewhere.parquet"))
    assert len(found.files) == 1
    with pytest.raises(UnreadableFile, match=r"table db\.t cannot be read as Delta Lake: its columns are found by ids"):
        list(found.read(["a"]))


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        (pa.array([1, None], pa.int32()), "long", pa.array([1, None], pa.int64())),
        (pa.array([1, -2], pa.int8()), "decimal(12,2)", pa.array([Decimal(1), Decimal(-2)], pa.decimal128(12, 2))),
        (pa.array([1], pa.int16()), "double", pa.array([1.0])),
        (pa.array([0.1], pa.float32()), "double", pa.array([0.1], pa.float32()).cast(pa.float64())),
        (
            pa.array([Decimal("1.25")], pa.decimal128(5, 2)),
            "decimal(10,4)",
            pa.array([Decimal("1.25")], pa.decimal128(10, 4)),
        ),
    ],
)
def test_types_that_have_grown(tmp_path: Path, given: pa.Array, kind: str, expected: pa.Array) -> None:
    """delta-rs alone refuses such tables."""
    write_deltalake(tmp_path, pa.table({"x": given}))
    features = {"readerFeatures": ["typeWidening"], "writerFeatures": ["typeWidening"]}
    reshaped(tmp_path, {"x": {"type": kind}}, {"minReaderVersion": 3, "minWriterVersion": 7, **features})
    assert pa.Table.from_batches(opened(tmp_path).read(["x"]))["x"].combine_chunks() == expected


def test_a_folder_is_not_taken_for_another_whose_name_is_decoded(tmp_path: Path) -> None:
    """The log of the other one was read: its files and bytes were counted, its rows not found."""
    for name, rows in (("a b", 10), ("a%20b", 20)):
        write_deltalake(tmp_path / "made", ROWS.slice(0, rows))
        (tmp_path / "made").rename(tmp_path / name)
    assert opened(tmp_path / "a b").rows == 10
    with pytest.raises(StatementError, match=r"a%20b: delta-rs takes a folder .* for .*/a b$"):
        opened(tmp_path / "a%20b")


@pytest.mark.parametrize("with_scheme", [True, False])
def test_files_elsewhere_are_left_to_delta_rs(tmp_path: Path, with_scheme: bool) -> None:
    """A shallow clone's files are those of another table."""
    write_deltalake(tmp_path / "t", ROWS.select(["Id"]))
    elsewhere = tmp_path / "elsewhere.parquet"
    pq.write_table(ROWS.select(["Id"]), elsewhere)
    added(tmp_path / "t", elsewhere, elsewhere.as_uri() if with_scheme else str(elsewhere))
    assert opened(tmp_path / "t").reads is None
    assert sum(batch.num_rows for batch in opened(tmp_path / "t").read(["id"])) == 2000


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
