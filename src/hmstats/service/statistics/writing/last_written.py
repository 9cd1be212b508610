"""Cache of the tables and partitions that the plain writes of this process wrote last.

While a table keeps its definition (versions.py), everything read of it in a run of such writes is still true, whoever
else writes plain statistics of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.statistics.statistics_by_field import KindOfColumn, StatisticsByField
from hmstats.service.statistics.writing.recent_tables import Newest
from hmstats.store.statistics.table_facts import TableFacts

_MOST_PARTITIONS = 5_000
_SETTLED_WRITES = 2
"""Writes in a row after which a definition is expected to stay. A write that wrongly expects so is done twice."""


class Rows(NamedTuple):
    """The rows of statistics that a write stores for a table, or for each of its partitions."""

    engine: str
    columns: tuple[KindOfColumn, ...]

    @classmethod
    def of(cls, statistics: StatisticsByField) -> "Rows":
        """The rows that statistics are stored in."""
        return cls(statistics.engine, tuple(statistics.columns))


class Told(NamedTuple):
    """What the history tells of rows that one process has written: it says since a version what was stored.

    The write of this version has copied what was there before, on a day (since 1970, in UTC), when the table had this
    definition.
    """

    version: int
    day: int
    definition: int


class Owners(NamedTuple):
    """Owners of statistics, a table or its partitions: their ids in order, and the parameters read of each.

    `stored` are the rows of statistics, if all have the same and they are known; `told` is what the history tells of
    these, if it tells it of all.
    """

    ids: Sequence[int]
    known: Mapping[int, Parameters]
    stored: Rows | None = None
    told: Told | None = None


class _LeftTable(NamedTuple):
    """A table after the last write; `since` is its definition before the first of the `writes` of the run.

    `stored` are the rows of the run's last write to the table itself, and `told` what the history tells of them.
    """

    target: TableFacts
    since: int
    writes: int
    stored: Rows | None
    told: Told | None


class _LeftPartition(NamedTuple):
    """A partition after the last write to it, which left the table with this definition."""

    id: int
    known: Parameters
    stored: Rows
    definition: int
    told: Told | None


class LastWrittenTables:
    """Cache of the tables and partitions that one process wrote last. Thread-safe."""

    def __init__(self) -> None:
        self._tables = Newest[TableName, _LeftTable]()
        self._partitions = Newest[tuple[int, str], _LeftPartition](_MOST_PARTITIONS)  # by the id of their table

    def forget(self) -> None:
        """Clear the cache."""
        self._tables.forget()
        self._partitions.forget()

    def table(self, name: TableName) -> TableFacts | None:
        """The table after the last write; None if it is not cached."""
        left = self._tables.get(name)
        return left.target if left else None

    def settled_table(self, name: TableName) -> TableFacts | None:
        """The table after the last write, if its definition was as cached in the last _SETTLED_WRITES; else None."""
        left = self._tables.get(name)
        return left.target if left and left.writes >= _SETTLED_WRITES else None

    def owners(self, name: TableName, target: TableFacts, partitions: Sequence[str] | None) -> Owners | None:
        """Owners of statistics: partitions, or (None) the table itself. None unless all are cached as of `target`."""
        left = self._tables.get(name)
        if left is None or left.target is not target:
            return None
        if partitions is None:
            return Owners([target.id], {target.id: target.parameters}, left.stored, left.told)
        found = [self._partitions.get((target.id, each)) for each in partitions]
        seen = [each for each in found if each is not None and each.definition >= left.since]
        if len(seen) < len(found):
            return None
        known = {each.id: each.known for each in seen}
        stored = seen[0].stored if all(each.stored == seen[0].stored for each in seen) else None
        told = _told_of_all([each.told for each in seen])
        return Owners([each.id for each in seen], known, stored, told)

    def put(
        self, name: TableName, found: TableFacts, definition: int, partitions: Sequence[str] | None, left: Owners
    ) -> None:
        """Cache a table that a write read as `found`, and its partitions (None: itself).

        The write has bumped the table's version by one, and left it with this definition.
        """
        assert left.stored is not None
        before = self._tables.get(name)
        if before is not None and (before.target.id, before.target.definition) != (found.id, found.definition):
            before = None
        since, writes = (before.since, before.writes) if before else (found.definition, 0)
        stored, told = (before.stored, before.told) if before else (None, None)
        target = replace(found, version=found.version + 1, definition=definition)
        if partitions is None:
            target = replace(target, parameters={**found.parameters, **left.known[found.id]})
            stored, told = left.stored, left.told
        else:
            now = {
                (target.id, each): _LeftPartition(part_id, left.known[part_id], left.stored, definition, left.told)
                for each, part_id in zip(partitions, left.ids, strict=True)
            }
            self._partitions.put_all(now)
        self._tables.put(name, _LeftTable(target, since, writes + 1, stored, told))


def _told_of_all(each: Sequence[Told | None]) -> Told | None:
    """What the history tells of rows of several owners; None if it does not tell it of all, or of different days."""
    told = [one for one in each if one is not None]
    return min(told) if len(told) == len(each) and len({one.day for one in told}) == 1 else None
