"""Hive's column types and the kind of statistics that each has.

The names are Hive's type strings, lower case (`decimal(12,2)`, `array<int>`); arguments in brackets are ignored here.
"""

from dataclasses import fields
from functools import lru_cache

from hmstats.model.statistics.column_statistics import Data, Kind, LongStatistics, TimestampStatistics

_KINDS = {
    "boolean": Kind.BOOLEAN,
    "tinyint": Kind.LONG,
    "smallint": Kind.LONG,
    "int": Kind.LONG,
    "integer": Kind.LONG,
    "bigint": Kind.LONG,
    "float": Kind.DOUBLE,
    "double": Kind.DOUBLE,
    "decimal": Kind.DECIMAL,
    "string": Kind.STRING,
    "varchar": Kind.STRING,
    "char": Kind.STRING,
    "binary": Kind.BINARY,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp with local time zone": Kind.TIMESTAMP,
    "timestamp_ltz": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP,
}

_ALSO_ACCEPTED = {Kind.TIMESTAMP: frozenset({Kind.LONG})}
"""Writers older than Hive 4 send the seconds of a timestamp as longStats."""


@lru_cache(maxsize=10_000)
def kind_of(column_type: str) -> Kind | None:
    """The kind of statistics that a column of this Hive type has; None for array, map, struct and the like."""
    return _KINDS.get(base_type(column_type))


def base_type(column_type: str) -> str:
    """The type without its arguments: `decimal(12,2)` gives `decimal`."""
    return column_type.split("(", 1)[0].split("<", 1)[0].strip().lower()


def accepts(column_type: str, kind: Kind) -> bool:
    """Whether statistics of `kind` describe a column of this Hive type."""
    own = kind_of(column_type)
    return own is not None and (kind is own or kind in _ALSO_ACCEPTED.get(own, ()))


def of_own_kind(data: Data, column_type: str) -> Data:
    """Statistics of a column of this Hive type in the type's own kind, if another one is accepted for it."""
    if isinstance(data, LongStatistics) and kind_of(column_type) is Kind.TIMESTAMP:
        return TimestampStatistics(**{each.name: getattr(data, each.name) for each in fields(data)})
    return data
