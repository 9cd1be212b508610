"""The texts in which Spark writes the least and the greatest value of a column, and reads them back.

Version 2 is what Spark writes since 3.0 (CatalogColumnStat.toExternalString): whole numbers, decimals and doubles as
Java prints them, dates `yyyy-MM-dd`, timestamps `yyyy-MM-dd HH:mm:ss.SSSSSS` in UTC. Version 1 differs in timestamps
only: they are in the time zone of the session that wrote them. Nothing tells which one that was, so such a bound is
unknown. A text that Spark cannot read fails every query, so a value that the column's type does not have is left out.
"""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from hmstats.model.spark.spark_statistics import VERSION
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import base_type
from hmstats.outlets.java_numbers import double_text

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "integer": 32}
_MOST_BITS = 64
_MOST_DIGITS = 38
_MOST_FLOAT = float(np.finfo(np.float32).max)
_FIRST_DAY, _LAST_DAY = (each.toordinal() - date(1970, 1, 1).toordinal() for each in (date.min, date.max))
"""Days since 1970-01-01 of the years 1 to 9999, which are Spark's."""
_DAY_SECONDS = 86_400


def bound_text(kind: Kind, column_type: str, value: Any) -> str | None:
    """The text of a bound as the model has it (days, whole seconds, numbers); None when Spark has no such value."""
    form = _TEXTS.get(kind)
    return None if value is None or form is None else form(column_type, value)


def bound_value(kind: Kind, column_type: str, version: int, text: str | None) -> Any:
    """The bound in the model's form; None when the text says none. A second's fraction is cut off downwards."""
    read = _VALUES.get(kind)
    if text is None or read is None or (kind is Kind.TIMESTAMP and version < VERSION):
        return None
    try:
        return read(column_type, text)
    except (ValueError, InvalidOperation):
        return None


def _long_text(column_type: str, value: int) -> str | None:
    most = 1 << (_BITS.get(base_type(column_type), _MOST_BITS) - 1)
    return str(value) if -most <= value < most else None


def _long(column_type: str, text: str) -> int | None:
    value = int(text)
    return None if _long_text(column_type, value) is None else value


def _double_text(column_type: str, value: float) -> str:
    single = np.float32(value) if base_type(column_type) == "float" and abs(value) <= _MOST_FLOAT else None
    text = str(single) if single is not None and float(single) == value else repr(float(value))
    return double_text(text)


def _double(column_type: str, text: str) -> float | None:
    value = float(np.float32(text)) if base_type(column_type) == "float" else float(text)
    return None if math.isnan(value) else value


def _decimal_text(_: str, value: Decimal) -> str | None:
    return f"{value:f}" if value.is_finite() and _digits(value) <= _MOST_DIGITS else None


def _decimal(_: str, text: str) -> Decimal | None:
    value = Decimal(text)
    return value if value.is_finite() else None


def _digits(value: Decimal) -> int:
    """How many digits a plain text of the number has."""
    _, digits, exponent = value.as_tuple()
    exponent = int(exponent)
    return max(len(digits), -exponent) if exponent <= 0 else len(digits) + exponent


def _date_text(_: str, days: int) -> str | None:
    return _day(days).isoformat() if _FIRST_DAY <= days <= _LAST_DAY else None


def _date(_: str, text: str) -> int:
    return date.fromisoformat(text).toordinal() - _day(0).toordinal()


def _timestamp_text(_: str, seconds: int) -> str | None:
    days, rest = divmod(seconds, _DAY_SECONDS)
    if not _FIRST_DAY <= days <= _LAST_DAY:
        return None
    return f"{_day(days).isoformat()} {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}.000000"


def _timestamp(_: str, text: str) -> int:
    return math.floor(datetime.fromisoformat(text).replace(tzinfo=UTC, microsecond=0).timestamp())


def _day(days: int) -> date:
    return date.fromordinal(days + date(1970, 1, 1).toordinal())


_TEXTS: Mapping[Kind, Callable[[str, Any], str | None]] = {
    Kind.LONG: _long_text,
    Kind.DOUBLE: _double_text,
    Kind.DECIMAL: _decimal_text,
    Kind.DATE: _date_text,
    Kind.TIMESTAMP: _timestamp_text,
}
_VALUES: Mapping[Kind, Callable[[str, str], Any]] = {
    Kind.LONG: _long,
    Kind.DOUBLE: _double,
    Kind.DECIMAL: _decimal,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
}
