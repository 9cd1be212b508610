"""What an analysis will read: columns with their kinds, partitions with their places. Made before any job starts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hmstats.client import Metastore
from hmstats.collector.statement import PartitionSpec, Statement
from hmstats.errors import StatementError
from hmstats.model.catalog import Partition, Storage, Table, TableName
from hmstats.model.column_types import kind_of
from hmstats.model.names import NULL_PARTITION_VALUE, partition_name

WHOLE_TABLE = ""
"""Stands where a partition's name would, in a table without partition keys."""

_PROVIDER = "spark.sql.sources.provider"
"""The parameter by which Spark knows its own tables."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A partition, or the whole of an unpartitioned table (its name is WHOLE_TABLE)."""

    name: str
    values: tuple[str, ...]
    location: str
    parquet: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """An analysis. `types` is column to Hive type; `skipped` is column to the reason why it has no statistics.

    `spec`: partition key to value, of the partitions that are asked for.
    """

    table: TableName
    keys: tuple[str, ...]
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    pieces: tuple[Piece, ...]
    spec: PartitionSpec

    @property
    def whole(self) -> bool:
        """Whether every partition is analysed, so that the table's own statistics can be made."""
        return not any(value is not None for value in self.spec.values())

    @property
    def has_files(self) -> bool:
        """Whether there are files to count; a view has none."""
        return any(piece.location for piece in self.pieces) or bool(self.keys)

    @property
    def parquet(self) -> bool:
        """Whether every piece is made of Parquet files."""
        return all(piece.parquet for piece in self.pieces)


def make_plan(metastore: Metastore, request: Statement) -> Plan:
    """The plan of a request. Raises StatementError for a table, a column or a partition key that is not there."""
    table = metastore.find_table(request.table)
    if table is None:
        raise StatementError(f"table {_shown(request.table)} is not in the metastore at {metastore.address}")
    types, skipped = _columns(table, request.columns)
    spec = _checked_spec(table, request.partitions)
    return Plan(
        table=table.name,
        keys=_keys(table),
        types=types,
        skipped=skipped,
        pieces=tuple(_pieces(metastore, table, spec)),
        spec=spec,
    )


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
    chosen = {name: known[name] for name in wanted or known}
    types = {name: type_ for name, type_ in chosen.items() if kind_of(type_) is not None}
    skipped = {name: f"type {type_} has no statistics" for name, type_ in chosen.items() if name not in types}
    return types, skipped


def _checked_spec(table: Table, spec: PartitionSpec | None) -> PartitionSpec:
    keys = _keys(table)
    for key in spec or ():
        if key not in keys:
            found = ", ".join(keys) or "none"
            raise StatementError(f"table {_shown(table.name)} has no partition key {key}, only {found}")
    return spec or {}


def _pieces(metastore: Metastore, table: Table, spec: PartitionSpec) -> Iterable[Piece]:
    if not table.partition_keys:
        yield Piece(WHOLE_TABLE, (), _table_location(table), is_parquet(table.storage, table))
        return
    keys = _keys(table)
    for partition in metastore.partitions(table.name, metastore.partition_names(table.name)):
        if _matches(keys, partition, spec):
            name = partition_name(keys, partition.values)
            yield Piece(name, partition.values, _location(partition.storage), is_parquet(partition.storage, table))


def _matches(keys: Sequence[str], partition: Partition, spec: PartitionSpec) -> bool:
    values = dict(zip(keys, partition.values, strict=True))
    return all(value is None or values[key] == (value or NULL_PARTITION_VALUE) for key, value in spec.items())


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
