"""Tables of Delta Lake, read by delta-rs: it applies deletion vectors and column mapping, and knows partition columns.

Credentials and endpoints of object stores come from the environment, by delta-rs's names (AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID, AZURE_STORAGE_ACCOUNT_NAME, GOOGLE_SERVICE_ACCOUNT and so on).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hmstats.collector.lake.opened import LakeTable
from hmstats.collector.planning.data_files import DataFile
from hmstats.errors import SettingsError, StatementError, UnreadableFile
from hmstats.extras import install_advice
from hmstats.model.catalog.location import LOCAL, parse
from hmstats.model.spark.spark_schema import LOG_SCHEMA, schema_fields

_NS_PER_MS = 1_000_000


def open_delta(shown: str, location: str) -> LakeTable:
    """The newest version of the table at a location; `shown` is its name for errors.

    Raises SettingsError if delta-rs is not installed; StatementError if there is no Delta table, or if it needs a
    feature that delta-rs does not read.
    """
    table, errors = _opened(shown, location)
    schema = table.schema().to_json()
    actions = pa.table(table.get_add_actions())
    return LakeTable(
        version=f"Delta Lake version {table.version()}",
        identity=f"delta {table.metadata().id} {table.version()}",
        schema=schema,
        files=_files(actions),
        rows=_rows(table, actions),
        read=lambda columns: _batches(shown, table, _names(schema, columns), errors),
    )


def _opened(shown: str, location: str) -> tuple[Any, type[Exception]]:
    try:
        from deltalake import DeltaTable  # noqa: PLC0415 - an extra
        from deltalake.exceptions import DeltaError  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(
            f"table {shown} is of the format Delta Lake, whose reader is not installed: {install_advice('delta')}"
        ) from error
    place = parse(location)
    try:
        return DeltaTable(place.path if place.scheme == LOCAL else location), DeltaError
    except (DeltaError, OSError, ValueError) as error:
        raise StatementError(f"table {shown} cannot be read at {location}: {error}") from error


def _files(actions: pa.Table) -> list[DataFile]:
    listed = zip(*(actions[name].to_pylist() for name in ("path", "size_bytes", "modification_time")), strict=True)
    return sorted((DataFile(path, size, modified * _NS_PER_MS) for path, size, modified in listed), key=_path)


def _path(file: DataFile) -> str:
    return file.path


def _rows(table: Any, actions: pa.Table) -> int | None:
    """The rows by the log; None if a file has no count, or if the table may have deletion vectors."""
    if "deletionVectors" in (table.protocol().reader_features or ()):
        return None
    counts = actions["num_records"]
    return None if counts.null_count else int(pc.sum(counts).as_py() or 0)


def _names(schema: str, columns: Sequence[str]) -> list[str]:
    """The columns as the log spells them."""
    names = {field["name"].lower(): field["name"] for field in schema_fields({LOG_SCHEMA: schema})}
    missing = [column for column in columns if column not in names]
    if missing:
        raise StatementError(
            f"the metastore has a column {missing[0]} that the Delta log has not, only {', '.join(names)}"
        )
    return [names[column] for column in columns]


def _batches(shown: str, table: Any, names: list[str], errors: type[Exception]) -> Iterator[pa.RecordBatch]:
    # Without a column to read, one is read all the same: rows are counted by batches.
    wanted = names or [field.name for field in table.schema().fields[:1]]
    try:
        yield from pa.RecordBatchReader.from_stream(table.scan(wanted))
    except (errors, OSError, pa.ArrowException, ValueError) as error:
        raise UnreadableFile(f"table {shown} cannot be read as Delta Lake: {error}") from error
