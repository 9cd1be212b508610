"""The column form of DESCRIBE FORMATTED: one row for each number that Hive shows of a column.

Unknown numbers are empty, where Hive shows the sentinel 0 or -1.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.column_statistics import (
    DATA_CLASSES,
    BinaryStatistics,
    ColumnStatistics,
    Kind,
    StringStatistics,
)
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.python_values import calendar_text
from hmstats.outlets.describe.layout import row
from hmstats.outlets.java_numbers import double_text
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.quantiles.kll import KllHistogram

_FIELDS = 2
_QUARTILES = (0.25, 0.5, 0.75)
_EPOCH_DAY, _EPOCH = date(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)


def column_rows(column: Column, found: ColumnStatistics | None) -> list[str]:
    """The rows of a column and its statistics. The histogram's row appears only if there is a histogram."""
    data: Any = None if found is None else found.data
    values = {
        "col_name": column.name,
        "data_type": column.type,
        "min": _bound(found, "low"),
        "max": _bound(found, "high"),
        "num_nulls": _number_text(data, "nulls"),
        "distinct_count": _number_text(data, "ndv"),
        "avg_col_len": _number_text(data, "average_length"),
        "max_col_len": _number_text(data, "max_length"),
        "num_trues": _number_text(data, "trues"),
        "num_falses": _number_text(data, "falses"),
        "bit_vector": _bit_vector_kind(getattr(data, "bit_vector", None)),
        "histogram": _quartiles(found),
        "comment": column.comment or "",
    }
    if not values["histogram"]:
        del values["histogram"]
    return [line for name, value in values.items() for line in row(name, value, width=_FIELDS)]


def key_statistics(key: Column, values: Iterable[str]) -> ColumnStatistics | None:
    """The statistics of a partition key, given its value in each partition; None when its type has none."""
    kind = kind_of(key.type)
    if kind is None or kind is Kind.BOOLEAN:
        return None
    given = set(values)
    texts = given - {NULL_PARTITION_VALUE}
    names = {field.name for field in fields(DATA_CLASSES[kind])}
    numbers: dict[str, Any] = {"ndv": len(texts), "nulls": None if NULL_PARTITION_VALUE in given else 0}
    if kind in _READERS and texts:
        numbers |= _bounds(_READERS[kind], texts)
    if DATA_CLASSES[kind] in (StringStatistics, BinaryStatistics) and texts:
        numbers["max_length"] = max(len(text.encode()) for text in texts)
    data = DATA_CLASSES[kind](**{name: value for name, value in numbers.items() if name in names})
    return ColumnStatistics(key.name, key.type, data)


def _bounds(read: Callable[[str], Any], texts: Iterable[str]) -> dict[str, Any]:
    """Least and greatest value; none when a text is no value of the type."""
    try:
        known = [read(text) for text in texts]
    except (ValueError, InvalidOperation):
        return {}
    return {"low": min(known), "high": max(known)}


def _number_text(data: Any, field: str) -> str:
    value = getattr(data, field, None)
    if value is None:
        return ""
    return double_text(repr(value)) if isinstance(value, float) else str(value)


def _bound(found: ColumnStatistics | None, field: str) -> str:
    value = None if found is None else getattr(found.data, field, None)
    return "" if found is None or value is None else _value_text(found.kind, value)


def _value_text(kind: Kind, value: Any) -> str:
    """The value as Hive writes one of this kind; a date beyond the calendar stays a number."""
    text = calendar_text(kind, value)
    if text is not None:
        return text
    if kind is Kind.LONG:
        return str(int(value))
    if kind is Kind.DECIMAL:
        return f"{Decimal(str(value)).normalize():f}"
    return double_text(repr(float(value)))


def _bit_vector_kind(data: bytes | None) -> str:
    """HL or FM, the first two bytes of a sketch."""
    return "" if data is None or bit_vector.is_absent(data) else data[:2].decode("ascii", "replace")


def _quartiles(found: ColumnStatistics | None) -> str:
    data = None if found is None else getattr(found.data, "histogram", None)
    values = KllHistogram.from_bytes(data).quantiles(_QUARTILES) if data else []
    if found is None or not values:
        return ""
    return ", ".join(f"Q{number}: {_value_text(found.kind, value)}" for number, value in enumerate(values, 1))


_READERS: dict[Kind, Callable[[str], Any]] = {
    Kind.LONG: int,
    Kind.DOUBLE: float,
    Kind.DECIMAL: Decimal,
    Kind.DATE: lambda text: (date.fromisoformat(text) - _EPOCH_DAY).days,
    Kind.TIMESTAMP: lambda text: (datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1),
}
