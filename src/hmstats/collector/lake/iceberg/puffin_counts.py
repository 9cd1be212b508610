"""Converts distinct counts that engines registered in an Iceberg table's metadata to the metastore's statistics."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hmstats.client import Metastore
from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.impala_snapshots import PARAMETER, with_snapshot
from hmstats.collector.lake.iceberg.reader import read_table_metadata
from hmstats.collector.lake.opened import Hadoop, no_settings
from hmstats.errors import StatementError, UnknownCall
from hmstats.model.catalog.objects import Table
from hmstats.model.catalog.table_formats import table_format
from hmstats.model.statistics.column_statistics import DATA_CLASSES, ColumnStatistics, Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.puffin.snapshot import ndvs

_UNCOUNTED = (Kind.BOOLEAN, Kind.BINARY)
"""Kinds whose statistics in the metastore have no distinct count."""


@dataclass(frozen=True, slots=True)
class PuffinCounts:
    """Column statistics with the registered distinct counts, and the table's parameter for Impala.

    All other numbers of the columns are the stored ones. `left_out` is the reason by column without a count.
    """

    columns: tuple[ColumnStatistics, ...]
    parameters: Mapping[str, str]
    left_out: Mapping[str, str]


def puffin_counts(metastore: Metastore, table: Table, hadoop: Hadoop = no_settings) -> PuffinCounts:
    """The distinct counts in the entry of the current snapshot, or of its nearest ancestor that has one.

    A column that has a sketch in the metastore is left out. Raises StatementError if the table is of another format, if
    its metadata cannot be read, or if they have no statistics of the snapshot or its ancestors; SettingsError if
    PyIceberg is not installed.
    """
    shown = table.name.short
    if table_format(table) != "Iceberg":
        raise StatementError(f"table {shown} is not of the format Iceberg, so that it has no Puffin file")
    metadata = read_table_metadata(table, hadoop)
    current = metadata_of.current_snapshot_id(metadata)
    entry = None if current is None else metadata_of.nearest_entry(metadata, current)
    if entry is None:
        raise StatementError(f"table {shown} has no Puffin file of its current snapshot, nor of an earlier one")
    names = {int(each["id"]): str(each["name"]).lower() for each in metadata_of.schema(metadata).get("fields") or ()}
    types = {column.name.lower(): column.type.lower() for column in table.columns}
    stored = _stored_statistics(metastore, table, list(types))
    found: list[ColumnStatistics] = []
    fields: list[int] = []
    left_out: dict[str, str] = {}
    for field, ndv in sorted(ndvs(entry).items()):
        column = names.get(field)
        if column is None or column not in types:
            continue
        reason = _reason(types[column], stored.get(column))
        if reason is not None:
            left_out[column] = reason
            continue
        found.append(_with_count(column, types[column], stored.get(column), ndv, entry))
        fields.append(field)
    parameter = with_snapshot(table.parameters.get(PARAMETER, ""), fields, int(entry["snapshot-id"]))
    return PuffinCounts(tuple(found), {PARAMETER: parameter} if fields else {}, left_out)


def _stored_statistics(metastore: Metastore, table: Table, columns: list[str]) -> dict[str, ColumnStatistics]:
    """The stored statistics by column, with their sketches where the metastore sends any."""
    try:
        found = [column for each in metastore.statistics(table.name, columns) for column in each.columns]
    except UnknownCall:  # not an hmstats
        found = list(metastore.table_statistics(table.name, columns))
    return {each.column: each for each in found}


def _reason(type_: str, stored: ColumnStatistics | None) -> str | None:
    """The reason why a column is left out, or None."""
    kind = kind_of(type_)
    if kind is None or kind in _UNCOUNTED:
        return f"statistics of type {type_} have no distinct count"
    if stored is not None and getattr(stored.data, "bit_vector", None):
        return "it has a sketch in the metastore, which hmstats analyze renews"
    return None


def _with_count(
    column: str, type_: str, stored: ColumnStatistics | None, ndv: int, entry: Mapping[str, Any]
) -> ColumnStatistics:
    kind = kind_of(type_)
    assert kind is not None
    data: Any = DATA_CLASSES[kind]() if stored is None else stored.data
    tool = f"Puffin file {str(entry['statistics-path']).rpartition('/')[2]}, Iceberg snapshot {entry['snapshot-id']}"
    return ColumnStatistics(column, type_, replace(data, ndv=ndv), None, Provenance(exact=False, tool=tool))
