"""Health of statistics as it is listed, the worst first."""

from dataclasses import dataclass

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import Health


@dataclass(frozen=True, slots=True)
class ObjectHealth:
    """The health of a table, or of a partition of it."""

    table: TableName
    partition: str | None
    health: Health


@dataclass(frozen=True, slots=True)
class HealthPage:
    """A page of a list. `next_page` is the cursor of the next one; None after the last.

    `complete`: the list reflects every change before it; else some were not looked at yet.
    """

    entries: tuple[ObjectHealth, ...]
    next_page: str | None
    complete: bool = True
