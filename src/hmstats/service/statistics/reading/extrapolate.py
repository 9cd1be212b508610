"""Statistics of all partitions from those of some: Hive's linear extrapolation.

Source: org.apache.hadoop.hive.metastore.LinearExtrapolatePartStatus and MetaStoreDirectSql. A bound or a maximum is
extrapolated on a line over the index of the partition in the request: through the partitions with the lowest and the
highest value, to the end of the request. Of partitions with equal values, of which Hive takes any, those count from
which the line goes least beyond what is known. A count grows in proportion. Unlike Hive this multiplies before it
divides, so that few nulls in many partitions are not lost, and no value leaves a long.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from hmstats.model.statistics.column_statistics import Data
from hmstats.model.statistics.merge import MAX_I64

_SUMS = ("nulls", "trues", "falses")
_LARGEST = ("high", "ndv", "max_length", "average_length")
_DECIMAL_DIGITS = 100


@dataclass(frozen=True, slots=True)
class Point:
    """The statistics of one partition and its index in the request, from 0."""

    index: int
    data: Data


def extrapolate(data: Data, points: Sequence[Point], total: int) -> Data:
    """The statistics of `total` partitions, extrapolated from those of the points; `data` aggregates the points."""
    names = {field.name for field in fields(data)}
    changes: dict[str, Any] = {name: scale(getattr(data, name), len(points), total) for name in _SUMS if name in names}
    changes |= {name: _line(points, name, total, upwards=True) for name in _LARGEST if name in names}
    if "low" in names:
        changes["low"] = _line(points, "low", total, upwards=False)
    return replace(data, **changes)


def scale(count: int | None, known: int, total: int) -> int | None:
    """A count of `known` partitions scaled to `total` partitions."""
    return None if count is None else min(count * total // known, MAX_I64)


def _line(points: Sequence[Point], name: str, total: int, *, upwards: bool) -> Any:
    """The value at the end of the request to which the line rises (`upwards`) or falls."""
    values = _known_values(points, name)
    if not values:
        return None
    least, most = min(value for _, value in values), max(value for _, value in values)
    if least == most:
        return most
    lines = [_Line.of(*ends, total, upwards=upwards) for ends in product(_ends(values, least), _ends(values, most))]
    start, end = (least, most) if upwards else (most, least)
    return _value_on_line(start, end, *min(lines, key=_Line.reach))


def _known_values(points: Sequence[Point], name: str) -> list[tuple[int, Any]]:
    """The values of the points by their indexes; NaN is none."""
    values = [(point.index, getattr(point.data, name)) for point in points]
    return [(index, value) for index, value in values if value is not None and value == value]  # noqa: PLR0124


def _ends(values: Sequence[tuple[int, Any]], wanted: Any) -> tuple[int, int]:
    """The first and the last index of a value; of several lines one through these goes beyond its points least."""
    indexes = [index for index, value in values if value == wanted]
    return min(indexes), max(indexes)


class _Line(NamedTuple):
    """A line from its start to the end of the request in `steps`, which reaches the other value after `run` steps."""

    steps: int
    run: int

    @classmethod
    def of(cls, least_at: int, most_at: int, total: int, *, upwards: bool) -> "_Line":
        """The line through the indexes of the lowest and of the highest value."""
        start_at = least_at if upwards else most_at
        to_the_right = (least_at < most_at) is upwards
        return cls(total - 1 - start_at if to_the_right else start_at, abs(most_at - least_at))

    def reach(self) -> Fraction:
        """How far the line goes, as a multiple of the way between its points."""
        return Fraction(self.steps, self.run)


def _value_on_line(start: Any, end: Any, steps: int, run: int) -> Any:
    """The value `steps` from `start`, on the line that reaches `end` after `run` steps."""
    if isinstance(start, Decimal):
        return _decimal_on_line(start, end, steps, run)
    if isinstance(start, int):
        moved = abs(end - start) * steps // run
        return max(-MAX_I64 - 1, min(MAX_I64, start + moved if end > start else start - moved))
    value = start + (end - start) * steps / run
    return value if math.isfinite(value) else end


def _decimal_on_line(start: Decimal, end: Decimal, steps: int, run: int) -> Decimal:
    """A decimal `steps` from `start` on the line, with the scale of the two values; `end` if it has too many digits."""
    last_digit = min(int(number.as_tuple().exponent) for number in (start, end))
    with localcontext(prec=_DECIMAL_DIGITS):
        try:
            return (start + (end - start) * steps / run).quantize(Decimal((0, (1,), last_digit)))
        except InvalidOperation:
            return end
