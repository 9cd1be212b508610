"""The plan of an analysis: columns with their types, partitions with their locations. Made before any job starts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from hmstats.client import Metastore
from hmstats.collector.planning.hive_reads import reads_alike
from hmstats.collector.planning.manifests import has_manifests
from hmstats.collector.planning.pieces import WHOLE_TABLE, Piece
from hmstats.collector.request.partition_spec import PartitionSpec, TextSpec, check_spec, pruning_values
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.files.file_systems import NO_SETTINGS, Settings
from hmstats.model.catalog.names import partition_name, partition_spec
from hmstats.model.catalog.objects import Column, Parameters, Storage, Table, TableName
from hmstats.model.catalog.refused_tables import folder_refusal, format_refusal
from hmstats.model.catalog.table_formats import format_of_provider
from hmstats.model.partitions.partition_values import names_by_spec
from hmstats.model.spark.spark_schema import PROVIDER, data_columns, finds_partitions_in_folder, with_defaults
from hmstats.model.statistics.column_types import kind_of


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of an analysis. `types` is Hive type by column; `skipped` is the reason by column without statistics.

    `spec` is the value by partition key of the requested partitions; if they are `chosen` by several names or by a
    filter, it is empty. `parameters` are the table's own. `unchanged` are requested pieces that are not analysed again.
    `settings` are Hadoop's for the locations. `key_columns` are the partition keys with their types. `unlisted` are
    requested pieces whose files cannot be listed, with the reason, `locked` those whose statistics are locked or
    skipped. `left_out` is the reason why an automatic analysis leaves out the table. `hive_reads_alike`: Hive reads the
    same rows and values as Spark. `spark_location` is the location of a table of Spark's own, "" for other tables.
    """

    table: TableName
    keys: tuple[str, ...]
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    pieces: tuple[Piece, ...]
    spec: TextSpec
    parameters: Parameters = field(default_factory=dict)
    unchanged: tuple[Piece, ...] = ()
    settings: Settings = field(default=NO_SETTINGS, repr=False)
    key_columns: tuple[Column, ...] = ()
    unlisted: tuple[tuple[Piece, str], ...] = ()
    chosen: bool = False
    locked: tuple[Piece, ...] = ()
    left_out: str | None = None
    hive_reads_alike: bool = True
    spark_location: str = ""

    @property
    def pieces_left_out(self) -> tuple[Piece, ...]:
        """The requested pieces that are not analysed."""
        return (*self.unchanged, *self.locked, *(piece for piece, _ in self.unlisted))

    @property
    def whole(self) -> bool:
        """Whether every partition is requested, so that the table's own statistics can be computed."""
        return not self.chosen and not any(value is not None for value in self.spec.values())

    @property
    def has_files(self) -> bool:
        """Whether the table has files to count; a view has none."""
        return any(piece.location for piece in (*self.pieces, *self.unchanged)) or bool(self.keys)

    @property
    def in_files(self) -> bool:
        """Whether the files of every piece are read directly."""
        return all(piece.in_files for piece in self.pieces)


def make_plan(metastore: Metastore, request: Statement) -> Plan:
    """The plan of a request. Only the requested partitions are read from the metastore.

    Raises StatementError for a missing table, column, partition key or partition, for a value that does not fit its
    key's type, for a named column whose type has no statistics, and for a transactional table.
    """
    table, types, skipped, specs = _resolve_request(metastore, request)
    chosen = len(specs) > 1 or request.where is not None
    return Plan(
        table=table.name,
        keys=_keys(table),
        types=types,
        skipped=skipped,
        pieces=tuple(_pieces(metastore, table, specs, request.where)),
        spec={} if chosen else specs[0],
        parameters=table.parameters,
        key_columns=table.partition_keys,
        chosen=chosen,
        hive_reads_alike=reads_alike(table),
        spark_location=table_location(table) if PROVIDER in table.parameters else "",
    )


def resolve_table(metastore: Metastore, request: Statement) -> Table:
    """The table of a request. Raises StatementError as make_plan does, but does not look up partitions."""
    return _resolve_request(metastore, request)[0]


