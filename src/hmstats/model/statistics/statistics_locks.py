"""Locks on statistics: what is locked, and which lock covers a table, a partition or a column.

A lock covers everything inside of its object: that of a database its tables, that of a table its partitions, new ones
too. A lock of columns covers these columns of the table and of all partitions, or of one partition. Rows, files and
bytes are covered by locks of all columns.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hmstats.model.catalog.objects import DatabaseName

OF_TABLE = 0
"""The partition id of a table's own statistics."""
ALL_COLUMNS = ""
"""The column of a lock that covers all columns, with rows, files and bytes."""


@dataclass(frozen=True, slots=True)
class LockedObject:
    """A database, a table, or a partition, all of it or some columns (empty: all of it).

    Raises nothing: whether the object exists is known to the store alone.
    """

    database: DatabaseName
    table: str | None = None
    partition: str | None = None
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.table is None:
            return f"database {self.database.typed}"
        name = f"table {self.database.typed}.{self.table}"
        part = f"partition {self.partition} of {name}" if self.partition else name
        if not self.columns:
            return part
        return f"column{'s' if len(self.columns) > 1 else ''} {', '.join(self.columns)} of {part}"


@dataclass(frozen=True, slots=True)
class StatisticsLock:
    """A lock as it is listed. `refuse`: writes are refused with an error, else accepted and dropped.

    `dropped` is the number of writes that were dropped so far, `locked_at_seconds` an epoch time.
    """

    object: LockedObject
    refuse: bool
    reason: str | None = None
    locked_by: str | None = None
    locked_at_seconds: int = 0
    dropped: int = 0


def table_lock(locks: Sequence[StatisticsLock]) -> StatisticsLock | None:
    """The lock that covers all of a table, among those of the table and its database; None if there is none."""
    return next((each for each in locks if each.object.partition is None and not each.object.columns), None)


class Cover(NamedTuple):
    """A lock as the rules for writes need it: its key in the store, and whether it refuses writes.

    `table_id` is OF_TABLE for the lock of a database, `column` may be ALL_COLUMNS.
    """

    database_id: int
    table_id: int
    part_id: int
    column: str
    refuse: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TableLocks:
    """The locks that cover a table or something of it."""

    covers: Sequence[Cover] = ()
    _by_place: Mapping[tuple[int, str], Cover] = field(init=False)

    def __post_init__(self) -> None:
        # Of two locks on one place, that of the database and that of the table, a refusing one counts.
        by_place: dict[tuple[int, str], Cover] = {}
        for each in sorted(self.covers, key=lambda each: each.refuse):
            by_place[each.part_id, each.column] = each
        object.__setattr__(self, "_by_place", by_place)

    def __bool__(self) -> bool:
        return bool(self.covers)

    def of(self, part_id: int, column: str = ALL_COLUMNS) -> Cover | None:
        """The lock that covers a column, or rows, files and bytes, of a partition or of the table (OF_TABLE).

        Of several, a refusing one.
        """
        places = dict.fromkeys(((OF_TABLE, ALL_COLUMNS), (part_id, ALL_COLUMNS), (OF_TABLE, column), (part_id, column)))
        found = [self._by_place[place] for place in places if place in self._by_place]
        return next((each for each in found if each.refuse), found[0] if found else None)

    def without_refusals(self) -> "TableLocks":
        """The locks, each changed to accept and drop writes."""
        return TableLocks(tuple(each._replace(refuse=False) for each in self.covers))

    def locked_columns(self, part_id: int, columns: Collection[str]) -> dict[str, Cover]:
        """The locked ones of these columns, with their locks."""
        if not self.covers:
            return {}
        return {each: cover for each in columns if (cover := self.of(part_id, each)) is not None}


UNLOCKED = TableLocks()
