"""Opens Delta Lake tables: delta-rs reads the log, with deletion vectors, column mapping and partitions.

The data files are read by Arrow, or by delta-rs if a table has a feature that delta_files.py does not know. Credentials
and endpoints of object stores are those of files/file_systems.py; delta-rs takes everything else from the environment.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc

from hmstats.collector.lake.delta_files import DeltaFiles, LiveFile, LogColumn
from hmstats.collector.lake.delta_log import Log, field_id, identity_of, stored_name, version_of
from hmstats.collector.lake.opened import Hadoop, LakeTable
from hmstats.collector.planning.data_files import DataFile
from hmstats.errors import SettingsError, StatementError, UnreadableFile
from hmstats.extras import install_advice
from hmstats.files import hdfs
from hmstats.files.azure_stores import azure_arguments, blob_endpoint
from hmstats.files.file_systems import s3_arguments, s3_with_environment, settings_of
from hmstats.model.catalog.location import LOCAL, Location, parse, parts_of
from hmstats.model.catalog.objects import Column
from hmstats.model.spark.spark_schema import LOG_SCHEMA, STUB_NAME, STUB_TYPE, schema_fields, spark_columns

_NS_PER_MS = 1_000_000
_DELETION_VECTORS = "deletionVectors"
_KNOWN_FEATURES = {
    *(_DELETION_VECTORS, "columnMapping", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"),
    *("typeWidening", "typeWidening-preview"),
}
"""Features of a table with which Arrow, given the log, reads its data files correctly."""
_MAPPING_MODE = "delta.columnMapping.mode"
_STUB = (Column(STUB_NAME, STUB_TYPE, None),)
_S3 = {
    "access_key": "AWS_ACCESS_KEY_ID",
    "secret_key": "AWS_SECRET_ACCESS_KEY",
    "session_token": "AWS_SESSION_TOKEN",
    "region": "AWS_REGION",
}
"""The names of S3's settings: Arrow's argument, and delta-rs's option."""
_AZURE = {
    "account_name": "AZURE_STORAGE_ACCOUNT_NAME",
    "account_key": "AZURE_STORAGE_ACCOUNT_KEY",
    "sas_token": "AZURE_STORAGE_SAS_TOKEN",
}


def open_delta(shown: str, location: str, hadoop: Hadoop) -> LakeTable:
    """The newest version of the table at a location; `shown` is its name for errors.

    `hadoop` returns a setting of Hadoop by its name.

    Raises SettingsError if delta-rs is not installed; StatementError if there is no Delta table, if it needs a feature
    that delta-rs does not read, or if delta-rs would mistake its location for another one.
    """
    table, errors = _open_table(shown, location, hadoop)
    schema = table.schema().to_json()
    actions = pa.table(table.get_add_actions())
    metadata, version, files = table.metadata(), table.version(), _files(actions)
    data = _data_files(shown, location, hadoop, schema, metadata)
    live = _live_files(actions, files, data, schema)
    opened = LakeTable(
        version=version_of(version),
        identity=identity_of(metadata.id, version),
        schema=schema,
        files=files,
        rows=_rows(table, actions),
        read=lambda columns: _batches(shown, table, _names(schema, columns), errors),
        commits=version + 1,
        earlier=Log(metadata.id, version, live, data).earlier,
    )
    if not _is_read_by_arrow(table, live):
        return opened

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        _names(schema, columns)
        return data.rows([*live.values()], columns, _read_kept_rows(shown, table, live, errors))

    return replace(opened, read=read, reads=data.reads)


def _is_read_by_arrow(table: Any, live: Mapping[str, LiveFile]) -> bool:
    """Whether Arrow can read the files: all features are known, and all files lie below the table's location."""
    features = set(table.protocol().reader_features or ())
    return features <= _KNOWN_FEATURES and not any(each.is_elsewhere for each in live.values())


def _finds_by_id(metadata: Any) -> bool:
    """Whether columns are found by ids in the data files, where names may be arbitrary."""
    return bool(metadata.configuration.get(_MAPPING_MODE) == "id")


def _read_kept_rows(
    shown: str, table: Any, live: Mapping[str, LiveFile], errors: type[Exception]
) -> Mapping[str, pa.BooleanArray]:
    """The live rows by path of the files with deletion vectors. Raises UnreadableFile."""
    if _DELETION_VECTORS not in (table.protocol().reader_features or ()):
        return {}
    try:
        found = pa.table(table.deletion_vectors())
    except (errors, OSError, pa.ArrowException, ValueError) as error:
        raise UnreadableFile(f"table {shown} cannot be read as Delta Lake: {error}") from error
    paths = [each.removeprefix(table.table_uri) for each in found["filepath"].to_pylist()]
    strange = [each for each in paths if each not in live]
    if strange:
        raise UnreadableFile(
            f"table {shown} cannot be read as Delta Lake: {strange[0]} has a deletion vector and is no live file"
        )
    return {path: vector.values for path, vector in zip(paths, found["selection_vector"], strict=True)}


def _data_files(shown: str, location: str, hadoop: Hadoop, schema: str, metadata: Any) -> DeltaFiles:
    fields, by_id = _fields(schema), _finds_by_id(metadata)
    types = {each.name: each.type for each in spark_columns(_STUB, {LOG_SCHEMA: schema})}
    return DeltaFiles(
        shown=shown,
        location=location,
        columns={
            name: LogColumn(type_, stored_name(fields[name]), field_id(fields[name]) if by_id else None)
            for name, type_ in types.items()
        },
        partitioned_by=frozenset(str(each).lower() for each in metadata.partition_columns),
        settings=settings_of([parts_of(location)[:2]], hadoop),
    )


