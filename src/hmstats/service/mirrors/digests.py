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

_DECIMALS, _LARGEST = 4, 1e49
"""What a Hive on MySQL keeps of a number with fractions, `double(53,4)`: it may round or cut off."""
_NEAR_RELATIVE = 1e-12


def digest(column: ColumnStatistics, *, sketches: bool) -> str:
    """A short text that differs for different statistics; of the numbers alone, or with the sketches."""
    names = [each.name for each in fields(column.data) if sketches or each.name not in _SKETCHES]
    said = [column.kind.value, *(f"{each}={_text(getattr(column.data, each))}" for each in names)]
    return hashlib.blake2b("\n".join(said).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def say_the_same(told: ColumnStatistics, own: ColumnStatistics) -> bool:
    """Whether reported statistics have the numbers of our own, except for decimals that a database has cut off."""
    return are_numbers_of(told, numbers(own))


def numbers(column: ColumnStatistics) -> Numbers:
    """The kind and the numbers of statistics, for JSON."""
    names = [each.name for each in fields(column.data) if each.name not in _SKETCHES]
    values = {each: getattr(column.data, each) for each in names}
    return [
        column.kind.value,
        {each: str(value) if isinstance(value, Decimal) else value for each, value in values.items()},
    ]


def are_numbers_of(told: ColumnStatistics, own: Numbers) -> bool:
    """Whether reported numbers are ours, except for decimals that a database has cut off."""
    kind, values = own
    if told.kind.value != kind:
        return False
    return all(_is_told(getattr(told.data, name), value) for name, value in values.items())


def bare(column: ColumnStatistics) -> ColumnStatistics:
    """The statistics without sketches."""
    sketches: Any = dict.fromkeys({each.name for each in fields(column.data)} & _SKETCHES)
    return replace(column, data=replace(column.data, **sketches))


def _is_told(told: Any, own: Any) -> bool:
    """Whether a reported number is ours, which may have had more decimals."""
    if isinstance(told, Decimal):
        return own is not None and told == Decimal(own)
    if told == own:
        return True
    if told is None or own is None or not (isinstance(told, float) or isinstance(own, float)):
        return False
    said = float(told)
    ours = min(float(own), _LARGEST) if said <= _LARGEST else float(own)
    ours = max(ours, -_LARGEST) if said >= -_LARGEST else ours
    least = _NEAR_RELATIVE * abs(ours)
    is_cut = abs(said - round(said, _DECIMALS)) <= least
    return abs(said - ours) <= (max(10**-_DECIMALS, least) if is_cut else least)


def _text(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value.normalize())
    if isinstance(value, int) and not isinstance(value, bool):
        return repr(float(value)) if abs(value) < 2**53 else str(value)  # 2 and 2.0 are one average length
    return repr(value)
