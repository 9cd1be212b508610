"""The plan of a refresh."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hmstats.web.answers.numbers import Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWork:
    """A table, or so many of its partitions (absent: the table as a whole), that one run analyses in so many seconds.

    `why` says it in words. score = `staleness` x `use` x `share` x `waiting` / `cost_seconds`, those of the best
    partition; `share` is its rows by the mean of its table.
    """

    table: str
    database: str
    name: str
    partitions: int | None = None
    health: Annotated[int, Field(ge=0, le=100)]
    why: str
    seconds: float
    size_bytes: Whole | None = None
    staleness: float
    use: float
    share: float
    waiting: float
    cost_seconds: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A table whose statistics are stale and that a refresh leaves out, with the reason."""

    table: str
    database: str
    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshPlan:
    """A round of refreshing, the largest gain a second first, with the predicted seconds of all of it.

    `beyond` counts the tables and partitions that the budget has no room for. `complete`: everything stale was looked
    at; else only the tables and partitions of least health. `command` does it.
    """

    work: tuple[PlannedWork, ...]
    seconds: float
    beyond: int
    left_out: tuple[LeftOut, ...] = ()
    complete: bool
    command: str
