"""Statistics for planners: removes values that an engine would refuse.

Trino and Presto fail a query if its statistics have a low bound above the high one, or more nulls than rows. Such rows
come from other writers, or from a row count that has changed since. They are stored as sent; in answers both bounds are
unset, and nulls are at most the rows. Each column's repair is logged once in the life of the process.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import structlog

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.flat_statistics import FIELDS, FlatStatistics, place
from hmstats.model.statistics.merge import MAX_I64
from hmstats.model.statistics.statistics_group import StatisticsGroup, number_format

_log = structlog.get_logger(__name__)
_MOST_LOGGED = 10_000
_logged: set[tuple[TableName, str]] = set()

_NULLS = {kind: place(kind, "nulls") for kind in Kind}
_LOW, _HIGH = 2, 3
_BOUNDED = frozenset(kind for kind in Kind if FIELDS[kind][:2] == ("low", "high"))


def acceptable(name: TableName, columns: Iterable[FlatStatistics], rows: int | None) -> list[FlatStatistics]:
    """The statistics without values that an engine would refuse; `rows` is numRows of the table or partition."""
    return [_acceptable(name, column, rows) for column in columns]


def is_acceptable(group: StatisticsGroup, rows: Mapping[str, int]) -> bool:
    """Whether a group without decimals needs no repair; `rows` has numRows by partition, where set."""
    nulls = np.frombuffer(group.numbers["nulls"], ">i8")
    low, high = (
        np.frombuffer(group.numbers.get(bound, b""), f">{number_format(group.kind, bound)}")
        for bound in ("low", "high")
    )
    if low.size and high.size and (low > high).any():
        return False
    if not rows:
        return True
    most = np.array([rows.get(partition, MAX_I64) for partition in group.partitions])
    return not (nulls > most).any()


def _acceptable(name: TableName, column: FlatStatistics, rows: int | None) -> FlatStatistics:
    kind = kind_of(column[1])
    if kind is None:
        return column
    low, high, nulls = column[_LOW], column[_HIGH], column[_NULLS[kind]]
    crossed = kind in _BOUNDED and low is not None and high is not None and low > high
    too_many = rows is not None and nulls is not None and nulls > rows
    if not crossed and not too_many:
        return column
    repaired = list(column)
    if crossed:
        repaired[_LOW] = repaired[_HIGH] = None
    if too_many:
        repaired[_NULLS[kind]] = rows
    _log_once(name, column[0], [part for part, bad in (("bounds", crossed), ("nulls", too_many)) if bad])
    return tuple(repaired)


def _log_once(name: TableName, column: str, changed: list[str]) -> None:
    known = (name, column)
    if known in _logged or len(_logged) >= _MOST_LOGGED:
        return
    _logged.add(known)
    _log.warning("statistics_repaired", object=str(name), column=column, changed=changed)