def _resolve_request(
    metastore: Metastore, request: Statement
) -> tuple[Table, dict[str, str], dict[str, str], Sequence[TextSpec]]:
    """The table, its columns with their types, skipped columns with the reason, and one or more specs of partitions."""
    table = metastore.existing_table(request.table)
    check_folder(table)
    if request.where is not None and not table.partition_keys:
        raise StatementError(f"table {table.name.typed} has no partitions, so none matches {request.where}")
    taken = metastore.accepts_spark_columns(table)
    specs = [_check_spec(table, each) for each in request.partitions or ({},)]
    return table, *columns_of(table, request, taken=taken), specs


def check_folder(table: Table) -> None:
    """Raises StatementError for a table whose folder does not determine its rows, such as one of Iceberg or Flink."""
    reason = folder_refusal(table)
    if reason is not None:
        raise StatementError(f"table {table.name.typed} {reason}")


def check_provider(name: str, provider: str | None) -> None:
    """Raises StatementError if Spark's provider of a new table is such a format."""
    format_name = format_of_provider(provider)
    if format_name is not None:
        raise StatementError(f"table {name} {format_refusal(format_name)}")


def columns_of(table: Table, request: Statement, *, taken: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The columns to analyse with their types, and the columns to skip with the reason.

    `taken`: the metastore accepts statistics of columns that only Spark's schema has. Raises StatementError for a
    requested column that is missing or cannot have statistics.
    """
    wanted = request.columns
    columns = data_columns(table)
    known = {column.name.lower(): column.type.lower() for column in columns}
    reasons = _without_statistics(columns) if taken else dict.fromkeys(known, _NOT_TAKEN)
    keys = {key.name.lower() for key in table.partition_keys}
    for name in wanted or ():
        if name in keys:
            raise StatementError(f"column {name} of {table.name.typed} is a partition key: keys have no statistics")
        if name not in known:
            found = ", ".join(known)
            raise StatementError(f"table {table.name.typed} has no column {name}, only {found}")
        if kind_of(known[name]) is None:
            raise StatementError(f"column {name} of {table.name.typed} is of type {known[name]}, without statistics")
        if name in reasons:
            raise StatementError(f"column {name} of {table.name.typed} cannot be analysed: {reasons[name]}")
    reasons |= dict.fromkeys(request.without & known.keys(), LEFT_OUT)
    chosen = known if wanted is None else wanted
    types = {name: known[name] for name in chosen if name not in reasons}
    return types, {name: reasons[name] for name in chosen if name in reasons}


LEFT_OUT = "a preference leaves it out"
"""The reason for skipping a column whose preference says so."""
_NOT_TAKEN = "the metastore has none of the columns of Spark's schema, and so takes no statistics of them"


def _without_statistics(columns: Sequence[Column]) -> dict[str, str]:
    """The columns that cannot have statistics, with the reason."""
    names = Counter(column.name.lower() for column in columns)
    reasons = {
        column.name.lower(): f"type {column.type.lower()} has no statistics"
        for column in columns
        if kind_of(column.type) is None
    }
    twice = {name: "another column has the same name but for its case" for name, count in names.items() if count > 1}
    return reasons | twice


def _check_spec(table: Table, spec: PartitionSpec) -> dict[str, str | None]:
    keys = _keys(table)
    for key in spec:
        if not keys:
            raise StatementError(f"table {table.name.typed} has no partitions, so none with a key {key}")
        if key not in keys:
            raise StatementError(f"table {table.name.typed} has no partition key {key}, only {', '.join(keys)}")
    return check_spec(table.name.typed, spec, table.partition_keys)


def _pieces(metastore: Metastore, table: Table, specs: Sequence[TextSpec], where: str | None) -> Iterable[Piece]:
    if not table.partition_keys:
        yield _piece(table, WHOLE_TABLE, (), table_location(table), table.storage, table.parameters)
        return
    keys = _keys(table)
    for partition in metastore.partitions(table.name, _names(metastore, table, specs, where)):
        name, storage = partition_name(keys, partition.values), partition.storage
        yield _piece(table, name, partition.values, _location(storage), storage, partition.parameters)


def _piece(
    table: Table, name: str, values: tuple[str, ...], location: str, storage: Storage | None, parameters: Parameters
) -> Piece:
    parquet, orc = (is_format(each, storage, table) for each in (PARQUET, ORC))
    return Piece(name, values, location, parquet, parameters, orc, by_manifest=has_manifests(storage))


def _names(metastore: Metastore, table: Table, specs: Sequence[TextSpec], where: str | None) -> list[str]:
    """The names of the requested partitions, preselected by the metastore as far as it can compare values.

    A filter, which may compare texts, also selects by value: rows that Spark reads do not tell month=1 from month=01.

    Raises StatementError if a filter, or a spec with values, matches none.
    """
    if where is not None:
        specs = [partition_spec(name) for name in metastore.partition_names_by_filter(table, where)]
        if not specs:
            raise StatementError(f"table {table.name.typed} has no partition that matches {where}")
    columns = table.partition_keys
    found = metastore.partition_names(table.name, pruning_values(specs[0], columns) if len(specs) == 1 else ())
    if not found and not any(map(_values, specs)) and finds_partitions_in_folder(table):
        raise no_partitions(table.name)
    matched = names_by_spec(specs, columns, found)
    for spec, names in zip(specs, matched, strict=True):
        values = _values(spec)
        if values and not names:
            wanted = ", ".join(f"{key}={value}" for key, value in values.items())
            raise StatementError(f"table {table.name.typed} has no partition with {wanted}")
    wanted_names = set(chain.from_iterable(matched))
    return [name for name in found if name in wanted_names]


def no_partitions(name: TableName) -> StatementError:
    """The error for a table whose partitions Spark finds in its folder, and for which the metastore has none."""
    return StatementError(
        f"table {name.typed} has no partition in the metastore, but Spark reads those of its folder:"
        f" store them by MSCK REPAIR TABLE {name.typed} in Spark"
    )


def _values(spec: TextSpec) -> dict[str, str]:
    return {key: value for key, value in spec.items() if value is not None}


def _keys(table: Table) -> tuple[str, ...]:
    return tuple(key.name.lower() for key in table.partition_keys)


def _location(storage: Storage | None) -> str:
    return (storage.location if storage else None) or ""


def table_location(table: Table) -> str:
    """The table's location, which Spark stores among the SerDe's parameters for external tables of its own."""
    path = table.storage.serde.parameters.get("path") if table.storage and PROVIDER in table.parameters else None
    return path or _location(table.storage)


PARQUET, ORC = "parquet", "orc"
_OPTIONS_OF_SPARK = frozenset(
    {
        *("pathglobfilter", "modifiedbefore", "modifiedafter"),
        *("ignorecorruptfiles", "ignoremissingfiles", "datetimerebasemode", "int96rebasemode"),
    }
)
BY_PLACE = "orc.force.positional.evolution"
"""The setting by which Hive and Spark find the columns of ORC files by position, whatever their names are."""
_CLASSES = {PARQUET: "parquet", ORC: ".orc."}
"""Formats by Spark's names, with a part of the names of their input formats and SerDes, in lower case."""


def is_format(name: str, storage: Storage | None, table: Table) -> bool:
    """Whether all values are in files of a format, judged by Spark's provider or else by the input format.

    If the input format only says that manifests name the files, the SerDe decides.

    A column with a default that was added later has no values in older files: Spark reads the default. Some options of
    Spark's own tables make Spark read other files or values, and an option of any table other columns of ORC.
    """
    if not storage or not storage.location or with_defaults(table.parameters):
        return False
    provider = table.parameters.get(PROVIDER, "hive").lower()
    options = table.storage.serde.parameters if table.storage and provider != "hive" else {}
    if not _OPTIONS_OF_SPARK.isdisjoint(map(str.lower, options)) or (name == ORC and _finds_by_place(table)):
        return False
    tells = storage.serde.library if has_manifests(storage) else storage.input_format
    return provider == name or (provider == "hive" and _CLASSES[name] in (tells or "").lower())


def _finds_by_place(table: Table) -> bool:
    """Whether columns of ORC files are found by position; Spark respects the parameters only of Hive's tables."""
    of_serde = table.storage.serde.parameters if table.storage else {}
    given = of_serde if PROVIDER in table.parameters else {**table.parameters, **of_serde}
    return any(name.lower() == BY_PLACE and value.lower() == "true" for name, value in given.items())
