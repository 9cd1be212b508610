"""Tables of Iceberg, read by PyIceberg: by field id, with position deletes and deletion vectors applied.

The metastore names the table's metadata file, and nothing else of it is needed. Credentials and endpoints of object
stores are PyIceberg's (its configuration file, or the environment).
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa

from hmstats.collector.lake.opened import LakeTable
from hmstats.collector.planning.data_files import DataFile
from hmstats.errors import SettingsError, StatementError, UnreadableFile
from hmstats.extras import install_advice
from hmstats.model.catalog.objects import Table

_METADATA = "metadata_location"
_NO_STATISTICS = ("time", "uuid")
"""Types of Iceberg that the metastore has as texts, in a form that no engine compares."""
_ERRORS = (OSError, ValueError, TypeError, KeyError, NotImplementedError, pa.ArrowException)
"""What PyIceberg raises for files that are missing, damaged, or of a form that it does not read."""


def open_iceberg(table: Table) -> LakeTable:
    """The current snapshot of a table of the metastore.

    Raises SettingsError if PyIceberg is not installed; StatementError if the metastore names no metadata file, or if
    the table cannot be read: it has equality deletes, or is of a version that PyIceberg does not know.
    """
    shown = table.name.short
    opened = _opened(table)
    snapshot = opened.current_snapshot()
    tasks = _tasks(shown, opened)
    files = (DataFile(each.file.file_path, each.file.file_size_in_bytes) for each in tasks)
    fields = {field.name.lower(): field for field in opened.schema().fields}
    deleted = any(each.delete_files for each in tasks)
    return LakeTable(
        version=f"Iceberg snapshot {snapshot.snapshot_id if snapshot else 'none'}",
        identity=f"iceberg {opened.metadata.table_uuid} {snapshot.snapshot_id if snapshot else 0}",
        schema=None,
        files=sorted(files, key=attrgetter("path")),
        rows=None if deleted else sum(each.file.record_count for each in tasks),
        read=lambda columns: _batches(shown, opened, _names(shown, fields, columns)),
        without={name: _reason(field) for name, field in fields.items() if str(field.field_type) in _NO_STATISTICS},
    )


def _opened(table: Table) -> Any:
    try:
        from pyiceberg.table import StaticTable  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SettingsError(
            f"table {table.name.short} is of the format Iceberg, whose reader is not installed:"
            f" {install_advice('iceberg')}"
        ) from error
    location = table.parameters.get(_METADATA)
    if not location:
        raise StatementError(f"table {table.name.short} is of the format Iceberg, but has no parameter {_METADATA}")
    try:
        return StaticTable.from_metadata(location)
    except _ERRORS as error:
        raise StatementError(f"table {table.name.short} cannot be read at {location}: {error}") from error


def _tasks(shown: str, opened: Any) -> list[Any]:
    """The live data files with their deletes; none without a snapshot."""
    try:
        return list(opened.scan().plan_files())
    except _ERRORS as error:
        raise StatementError(f"table {shown} cannot be read by PyIceberg: {error}") from error


def _reason(field: Any) -> str:
    return f"type {field.field_type} of Iceberg has no statistics"


def _names(shown: str, fields: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """The columns as the table spells them."""
    missing = [column for column in columns if column not in fields]
    if missing:
        raise StatementError(f"table {shown} has no column {missing[0]} in its metadata, only {', '.join(fields)}")
    return [fields[column].name for column in columns]


def _batches(shown: str, opened: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    # Without a column to read, one is read all the same: rows are counted by batches.
    wanted = names or [field.name for field in opened.schema().fields[:1]]
    try:
        for batch in opened.scan(selected_fields=tuple(wanted)).to_arrow_batch_reader():
            yield batch.select(wanted)
    except _ERRORS as error:
        raise UnreadableFile(f"table {shown} cannot be read as Iceberg: {error}") from error
