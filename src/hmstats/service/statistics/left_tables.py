"""Tables as the plain writes of this process left them, and the partitions that these wrote to.

While nobody else changes a table, all that was seen of it in a run of such writes is still true at its last number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.model.catalog import Parameters, TableName
from hmstats.service.statistics.newest import Newest
from hmstats.store.targets import Target

_MOST_PARTITIONS = 5_000


class Owners(NamedTuple):
    """Who has statistics, a table or its partitions: ids, in their order, and what is known of each."""

    ids: Sequence[int]
    known: Mapping[int, Parameters]


class _LeftTable(NamedTuple):
    """A table as the last write left it, and its number before the first of the run of writes."""

    target: Target
    since: int


class _LeftPartition(NamedTuple):
    id: int
    known: Parameters
    version: int
    """The table's number when the partition was seen so."""


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
        """The same where nobody else came between the last two writes, so that it is likely to be so still."""
        left = self._tables.get(name)
        return left.target if left and left.target.version - left.since > 1 else None

    def partitions(self, name: TableName, target: Target, partitions: Sequence[str]) -> Owners | None:
        """Partitions of a table that is as it was left; None where one of them was not seen since."""
        left = self._tables.get(name)
        found = [self._partitions.get((name, each)) for each in partitions]
        seen = [each for each in found if each is not None]
        if left is None or left.target is not target or len(seen) < len(found):
            return None
        if any(each.version < left.since for each in seen):
            return None
        return Owners([each.id for each in seen], {each.id: each.known for each in seen})

    def put(
        self, name: TableName, found: Target, partitions: Mapping[str, int], known: Mapping[int, Parameters]
    ) -> None:
        """Remember a table that a write found so and has counted once, and the owners whose parameters it knows.

        `partitions`: their ids by name; none where the table itself was written.
        """
        before = self._tables.get(name)
        unbroken = before is not None and (before.target.id, before.target.version) == (found.id, found.version)
        since = before.since if before is not None and unbroken else found.version
        parameters = found.parameters if partitions else {**found.parameters, **known.get(found.id, {})}
        left = replace(found, version=found.version + 1, parameters=parameters)
        self._partitions.put_all(
            {
                (name, each): _LeftPartition(place, known.get(place, {}), left.version)
                for each, place in partitions.items()
            }
        )
        self._tables.put(name, _LeftTable(left, since))
