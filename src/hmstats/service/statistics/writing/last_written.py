"""Cache of the tables and partitions that the plain writes of this process wrote last.

While no other writer changes a table, everything read of it in a run of such writes is still true at its last version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.statistics.statistics_by_field import KindOfColumn
from hmstats.service.statistics.writing.recent_tables import Newest
from hmstats.store.statistics.table_facts import TableFacts

_MOST_PARTITIONS = 5_000
_ALONE_WRITES = 8
"""Writes in a row after which no other writer is expected. A write that wrongly expects none is done twice."""


class Rows(NamedTuple):
    """The rows of statistics that a write stores for a table, or for each of its partitions."""

    engine: str
    columns: tuple[KindOfColumn, ...]


class Owners(NamedTuple):
    """Owners of statistics, a table or its partitions: their ids in order, and the parameters read of each.

    `stored` are the rows of statistics, if there is a single owner and they are known.
    """

    ids: Sequence[int]
    known: Mapping[int, Parameters]
    stored: Rows | None = None


class _LeftTable(NamedTuple):
    """A table after the last write; `since` is its version before the first write of the run.

    `stored` are the rows of the run's last write to the table itself.
    """

    target: TableFacts
    since: int
    stored: Rows | None


class _LeftPartition(NamedTuple):
    """A partition after the last write to it, which gave the table this version."""

    id: int
    known: Parameters
    stored: Rows
    version: int


class LastWrittenTables:
    """Cache of the tables and partitions that one process wrote last. Thread-safe."""

    def __init__(self) -> None:
        self._tables = Newest[TableName, _LeftTable]()
        self._partitions = Newest[tuple[TableName, str], _LeftPartition](_MOST_PARTITIONS)

    def forget(self) -> None:
        """Clear the cache."""
        self._tables.forget()
        self._partitions.forget()

    def table(self, name: TableName) -> TableFacts | None:
        """The table after the last write; None if it is not cached."""
        left = self._tables.get(name)
        return left.target if left else None

    def table_alone(self, name: TableName) -> TableFacts | None:
        """The table after the last write, if the last _ALONE_WRITES writes or more were this process's; else None."""
        left = self._tables.get(name)
        return left.target if left and left.target.version - left.since >= _ALONE_WRITES else None

    def owners(self, name: TableName, target: TableFacts, partitions: Sequence[str] | None) -> Owners | None:
        """Owners of statistics: partitions, or (None) the table itself. None unless all are cached as of `target`."""
        left = self._tables.get(name)
        if left is None or left.target is not target:
            return None
        if partitions is None:
            return Owners([target.id], {target.id: target.parameters}, left.stored)
        found = [self._partitions.get((name, each)) for each in partitions]
        seen = [each for each in found if each is not None and each.version >= left.since]
        if len(seen) < len(found):
            return None
        known = {each.id: each.known for each in seen}
        return Owners([each.id for each in seen], known, seen[0].stored if len(seen) == 1 else None)

    def put(self, name: TableName, found: TableFacts, partitions: Sequence[str] | None, left: Owners) -> None:
        """Cache a table that a write read as `found` and bumped by one version, and its partitions (None: itself)."""
        assert left.stored is not None
        before = self._tables.get(name)
        if before is not None and (before.target.id, before.target.version) != (found.id, found.version):
            before = None
        since, stored = (before.since, before.stored) if before else (found.version, None)
        target = replace(found, version=found.version + 1)
        if partitions is None:
            target, stored = replace(target, parameters={**found.parameters, **left.known[found.id]}), left.stored
        else:
            each = zip(partitions, left.ids, strict=True)
            now = {(name, p): _LeftPartition(i, left.known[i], left.stored, target.version) for p, i in each}
            self._partitions.put_all(now)
        self._tables.put(name, _LeftTable(target, since, stored))
