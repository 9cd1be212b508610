"""Statistics as they leave for a planner: what an engine would refuse is taken out.

Trino and Presto fail a query whose statistics have a low bound above the high one, or more nulls than rows. Such rows
come from other writers, or from a row count that has changed since. They are stored as they were sent; a planner gets
neither bound, and no more nulls than rows. Each repair is logged once for a column in the life of the process.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import structlog

from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics

_log = structlog.get_logger(__name__)
_MOST_LOGGED = 10_000
_logged: set[tuple[TableName, str]] = set()


def acceptable(name: TableName, columns: Iterable[ColumnStatistics], rows: int | None) -> tuple[ColumnStatistics, ...]:
    """The statistics without what an engine would refuse; `rows` is the table's or partition's numRows, if known."""
    return tuple(_acceptable(name, column, rows) for column in columns)


def _acceptable(name: TableName, column: ColumnStatistics, rows: int | None) -> ColumnStatistics:
    data: Any = column.data
    low, high = getattr(data, "low", None), getattr(data, "high", None)
    changes: dict[str, Any] = {}
    if low is not None and high is not None and low > high:
        changes |= {"low": None, "high": None}
    if rows is not None and data.nulls is not None and data.nulls > rows:
        changes["nulls"] = rows
    if not changes:
        return column
    _log_once(name, column, changes)
    return replace(column, data=replace(data, **changes))


def _log_once(name: TableName, column: ColumnStatistics, changes: dict[str, Any]) -> None:
    known = (name, column.column)
    if known in _logged or len(_logged) >= _MOST_LOGGED:
        return
    _logged.add(known)
    _log.warning("statistics repaired on their way out", object=str(name), column=column.column, changed=list(changes))