def _live_files(actions: pa.Table, files: Sequence[DataFile], data: DeltaFiles, schema: str) -> dict[str, LiveFile]:
    """The live files by their paths in the log."""
    if not data.partitioned_by:
        return {each.path: LiveFile(each, {}) for each in files}
    fields, by_path = _fields(schema), {each.path: each for each in files}
    # Arrow's values: Python has no date after the year 9999.
    values = zip(actions["path"].to_pylist(), actions["partition"], strict=True)
    return {path: LiveFile(by_path[path], _by_column(fields, data.partitioned_by, given)) for path, given in values}


def _fields(schema: str) -> dict[str, Mapping[str, Any]]:
    """The log's fields, by their names in the metastore."""
    return {str(field["name"]).lower(): field for field in schema_fields({LOG_SCHEMA: schema})}


def _by_column(
    fields: Mapping[str, Mapping[str, Any]], keys: Iterable[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of partition columns, by their names in the metastore."""
    by_name = {name.lower(): value for name, value in values.items()}
    return {key: by_name.get(key, by_name.get(stored_name(fields[key]).lower())) for key in keys}


def _open_table(shown: str, location: str, hadoop: Hadoop) -> tuple[Any, type[Exception]]:
    try:
        from deltalake import DeltaTable  # noqa: PLC0415 - an extra
        from deltalake.exceptions import DeltaError  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(
            f"table {shown} is of the format Delta Lake, whose reader is not installed: {install_advice('delta')}"
        ) from error
    place = parse(location)
    if unquote(place.path) != place.path:
        raise StatementError(
            f"table {shown} cannot be read at {location}: delta-rs takes a folder whose name has a % with two"
            f" hexadecimal digits for {unquote(place.path)}"
        )
    try:
        if place.scheme == LOCAL:
            return DeltaTable(place.path), DeltaError
        return DeltaTable(_url(place), storage_options=storage_options(location, hadoop)), DeltaError
    except (DeltaError, OSError, ValueError) as error:
        raise StatementError(f"table {shown} cannot be read at {location}: {error}") from error


def _url(place: Location) -> str:
    """The location as a URL, as delta-rs expects it: a # or ? in a path is a part of the path."""
    return str(replace(place, path=quote(place.path)))


def storage_options(location: str, hadoop: Hadoop) -> dict[str, str]:
    """The settings of a location's store, by delta-rs's names."""
    scheme, authority, _ = parts_of(location)
    given = dict(settings_of([(scheme, authority)], hadoop))
    if scheme in hdfs.SCHEMES:
        return given
    if parse(location).scheme == "s3":
        arguments = s3_with_environment(s3_arguments(authority, given))
        found = {name: str(arguments[each]) for each, name in _S3.items() if each in arguments}
        if "endpoint_override" in arguments:
            protocol = arguments.get("scheme", "https")
            endpoint = str(arguments["endpoint_override"]).rpartition("://")[2]
            found |= {"AWS_ENDPOINT_URL": f"{protocol}://{endpoint}", "AWS_ALLOW_HTTP": str(protocol == "http").lower()}
        return found
    return _azure_options(authority, given) if parse(location).scheme == "abfss" else {}


def _azure_options(authority: str, given: Mapping[str, str]) -> dict[str, str]:
    arguments = azure_arguments(authority.rpartition("@")[2], given)
    found = {name: str(arguments[each]) for each, name in _AZURE.items() if each in arguments}
    endpoint = blob_endpoint(arguments)
    if endpoint is not None:
        found |= {"AZURE_STORAGE_ENDPOINT": endpoint, "allow_http": str(endpoint.startswith("http:")).lower()}
    return found


def _files(actions: pa.Table) -> list[DataFile]:
    listed = zip(*(actions[name].to_pylist() for name in ("path", "size_bytes", "modification_time")), strict=True)
    return sorted((DataFile(path, size, modified * _NS_PER_MS) for path, size, modified in listed), key=_path)


def _path(file: DataFile) -> str:
    return file.path


def _rows(table: Any, actions: pa.Table) -> int | None:
    """The number of rows by the log; None if a file has no count, or if the table may have deletion vectors."""
    if "deletionVectors" in (table.protocol().reader_features or ()):
        return None
    counts = actions["num_records"]
    return None if counts.null_count else int(pc.sum(counts).as_py() or 0)


def _names(schema: str, columns: Sequence[str]) -> list[str]:
    """The columns' names with the letter case of the log."""
    names = {field["name"].lower(): field["name"] for field in schema_fields({LOG_SCHEMA: schema})}
    missing = [column for column in columns if column not in names]
    if missing:
        raise StatementError(
            f"the metastore has a column {missing[0]} that the Delta log has not, only {', '.join(names)}"
        )
    return [names[column] for column in columns]


def _batches(shown: str, table: Any, names: list[str], errors: type[Exception]) -> Iterator[pa.RecordBatch]:
    if _finds_by_id(table.metadata()):
        raise UnreadableFile(
            f"table {shown} cannot be read as Delta Lake: its columns are found by ids, which delta-rs takes for names,"
            " and it has files elsewhere or another feature that delta-rs alone reads"
        )
    # Without requested columns one is read all the same, since rows are counted by batches.
    wanted = names or [field.name for field in table.schema().fields[:1]]
    try:
        yield from pa.RecordBatchReader.from_stream(table.scan(wanted))
    except (errors, OSError, pa.ArrowException, ValueError) as error:
        raise UnreadableFile(f"table {shown} cannot be read as Delta Lake: {error}") from error
