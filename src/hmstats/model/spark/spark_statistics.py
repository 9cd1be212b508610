"""Statistics as Spark's optimizer has them (org.apache.spark.sql.catalyst.catalog.CatalogStatistics).

Spark keeps them in a table's parameters; outlets/spark/spark_properties.py reads and writes those. Unknown is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

VERSION = 2
"""The version of bounds as Spark since 3.0 writes them: dates and timestamps as ISO texts, a timestamp in UTC. In
version 1 a timestamp is in a time zone that nothing names.
"""


@dataclass(frozen=True, slots=True)
class EquiHeightHistogram:
    """Bins of `height` rows each: the least and greatest value of each bin, and how many distinct ones it has.

    Dates are days, timestamps microseconds since 1970-01-01.
    """

    height: float
    low: tuple[float, ...]
    high: tuple[float, ...]
    distinct: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkColumn:
    """One column's statistics. `low` and `high` are texts in the form of `version`; lengths are in bytes.

    `distinct` leaves null out.
    """

    version: int = VERSION
    distinct: int | None = None
    low: str | None = None
    high: str | None = None
    nulls: int | None = None
    average_length: int | None = None
    max_length: int | None = None
    histogram: EquiHeightHistogram | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkStatistics:
    """A table's size in bytes, its rows, and its columns by the names that Spark has for them, case and all."""

    size_bytes: int | None = None
    rows: int | None = None
    columns: Mapping[str, SparkColumn] = field(default_factory=dict)
