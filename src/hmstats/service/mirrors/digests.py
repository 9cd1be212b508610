"""Whether statistics are those that were seen before, and whether two of one column say the same."""

import hashlib
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from hmstats.model.statistics.column_statistics import ColumnStatistics

_SKETCHES = frozenset({"bit_vector", "histogram"})
_DIGEST_BYTES = 9
Numbers = list[Any]
"""The kind of statistics, and their numbers by name."""

_NEAR = 1e-4
"""How far two numbers with fractions may be apart: a Hive on MySQL or Oracle keeps four decimals."""
_NEAR_RELATIVE = 1e-12


def digest(column: ColumnStatistics, *, sketches: bool) -> str:
    """A short text that is another one for other statistics; of the numbers alone, or with the sketches."""
    names = [each.name for each in fields(column.data) if sketches or each.name not in _SKETCHES]
    said = [column.kind.value, *(f"{each}={_text(getattr(column.data, each))}" for each in names)]
    return hashlib.blake2b("\n".join(said).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def say_the_same(one: ColumnStatistics, other: ColumnStatistics) -> bool:
    """Whether the numbers of two statistics are equal, but for decimals that a database has cut off."""
    return are_numbers_of(one, numbers(other))


def numbers(column: ColumnStatistics) -> Numbers:
    """The kind and the numbers of statistics, for JSON."""
    names = [each.name for each in fields(column.data) if each.name not in _SKETCHES]
    values = {each: getattr(column.data, each) for each in names}
    return [
        column.kind.value,
        {each: str(value) if isinstance(value, Decimal) else value for each, value in values.items()},
    ]


def are_numbers_of(column: ColumnStatistics, known: Numbers) -> bool:
    """Whether these are the numbers of a column's statistics, but for decimals that a database has cut off."""
    kind, values = known
    if column.kind.value != kind:
        return False
    return all(_are_near(getattr(column.data, name), value) for name, value in values.items())


def bare(column: ColumnStatistics) -> ColumnStatistics:
    """The statistics without sketches."""
    sketches: Any = dict.fromkeys({each.name for each in fields(column.data)} & _SKETCHES)
    return replace(column, data=replace(column.data, **sketches))


def _are_near(one: Any, other: Any) -> bool:
    if isinstance(one, Decimal):
        return other is not None and one == Decimal(other)
    if one == other:
        return True
    if one is None or other is None or not (isinstance(one, float) or isinstance(other, float)):
        return False
    apart = abs(float(one) - float(other))
    return apart <= max(_NEAR, _NEAR_RELATIVE * abs(float(one)))


def _text(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value.normalize())
    if isinstance(value, int) and not isinstance(value, bool):
        return repr(float(value)) if abs(value) < 2**53 else str(value)  # 2 and 2.0 are one average length
    return repr(value)
