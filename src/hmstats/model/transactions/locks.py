"""Locks: their components, which kinds conflict, and how they are listed.

A lock is on a database, a table or a partition, and has one or more components that are granted together. The kinds and
their conflicts are those of Hive 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class LockKind(Enum):
    """The kind of a lock; the value is Hive's letter in HIVE_LOCKS."""

    SHARED_READ = "r"
    SHARED_WRITE = "w"
    EXCL_WRITE = "x"
    EXCLUSIVE = "e"


class LockState(Enum):
    """The state of a lock; the value is Hive's letter in HIVE_LOCKS, where a lock that was not acquired has no row."""

    ACQUIRED = "a"
    WAITING = "w"
    NOT_ACQUIRED = "n"


BLOCKED_BY: Mapping[LockKind, frozenset[LockKind]] = {
    LockKind.SHARED_READ: frozenset({LockKind.EXCLUSIVE}),
    LockKind.SHARED_WRITE: frozenset({LockKind.EXCL_WRITE, LockKind.EXCLUSIVE}),
    LockKind.EXCL_WRITE: frozenset({LockKind.SHARED_WRITE, LockKind.EXCL_WRITE, LockKind.EXCLUSIVE}),
    LockKind.EXCLUSIVE: frozenset(LockKind),
}
"""The kinds that a lock waits for. It is the same both ways, with one exception that the kinds do not show: a
SHARED_READ of a whole database, which keeps it from being dropped, and an EXCLUSIVE inside it pass each other."""


@dataclass(frozen=True, slots=True)
class LockComponent:
    """One thing to lock: a database, or a table in it, or a partition of that; names as they are compared."""

    kind: LockKind
    database: str
    table: str | None = None
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a lock or a transaction: user, host and agent as the caller names them."""

    user: str
    host: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class LockRequest:
    """A lock to be granted whole or not at all. `transaction` is the id of the one it belongs to, 0 for none.

    In a transaction, a request that would wait fails instead if `never_waits`, or if `reads_never_wait` and a
    SHARED_READ is blocked.
    """

    components: tuple[LockComponent, ...]
    owner: Owner
    transaction: int = 0
    reads_never_wait: bool = False
    never_waits: bool = False


@dataclass(frozen=True, slots=True)
class Lock:
    """One component of a stored lock. Times are epoch milliseconds of the database's clock.

    A transaction's lock lives as long as the transaction, and its own heartbeat is 0.
    """

    id: int
    part: int
    component: LockComponent
    state: LockState
    transaction: int
    owner: Owner
    last_heartbeat_ms: int
    acquired_ms: int | None
    heartbeats: int
    blocked_by: tuple[int, int] | None = None
    """Id and part of the lock that it was waiting for at the last check."""

    def __str__(self) -> str:
        where = "/".join(filter(None, (self.component.database, self.component.table, self.component.partition)))
        return f"lock {self.id} ({self.component.kind.name} on {where}, {self.state.name.lower()})"


@dataclass(frozen=True, slots=True)
class LockAnswer:
    """The answer to a request; `reason` is why a lock was not acquired."""

    id: int
    state: LockState
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LockFilter:
    """A filter for listed locks; None matches anything."""

    database: str | None = None
    table: str | None = None
    partition: str | None = None
    transaction: int | None = None
