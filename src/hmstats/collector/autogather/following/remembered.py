"""Remembers the last gathered states of tables, for the next write.

Spark alters a table with the parameters that it has read, which may be older than those stored meanwhile. And jobs that
write to one directory at the same time move each other's files, so that Spark's numbers of files do not match the jobs.
Then neither the metastore nor Spark tells which files the stored statistics are of, but the remembered state does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.scan.states import Types
from hmstats.model.catalog.objects import TableName
from hmstats.sketch.accumulator import TableAccumulator

_MOST_TABLES = 20


@dataclass(frozen=True, slots=True)
class RememberedTable:
    """The state of all rows in exactly these files of a table without partitions, for columns of these types."""

    files: Sequence[DataFile]
    types: Types
    options: Options
    state: TableAccumulator


class Remembered:
    """The last 20 tables that were gathered. One thread may use it."""

    def __init__(self) -> None:
        self._tables: dict[TableName, RememberedTable] = {}

    def note(self, table: TableName, found: RememberedTable) -> None:
        """Remember a table as it was just gathered."""
        self._tables.pop(table, None)
        self._tables[table] = found
        if len(self._tables) > _MOST_TABLES:
            del self._tables[next(iter(self._tables))]

    def __contains__(self, table: object) -> bool:
        """Whether a state of the table is remembered."""
        return table in self._tables

    def before(
        self, table: TableName, files: Sequence[DataFile], types: Types, options: Options
    ) -> RememberedTable | None:
        """The remembered state, if all of its files still exist, so that rows were only added since; else None."""
        known = self._tables.get(table)
        if known is None or (known.types, known.options) != (types, options) or not set(known.files) <= set(files):
            return None
        return known
