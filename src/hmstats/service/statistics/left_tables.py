"""Tables as the plain writes of this process left them, and the partitions that these wrote to.

While nobody else changes a table, all that was seen of it in a run of such writes is still true at its last number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.model.catalog import Parameters, TableName
from hmstats.model.statistics_by_field import KindOfColumn
from hmstats.service.statistics.newest import Newest
from hmstats.store.targets import Target

_MOST_PARTITIONS = 5_000
_ALONE_WRITES = 8
"""A run of so many writes says that there will be another: a write that expects that in vain is done twice."""


class Rows(NamedTuple):
    """The rows of statistics that a write leaves of a table, or of each of its partitions."""

    engine: str
    columns: tuple[KindOfColumn, ...]


class Owners(NamedTuple):
    """Who has statistics, a table or its partitions: ids, in their order, and what is known of each.

    `stored` are rows that the only one of them has.
    """

    ids: Sequence[int]
    known: Mapping[int, Parameters]
    stored: Rows | None = None


class _LeftTable(NamedTuple):
    """A table as the last write left it, and its number before the first of the run of writes.

    `stored` are the rows that the last write to the table itself in that run has left.
    """

    target: Target
    since: int
    stored: Rows | None


class _LeftPartition(NamedTuple):
    """A partition as the last write to it left it, which has given the table this number."""

    id: int
    known: Parameters
    stored: Rows
    version: int


class LeftTables:
    """What the writes of one process know without reading. One object serves all threads."""

    def __init__(self) -> None:
        self._tables = Newest[TableName, _LeftTable]()
        self._partitions = Newest[tuple[TableName, str], _LeftPartition](_MOST_PARTITIONS)

    def table(self, name: TableName) -> Target | None:
        """The table as the last write left it."""
        left = self._tables.get(name)
        return left.target if left else None

    def table_alone(self, name: TableName) -> Target | None:
        """The same where nobody else came between the last writes, so that it is likely to be so still."""
        left = self._tables.get(name)
        return left.target if left and left.target.version - left.since >= _ALONE_WRITES else None

    def owners(self, name: TableName, target: Target, partitions: Sequence[str] | None) -> Owners | None:
        """Partitions of a table, or (None) the table itself; None unless all is known of it as `target` is."""
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

    def put(self, name: TableName, found: Target, partitions: Sequence[str] | None, left: Owners) -> None:
        """Remember a table that a write found so and counted once, and its partitions, or itself, as that left them."""
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
