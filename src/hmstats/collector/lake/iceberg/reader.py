"""Reads Iceberg tables by PyIceberg: by field id, with position deletes and deletion vectors applied."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import pyarrow as pa

from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.increments import Lineage, identity_of, version_of
from hmstats.collector.lake.iceberg.outlet import IcebergOutlet
from hmstats.collector.lake.iceberg.source import Source, pyiceberg_errors, source_of
from hmstats.collector.lake.iceberg.spark_rows import SparkRows
from hmstats.collector.lake.opened import Hadoop, LakeTable, SketchedColumn
from hmstats.collector.planning.data_files import DataFile
from hmstats.errors import StatementError, UnreadableFile
from hmstats.model.catalog.objects import Table, TableName
from hmstats.outlets.puffin.snapshot import ndvs

_NO_STATISTICS = ("time", "uuid")
"""Iceberg types that are text in the metastore, in a form that engines do not compare."""
_TEXTS = ("string", "uuid", "binary", "fixed")
"""Types for which Spark uses distinct counts even without bounds (it reads uuid as text)."""
_NUMBERS = ("boolean", "int", "long", "float", "double", "decimal", "date", "time")
_INSTANTS = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
_EQUALITY_DELETES = "equality deletes"
"""A part of PyIceberg's message about tables that have equality deletes, which it does not read."""
_MOST_READ_AHEAD_BYTES = 256 * 1024 * 1024
"""Files are passed to PyIceberg in groups of so many bytes, since it reads all files of a group ahead."""


def open_iceberg(table: Table, hadoop: Hadoop) -> LakeTable:
    """The current snapshot of a table of the metastore; `hadoop` returns a setting of Hadoop by its name.

    Raises SettingsError if PyIceberg is not installed; StatementError if the metastore names no metadata file, or if
    the table cannot be read: it is of a version that PyIceberg does not know.
    """
    return open_snapshot(table.name, source_of(table, hadoop))


def open_snapshot(name: TableName, source: Source) -> LakeTable:
    """The current snapshot of a table. Raises StatementError if PyIceberg does not read it."""
    shown = name.short
    opened, metadata = source.opened, source.metadata
    snapshot_id = metadata_of.current_snapshot_id(metadata)
    tasks, only_by_spark = _tasks(shown, opened)
    data_files = _live_files(opened) if only_by_spark else [each.file for each in tasks]
    exact = only_by_spark is None and not any(each.delete_files for each in tasks)
    fields = {field.name.lower(): field for field in opened.schema().fields}
    sketched = {name: found for name, field in fields.items() if (found := _sketched_column(field)) is not None}

    def read(some: Iterable[Any], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return _batches(shown, opened, some, _names(shown, fields, columns))

    read_table = LakeTable(
        version=version_of(snapshot_id),
        identity=identity_of(metadata, snapshot_id),
        schema=None,
        files=sorted(
            (DataFile(each.file_path, each.file_size_in_bytes) for each in data_files), key=attrgetter("path")
        ),
        rows=sum(each.record_count for each in data_files) if exact else None,
        read=lambda columns: read(tasks, columns),
        without={name: _reason(field) for name, field in fields.items() if str(field.field_type) in _NO_STATISTICS},
        sketched=sketched,
        commits_are_told=True,
        reads=source.reads,
    )
    if snapshot_id is None:
        return read_table
    return replace(
        read_table,
        outlet=IcebergOutlet(name, metadata, snapshot_id, opened.io, sketched),
        earlier=Lineage(metadata, opened, snapshot_id, sketched, read).earlier,
        only_by_spark=only_by_spark,
        by_spark=SparkRows(name, snapshot_id),
        registered=_registered(metadata, snapshot_id, sketched),
        commits=metadata_of.count_commits(metadata, snapshot_id),
    )


def _registered(metadata: Mapping[str, Any], snapshot_id: int, columns: Mapping[str, SketchedColumn]) -> dict[str, int]:
    """The distinct counts in the entry of this snapshot, by column."""
    counts = ndvs(metadata_of.entries(metadata).get(snapshot_id, {}))
    return {name: counts[each.field_id] for name, each in columns.items() if each.field_id in counts}


def read_table_metadata(table: Table, hadoop: Hadoop) -> Mapping[str, Any]:
    """The metadata file of a table of the metastore, as JSON. Raises as source_of does."""
    return source_of(table, hadoop).metadata


def _tasks(shown: str, opened: Any) -> tuple[list[Any], str | None]:
    """The live data files with their deletes, none without a snapshot; and the reason if only Spark can read them."""
    try:
        return list(opened.scan().plan_files()), None
    except pyiceberg_errors() as error:
        sentence = f"table {shown} cannot be read by PyIceberg: {error}"
        if _EQUALITY_DELETES in str(error):
            return [], sentence
        raise StatementError(sentence) from error


def _live_files(opened: Any) -> list[Any]:
    """The live data files by the manifests, without their deletes."""
    from pyiceberg.manifest import DataFileContent  # noqa: PLC0415 - an extra

    listed = (
        entry.data_file
        for manifest in opened.current_snapshot().manifests(opened.io)
        for entry in manifest.fetch_manifest_entry(opened.io, discard_deleted=True)
    )
    return [each for each in listed if each.content == DataFileContent.DATA]


def _sketched_column(field: Any) -> SketchedColumn | None:
    """The column's place in Puffin files; None for types without theta sketches."""
    kind = str(field.field_type).partition("[")[0].partition("(")[0]
    if kind in _TEXTS:
        return SketchedColumn(field.field_id, is_text=True)
    return SketchedColumn(field.field_id, is_text=False) if kind in (*_NUMBERS, *_INSTANTS) else None


def _reason(field: Any) -> str:
    return f"type {field.field_type} of Iceberg has no statistics"


def _names(shown: str, fields: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """The columns' names with the letter case of the table."""
    missing = [column for column in columns if column not in fields]
    if missing:
        raise StatementError(f"table {shown} has no column {missing[0]} in its metadata, only {', '.join(fields)}")
    return [fields[column].name for column in columns]


def _batches(shown: str, opened: Any, tasks: Iterable[Any], names: list[str]) -> Iterator[pa.RecordBatch]:
    from pyiceberg.io.pyarrow import ArrowScan  # noqa: PLC0415 - an extra

    from hmstats.collector.lake.iceberg.old_timestamps import read_as_microseconds  # noqa: PLC0415

    read_as_microseconds()
    # Without requested columns one is read all the same, since rows are counted by batches.
    wanted = names or [field.name for field in opened.schema().fields[:1]]
    try:
        scan = opened.scan(selected_fields=tuple(wanted))
        reader = ArrowScan(opened.metadata, opened.io, scan.projection(), scan.row_filter)
        for group in _groups(tasks):
            for batch in reader.to_record_batches(group):
                yield batch.select(wanted)
    except pyiceberg_errors() as error:
        raise UnreadableFile(f"table {shown} cannot be read as Iceberg: {error}") from error


def _groups(tasks: Iterable[Any]) -> Iterator[list[Any]]:
    """The files, in groups that are read ahead together."""
    group: list[Any] = []
    total = 0
    for task in tasks:
        size = task.file.file_size_in_bytes
        if group and total + size > _MOST_READ_AHEAD_BYTES:
            yield group
            group, total = [], 0
        group.append(task)
        total += size
    if group:
        yield group
