"""The tables of a metastore, and which of them have statistics: how many columns and partitions, and how old.

A page of tables is one call, which says what the tables' own parameters say. The details of a table are a few calls
more, as many for one partition or column as for thousands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby

from hmstats.client.metastore import Metastore
from hmstats.client.naming import named_pattern
from hmstats.client.tables.stored_statistics import statistics_columns
from hmstats.errors import CallRefused, StatementError, UnknownCall
from hmstats.model.catalog.objects import VIRTUAL_VIEW, Table, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import known_rows

_ALL = "*"


@dataclass(frozen=True, slots=True)
class Details:
    """The stored statistics of a table.

    `columns` have statistics of the table or of partitions. `analyzed_partitions` counts the partitions that have
    statistics of each of them; both counts are None for a table without partition keys. `written_at_seconds` is when
    any of the statistics were last written, in epoch seconds; None if the metastore does not tell.
    """

    columns: tuple[str, ...]
    partitions: int | None
    analyzed_partitions: int | None
    written_at_seconds: int | None


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table in a list. `details` is None if they were not asked for, or were refused for a reason."""

    table: Table
    details: Details | None = None
    refused: str | None = None

    @property
    def rows(self) -> int | None:
        """The number of rows in the table's parameters."""
        return known_rows(self.table.parameters)

    @property
    def columns(self) -> list[str]:
        """The columns that can have statistics."""
        return statistics_columns(self.table)

    @property
    def accurate(self) -> list[str]:
        """The columns that the table's own COLUMN_STATS_ACCURATE names."""
        marked = Accurate.parse(self.table.parameters.get(PARAMETER)).columns
        return [each for each in self.columns if each.lower() in marked]


def find_tables(service: Metastore, patterns: Sequence[str] = (), *, details: bool = False) -> Iterator[ListedTable]:
    """The tables whose names match these patterns (`[CATALOG.]DB.TABLE` with `*` for characters; none: all), by name.

    Views are skipped. Raises StatementError for a text that is no such pattern, and for a pattern without a table.
    """
    found = (
        {name for pattern in patterns for name in _matching_tables(service, pattern)}
        if patterns
        else _all_tables(service)
    )
    names = sorted(found, key=str)
    for of, group in groupby(names, key=lambda name: name.parent):
        for table in service.tables(of.database, [name.table for name in group], of.catalog):
            yield _with_details(service, table) if details else ListedTable(table)


def _all_tables(service: Metastore) -> list[TableName]:
    catalogs = service.catalog_names()
    return [name for each in catalogs for name in _query_tables(service, TableName(each, _ALL, _ALL))]


def _matching_tables(service: Metastore, text: str) -> list[TableName]:
    found = _query_tables(service, named_pattern(text))
    if not found:
        raise StatementError(f"no table of the metastore at {service.address} matches {text}")
    return found


def _query_tables(service: Metastore, pattern: TableName) -> list[TableName]:
    """The tables that match, but views; a metastore's patterns know more than `*`, so its answer is filtered."""
    return [
        name
        for name, kind in service.table_types(pattern.database, pattern.table, pattern.catalog)
        if kind != VIRTUAL_VIEW
        and fnmatchcase(name.database, pattern.database)
        and fnmatchcase(name.table, pattern.table)
    ]


def _with_details(service: Metastore, table: Table) -> ListedTable:
    """A table with its details, unless its statistics are not for this user, or it was dropped meanwhile."""
    try:
        return ListedTable(table, _details(service, table))
    except CallRefused as error:
        if not error.is_of_one_object:
            raise
        return ListedTable(table, refused=str(error))


def _details(service: Metastore, table: Table) -> Details:
    columns = statistics_columns(table)
    own = [each.column for each in service.table_statistics(table.name, columns)] if columns else []
    if not table.partition_keys:
        written = service.written_at_seconds(table.name, own) if own else {}
        return Details(tuple(own), None, None, written.get(None))
    names = service.partition_names(table.name)
    if not names or not columns:
        return Details(tuple(own), len(names), 0, None)
    found, complete = _count_complete_partitions(service, table, columns, names)
    both = {*own, *found}
    written_at = _written_at_seconds(service, table, found[0]) if found else None
    return Details(tuple(each for each in columns if each.lower() in both), len(names), complete, written_at)


def _count_complete_partitions(
    service: Metastore, table: Table, columns: Sequence[str], names: Sequence[str]
) -> tuple[list[str], int]:
    """The columns that any partition has statistics of, and how many partitions have those of all of them.

    A metastore counts the partitions that have every column of the request, so columns without any are left out of a
    second one.
    """
    found, complete = service.aggregated_statistics(table.name, columns, names)
    some = [each.column for each in found]
    if some and len(some) < len(columns):
        _, complete = service.aggregated_statistics(table.name, some, names)
    return some, complete if some else 0


def _written_at_seconds(service: Metastore, table: Table, column: str) -> int | None:
    """When a column's statistics of any partition were last written. A Hive Metastore has no call for all of them."""
    try:
        found = service.provenance(table.name, [column], [])
    except UnknownCall:
        return None
    return max((each.provenance.written_at_seconds or 0 for each in found), default=0) or None
