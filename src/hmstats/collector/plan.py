"""What an analysis will read: columns with their kinds, partitions with their places. Made before any job starts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hmstats.client import Metastore
from hmstats.collector.file_systems import NO_SETTINGS, Settings
from hmstats.collector.partition_spec import PartitionSpec, TextSpec, checked, matches, pruning_values
from hmstats.collector.pieces import WHOLE_TABLE, Piece
from hmstats.collector.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog import Parameters, Storage, Table, TableName
from hmstats.model.column_types import kind_of
from hmstats.model.names import partition_name, partition_values

_PROVIDER = "spark.sql.sources.provider"
"""The parameter by which Spark knows its own tables."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An analysis. `types` is column to Hive type; `skipped` is column to the reason why it has no statistics.

    `spec`: partition key to value, of the partitions that are asked for. `parameters` are the table's own.
    `unchanged` are pieces that are asked for too, but not analysed again. `settings` are Hadoop's for their places.
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

    @property
    def whole(self) -> bool:
        """Whether every partition is analysed, so that the table's own statistics can be made."""
        return not any(value is not None for value in self.spec.values())

    @property
    def has_files(self) -> bool:
        """Whether there are files to count; a view has none."""
        return any(piece.location for piece in (*self.pieces, *self.unchanged)) or bool(self.keys)

    @property
    def parquet(self) -> bool:
        """Whether every piece is made of Parquet files."""
        return all(piece.parquet for piece in self.pieces)


def make_plan(metastore: Metastore, request: Statement) -> Plan:
    """The plan of a request. Only the partitions that the request names are asked of the metastore.

    Raises StatementError for a table, a column, a partition key or a partition that is not there, for a value that is
    none of its key's type, for a column that is named and whose type has no statistics, and for a transactional table.
    """
    table, types, skipped, spec = _checked(metastore, request)
    return Plan(
        table=table.name,
        keys=_keys(table),
        types=types,
        skipped=skipped,
        pieces=tuple(_pieces(metastore, table, spec)),
        spec=spec,
        parameters=table.parameters,
    )


def check(metastore: Metastore, request: Statement) -> Table:
    """The table of a request. Raises StatementError as make_plan does, but does not look for partitions."""
    return _checked(metastore, request)[0]


def _checked(metastore: Metastore, request: Statement) -> tuple[Table, dict[str, str], dict[str, str], TextSpec]:
    """The table, its columns with their types, those to skip with the reason, and the partitions that are wanted."""
    table = metastore.find_table(request.table)
    if table is None:
        raise StatementError(f"table {_shown(request.table)} is not in the metastore at {metastore.address}")
    if str(table.parameters.get("transactional")).lower() == "true":
        raise StatementError(
            f"table {_shown(request.table)} is transactional: its files hold rows of transactions that were aborted"
            " too, which only Hive tells apart"
        )
    return table, *_columns(table, request.columns), _checked_spec(table, request.partitions)


def _columns(table: Table, wanted: Sequence[str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """Columns to analyse with their types, and columns to skip with the reason."""
    known = {column.name.lower(): column.type.lower() for column in table.columns}
    keys = {key.name.lower() for key in table.partition_keys}
    for name in wanted or ():
        if name in keys:
            raise StatementError(f"column {name} of {_shown(table.name)} is a partition key: keys have no statistics")
        if name not in known:
            found = ", ".join(known)
            raise StatementError(f"table {_shown(table.name)} has no column {name}, only {found}")
        if kind_of(known[name]) is None:
            raise StatementError(f"column {name} of {_shown(table.name)} is of type {known[name]}, without statistics")
    chosen = {name: known[name] for name in (known if wanted is None else wanted)}
    types = {name: type_ for name, type_ in chosen.items() if kind_of(type_) is not None}
    skipped = {name: f"type {type_} has no statistics" for name, type_ in chosen.items() if name not in types}
    return types, skipped


def _checked_spec(table: Table, spec: PartitionSpec | None) -> dict[str, str | None]:
    keys = _keys(table)
    for key in spec or ():
        if not keys:
            raise StatementError(f"table {_shown(table.name)} has no partitions, so none with a key {key}")
        if key not in keys:
            raise StatementError(f"table {_shown(table.name)} has no partition key {key}, only {', '.join(keys)}")
    return checked(spec or {}, table.partition_keys)


def _pieces(metastore: Metastore, table: Table, spec: TextSpec) -> Iterable[Piece]:
    if not table.partition_keys:
        parquet = is_parquet(table.storage, table)
        yield Piece(WHOLE_TABLE, (), _table_location(table), parquet, table.parameters)
        return
    keys = _keys(table)
    for partition in metastore.partitions(table.name, _names(metastore, table, spec)):
        name, parquet = partition_name(keys, partition.values), is_parquet(partition.storage, table)
        yield Piece(name, partition.values, _location(partition.storage), parquet, partition.parameters)


def _names(metastore: Metastore, table: Table, spec: TextSpec) -> list[str]:
    """The names of the partitions that are asked for, whose keys the metastore has looked at as far as it can."""
    keys = _keys(table)
    found = metastore.partition_names(table.name, pruning_values(spec, table.partition_keys))
    names = [name for name in found if matches(spec, table.partition_keys, partition_values(name, keys))]
    values = {key: value for key, value in spec.items() if value is not None}
    if values and not names:
        wanted = ", ".join(f"{key}={value}" for key, value in values.items())
        raise StatementError(f"table {_shown(table.name)} has no partition with {wanted}")
    return names


def _keys(table: Table) -> tuple[str, ...]:
    return tuple(key.name.lower() for key in table.partition_keys)


def _location(storage: Storage | None) -> str:
    return (storage.location if storage else None) or ""


def _table_location(table: Table) -> str:
    """Spark keeps the place of an external table of its own kind among the SerDe's parameters."""
    path = table.storage.serde.parameters.get("path") if table.storage and _PROVIDER in table.parameters else None
    return path or _location(table.storage)


def is_parquet(storage: Storage | None, table: Table) -> bool:
    """Whether the data are Parquet files, by Spark's provider or else by the input format."""
    if not storage or not storage.location:
        return False
    provider = table.parameters.get(_PROVIDER)
    if provider is not None and provider.lower() not in ("hive", "parquet"):
        return False
    return "parquet" in (storage.input_format or "").lower()


def _shown(name: TableName) -> str:
    return f"{name.database}.{name.table}"
