"""Locks on statistics."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A lock. `refuse`: writes are refused, else accepted and dropped; `dropped` counts these in a list of all locks.

    `catalog` is absent for the default one, `table` for the lock of a whole database, `partition` for that of a table;
    `columns` are empty if all of them are locked, with rows, files and bytes.
    """

    catalog: str | None = None
    database: str
    table: str | None = None
    partition: str | None = None
    columns: tuple[str, ...] = ()
    refuse: bool
    reason: str | None = None
    locked_by: str | None = None
    locked_at: datetime
    dropped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Locks:
    """The locks that cover a table or something of it."""

    table: str
    locks: tuple[Lock, ...]

    @property
    def whole(self) -> Lock | None:
        """The lock of all of the table's statistics, by itself or by its database; a refusing one of two."""
        found = [each for each in self.locks if each.partition is None and not each.columns]
        return next((each for each in found if each.refuse), found[0] if found else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllLocks:
    """The locks of everything that the caller may list, in the order of catalog, database, table and partition."""

    locks: tuple[Lock, ...]
