"""What a row of TAB_COL_STATS or PART_COL_STATS says of its column, and the same in the model: both directions.

Which columns a kind has is Hive's choice (StatObjectConverter); the text in COLUMN_TYPE says which kind a row is.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from operator import attrgetter, itemgetter
from typing import Any

from hmstats.model.column_statistics import DATA_CLASSES, ColumnStatistics, Kind
from hmstats.model.column_types import kind_of

_UNKNOWN_NULLS = -1
"""NUM_NULLS may not be NULL in Hive's tables; Hive and Impala write -1 for unknown."""

_NO_BIT_VECTOR = b"HL"
"""What Hive on PostgreSQL stores for no bit vector; for no histogram it stores no bytes."""

_COUNTED = {"nulls": "NUM_NULLS", "ndv": "NUM_DISTINCTS", "bit_vector": "BIT_VECTOR"}
_LENGTHS = {"max_length": "MAX_COL_LEN", "average_length": "AVG_COL_LEN"}


def _bounded(prefix: str) -> dict[str, str]:
    bounds = {"low": f"{prefix}_LOW_VALUE", "high": f"{prefix}_HIGH_VALUE"}
    return {**bounds, **_COUNTED, "histogram": "HISTOGRAM"}


_COLUMNS: dict[Kind, dict[str, str]] = {
    Kind.BOOLEAN: {"trues": "NUM_TRUES", "falses": "NUM_FALSES", "nulls": "NUM_NULLS"},
    Kind.LONG: _bounded("LONG"),
    Kind.DATE: _bounded("LONG"),
    Kind.TIMESTAMP: _bounded("LONG"),
    Kind.DOUBLE: _bounded("DOUBLE"),
    Kind.DECIMAL: _bounded("BIG_DECIMAL"),
    Kind.STRING: {**_LENGTHS, **_COUNTED},
    Kind.BINARY: {**_LENGTHS, "nulls": "NUM_NULLS"},
}
"""Field of the model to column of the table, for each kind."""

VALUES = tuple(sorted({column for columns in _COLUMNS.values() for column in columns.values()}))
"""The columns that hold statistics, in the order in which `column_statistics` takes them."""


def column_statistics(column: str, column_type: str | None, values: Sequence[Any]) -> ColumnStatistics | None:
    """The statistics in a row; None when its type is one that has none."""
    kind = kind_of(column_type or "")
    if kind is None:
        return None
    fields = {
        field: convert(values[index]) if convert and values[index] is not None else values[index]
        for field, index, convert in _READ[kind]
    }
    return ColumnStatistics(column, column_type or "", DATA_CLASSES[kind](**fields))


def values(statistics: ColumnStatistics) -> tuple[Any, ...]:
    """A value for each of VALUES; NULL where it is unknown or another kind's."""
    kind = statistics.kind
    fields, place = _WRITTEN[kind]
    nulls, *others = fields(statistics.data)
    if kind in _WITH_TEXTS:
        others = list(map(_to_row, others))
    return place((_UNKNOWN_NULLS if nulls is None else nulls, *others, None))


def _to_row(value: Any) -> Any:
    # SQLite would make NULL of the number NaN; both databases take its name.
    return str(value) if isinstance(value, Decimal) or value != value else value  # noqa: PLR0124


def _nulls(count: int) -> int | None:
    return None if count < 0 else count


def _bit_vector(content: bytes) -> bytes | None:
    return None if content == _NO_BIT_VECTOR else content or None


def _histogram(content: bytes) -> bytes | None:
    return content or None


def _decimal(text: str) -> Decimal | None:
    """The decimal in a row; None for a text that is no finite number, which older engines have written."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "NUM_NULLS": _nulls,
    "BIT_VECTOR": _bit_vector,
    "HISTOGRAM": _histogram,
    "DOUBLE_LOW_VALUE": float,
    "DOUBLE_HIGH_VALUE": float,
    "BIG_DECIMAL_LOW_VALUE": _decimal,
    "BIG_DECIMAL_HIGH_VALUE": _decimal,
}
_READ = {
    kind: tuple((field, VALUES.index(name), _CONVERSIONS.get(name)) for field, name in columns.items())
    for kind, columns in _COLUMNS.items()
}
"""For each kind, of each field: name in the model, place in VALUES, and what makes the model's value of the row's."""

_NULLS_FIRST = {
    kind: ("nulls", *(field for field in columns if field != "nulls")) for kind, columns in _COLUMNS.items()
}


def _placed(kind: Kind) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Puts a kind's fields, nulls first and None last, in the order of VALUES; None stands in all other places."""
    columns = [_COLUMNS[kind][field] for field in _NULLS_FIRST[kind]]
    return itemgetter(*(columns.index(name) if name in columns else len(columns) for name in VALUES))


_WRITTEN = {kind: (attrgetter(*fields), _placed(kind)) for kind, fields in _NULLS_FIRST.items()}
_WITH_TEXTS = frozenset({Kind.DOUBLE, Kind.DECIMAL, Kind.STRING, Kind.BINARY})
"""The kinds that have decimals, or numbers that may be NaN."""
