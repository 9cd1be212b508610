"""Values of columns as Python has them: dates, times, whole numbers, Decimals.

The metastore has dates as days and timestamps as seconds since 1970-01-01, and sketches have all numbers as floats.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from hmstats.model.statistics.column_statistics import Kind

PythonValue: TypeAlias = Any
"""bool, int, float, Decimal, str, bytes, date or datetime: the type depends on the column's."""
_DAY = date(1970, 1, 1)
_MOMENT = datetime(1970, 1, 1)  # noqa: DTZ001 - a Hive timestamp has no time zone
_SINGLE_PRECISION_DIGITS = 7


def python_value(kind: Kind | None, value: Any) -> PythonValue:
    """A bound, a quantile or a frequent value of a column of this kind.

    A day or second beyond Python's calendar stays a number. `kind` None leaves the value as it is.
    """
    if kind is Kind.LONG:
        return round(value)
    if kind is Kind.DECIMAL and isinstance(value, float):
        return Decimal(f"{value:.{_SINGLE_PRECISION_DIGITS}g}")
    try:
        if kind is Kind.DATE:
            return _DAY + timedelta(days=int(value))
        if kind is Kind.TIMESTAMP:
            return _MOMENT + timedelta(seconds=int(value))
    except OverflowError:
        return int(value)
    return value


def calendar_text(kind: Kind, value: Any) -> str | None:
    """A date as 2001-02-03, a timestamp as 2001-02-03 04:05:06; None for other kinds.

    A day or second beyond Python's calendar stays a number.
    """
    if kind not in (Kind.DATE, Kind.TIMESTAMP):
        return None
    moment = python_value(kind, value)
    return moment.isoformat(sep=" ") if isinstance(moment, datetime) else str(moment)
