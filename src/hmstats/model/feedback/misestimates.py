"""Finds the operations of a query whose own estimates were wrong.

An operation's error is (rows / estimate) divided by that of its inputs: an error that came from below is not blamed
again above. This is LEO's idea (Stillger et al., VLDB 2001) on plans of open engines.

Left out are operations of fewer than LEAST_ROWS rows, and whatever was not counted or was cut off.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import ColumnUse, Operation, Operator, Query

LEAST_ROWS = 1_000
"""Operations whose rows, estimate and inputs are all fewer say nothing."""
LEAST_FACTOR = 2.0
"""Smaller errors of an operation are ignored."""
_MOST_FACTOR = 1e300
"""A larger error counts as this one: estimates of many joins without keys come near the end of numbers."""
UNKNOWN_FACTOR = 10.0
"""The error that is assumed if the estimate is unknown."""


@dataclass(frozen=True, slots=True)
class Misestimate:
    """An operation that was estimated wrong.

    `uses` are the columns that the estimate was made of; `table` is that of a scan (no uses), whose rows were wrong.
    `factor` is the operation's own error, above 1: rows over the estimate, or the reverse. `estimated` and `rows` are
    the operation's own, errors from below included. `weight` is log2 of the factor x the seconds of the query.
    """

    table: TableName | None
    uses: tuple[ColumnUse, ...]
    estimated: float | None
    rows: int
    factor: float
    weight: float
    whole_input: bool = False


def misestimates(query: Query) -> list[Misestimate]:
    """The operations of a query that were estimated wrong by a factor of LEAST_FACTOR or more, the worst first."""
    found = [each for each in _errors(query.root, query.seconds) if each.factor >= LEAST_FACTOR]
    return sorted(found, key=lambda each: -each.factor)


def shape_of(query: Query) -> str:
    """A short text that two queries share if they do the same with the same columns, whatever their literals are."""
    parts = [query.engine]
    parts += [
        f"{each.operator}|{each.table}|{len(each.inputs)}|{sorted(map(str, each.uses))}" for each in query.root.walk()
    ]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()


def _errors(root: Operation, seconds: float) -> Iterator[Misestimate]:
    for each in root.walk():
        if each.rows is None or not _is_large(each):
            continue
        if each.operator is Operator.SCAN:
            own = _of_scan(each)
        elif each.uses and all(below.rows is not None or _is_unread(below) for below in each.inputs):
            own = _own(each)
        else:
            own = None
        if own is None:
            continue
        factor = max(own, 1 / own)
        whole = len(each.inputs) == 1 and each.inputs[0].operator is Operator.SCAN and not each.inputs[0].at_least
        weight = log2(max(factor, 1.0)) * max(seconds, 0.0)
        table = each.table if each.operator is Operator.SCAN else None
        yield Misestimate(table, each.uses, each.estimated, each.rows, factor, weight, whole)


def _is_large(each: Operation) -> bool:
    rows = [each.rows or 0, each.estimated or 0, *(below.rows or 0 for below in each.inputs)]
    return max(rows) >= LEAST_ROWS


def _is_unread(below: Operation) -> bool:
    """Whether an input is a scan that nobody counted, such as one whose partitions were chosen beforehand."""
    return below.operator is Operator.SCAN


def _of_scan(scan: Operation) -> float | None:
    if scan.rows is None or scan.table is None:
        return None
    if scan.estimated is None:
        return UNKNOWN_FACTOR
    error = _ratio(scan.rows, scan.estimated)
    return None if scan.at_least and error < 1 else error


def _own(each: Operation) -> float | None:
    """rows / estimate of an operation, divided by that of its inputs; None if its estimate is unknown."""
    if each.estimated is None or each.rows is None:
        return None
    own = _ratio(each.rows, each.estimated)
    for below in each.inputs:
        if below.rows is None or below.estimated is None:
            continue
        error = _ratio(below.rows, below.estimated)
        if not (below.at_least and error < 1):
            own = min(max(own / error, 1 / _MOST_FACTOR), _MOST_FACTOR)
    return own


def _ratio(rows: int, estimated: float) -> float:
    return max(rows, 1) / max(estimated, 1.0)
