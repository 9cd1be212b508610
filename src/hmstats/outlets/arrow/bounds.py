"""A column's least and greatest value: the model's <-> those in Arrow's form.

Whole numbers are int64 and floating ones float64, whatever their width in the column, as in the examples of Arrow's
specification. Decimals, dates and timestamps have the column's own type. A value that it cannot hold is left out.
"""

import math
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa

from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.values.numbers import Bound

_DAY = {"day": 1, "ms": 86_400_000}
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MOST_DIGITS = 76

Held = tuple[Any, pa.DataType]


def encode(bound: Bound, column: pa.DataType) -> Held | None:
    """The value and its Arrow type, of a bound as the model has it (dates in days, timestamps in seconds)."""
    if isinstance(bound, float):
        return bound, pa.float64()
    if isinstance(bound, Decimal):
        return _decimal(bound, column)
    if not (pa.types.is_timestamp(column) or pa.types.is_date(column)):
        return (bound, pa.int64()) if _fits(bound, 64) else None
    value = bound * _units(column)
    return (value, column) if _fits(value, column.bit_width) else None


def decode(kind: Kind, value: Any, type_: pa.DataType, *, high: bool) -> Bound | None:
    """The bound in the kind's own form; None if it does not fit the kind.

    An estimate that is not whole is rounded outwards. A timestamp's fraction is cut off downwards, as Hive does.
    """
    try:
        number = value // _units(type_) if _units(type_) != 1 else value
        if kind is Kind.DOUBLE:
            return None if math.isnan(number) else float(number)
        if kind is Kind.DECIMAL:
            return Decimal(str(number)) if math.isfinite(number) else None
        return int(math.ceil(number) if high else math.floor(number))
    except (TypeError, ValueError, OverflowError, InvalidOperation):
        return None


def exactly(kind: Kind, column: pa.DataType) -> bool:
    """Whether the model holds bounds of this kind as they are: of timestamps it has the whole seconds only."""
    return kind is not Kind.TIMESTAMP or (pa.types.is_timestamp(column) and column.unit == "s")


def _units(type_: pa.DataType) -> int:
    """How many of the type's units the model's day or second has."""
    if pa.types.is_date(type_):
        return _DAY["day" if pa.types.is_date32(type_) else "ms"]
    return _PER_SECOND[type_.unit] if pa.types.is_timestamp(type_) else 1


def _fits(value: int, bits: int) -> bool:
    return -(1 << bits - 1) <= value < 1 << bits - 1


def _decimal(bound: Decimal, column: pa.DataType) -> Held | None:
    if pa.types.is_uint64(column):
        return (int(bound), column) if 0 <= bound < 1 << 64 else None
    if not pa.types.is_decimal(column):
        return None
    with localcontext(prec=_MOST_DIGITS):
        try:
            value = bound.quantize(Decimal(1).scaleb(-column.scale))
        except InvalidOperation:
            return None
    fits = value == bound and len(value.as_tuple().digits) <= column.precision
    return (value, column) if fits else None
