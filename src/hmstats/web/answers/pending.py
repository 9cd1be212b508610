"""Pending statistics, which are not in force until they are published."""

from dataclasses import dataclass
from datetime import datetime

from hmstats.model.pending.pending import HeldBy
from hmstats.web.answers.history import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingLine:
    """Pending statistics of a table or a partition: the columns, since when, by whom, and why."""

    table: str
    database: str
    name: str
    partition: str | None = None
    columns: tuple[str, ...] = ()
    held_by: HeldBy
    reason: str
    writer: str | None = None
    held_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingList:
    """A page of pending statistics, by table and partition; `next` is the next page's cursor, `waiting` counts all."""

    lines: tuple[PendingLine, ...]
    waiting: int
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingTable:
    """The pending statistics of a table, and the numbers in force that they would change; at most 500 of each.

    `waiting` and `changed` count all.
    """

    table: str
    waiting: int
    lines: tuple[PendingLine, ...]
    changed: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingResult:
    """The number of tables and partitions whose pending statistics were published or rejected.

    `recounted` counts those whose rows, files and bytes stayed, since they were counted anew in the meantime.
    """

    table: str
    done: int
    recounted: int = 0
