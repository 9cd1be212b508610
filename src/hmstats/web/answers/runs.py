"""Runs that refresh statistics."""

from dataclasses import dataclass
from datetime import datetime

from hmstats.model.health.runs import Outcome
from hmstats.web.answers.numbers import Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run over a table, or over so many of its partitions (absent: the table as a whole).

    `reason` says why it failed. `seconds` are those that it took, or has taken until now.
    """

    id: str
    table: str
    database: str
    name: str
    partitions: int | None = None
    outcome: Outcome
    reason: str | None = None
    runner: str
    started_at: datetime
    ended_at: datetime | None = None
    seconds: float | None = None
    rows: Whole | None = None
    size_bytes: Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTable:
    """A table whose last runs failed, so many in a row; `retry_at` is when it is tried again."""

    table: str
    failures: int
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """The last runs, newest first; `next` is the cursor of older ones. `failing` are tables, most failures first."""

    runs: tuple[Run, ...]
    failing: tuple[FailingTable, ...] = ()
    next: str | None = None
