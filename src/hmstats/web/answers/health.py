"""Health of statistics, the worst first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from hmstats.model.health.health import Reason
from hmstats.web.answers.numbers import Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHealth:
    """The health of a table's statistics: 100 if nothing has changed since they were made, 0 if there are none.

    `why` says it in words. `rows` are the current ones, `rows_then` those that the statistics were made of. `jump` is
    the factor by which rows have grown or shrunk, if it is ten or more. `stale_since`: first seen below 100. `refused`
    is why no analysis reads the table, the end of a sentence that begins with it. `command` is what makes the
    statistics anew, absent when nothing is to be done or can be.
    """

    table: str
    database: str
    name: str
    health: Annotated[int, Field(ge=0, le=100)]
    reason: Reason
    why: str
    rows: Whole | None = None
    rows_then: Whole | None = None
    jump: float | None = None
    columns: int
    analyzed_columns: int
    analyzed_at: datetime | None = None
    stale_since: datetime | None = None
    partitions: int | None = None
    stale_partitions: int | None = None
    refused: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthList:
    """A page of tables by health; `next` is the cursor of the next one.

    `complete`: the list reflects every change before it; else some were not looked at yet.
    """

    tables: tuple[TableHealth, ...]
    complete: bool
    next: str | None = None
