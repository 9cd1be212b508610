"""Column statistics by kind, as Hive's eight structs have them.

Unknown is None everywhere; the edges put in a sentinel where an engine needs one. A kind's fields are those that the
metastore keeps for it (hive_metastore.thrift, `*ColumnStatsData`). Sketches are bytes here: `bit_vector` is a Hive
HyperLogLog or FM sketch, `histogram` a DataSketches KLL float sketch; package sketch reads them.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from hmstats.model.statistics.provenance import Provenance

DEFAULT_ENGINE = "hive"
"""The engine of a caller that names none."""


class Kind(Enum):
    """The kinds of column statistics; the value is the member's name in the Thrift union."""

    BOOLEAN = "booleanStats"
    LONG = "longStats"
    DOUBLE = "doubleStats"
    STRING = "stringStats"
    BINARY = "binaryStats"
    DECIMAL = "decimalStats"
    DATE = "dateStats"
    TIMESTAMP = "timestampStats"

    __hash__ = object.__hash__  # members are singletons, and Enum's own hash is slow Python


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanStatistics:
    """Counts of values, in rows."""

    trues: int | None = None
    falses: int | None = None
    nulls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LongStatistics:
    """All integer types. `low` and `high` are the values themselves."""

    low: int | None = None
    high: int | None = None
    nulls: int | None = None
    ndv: int | None = None
    bit_vector: bytes | None = None
    histogram: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleStatistics:
    """float and double."""

    low: float | None = None
    high: float | None = None
    nulls: int | None = None
    ndv: int | None = None
    bit_vector: bytes | None = None
    histogram: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalStatistics:
    """decimal of any precision; the bounds keep their scale."""

    low: Decimal | None = None
    high: Decimal | None = None
    nulls: int | None = None
    ndv: int | None = None
    bit_vector: bytes | None = None
    histogram: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateStatistics:
    """Bounds in days since 1970-01-01."""

    low: int | None = None
    high: int | None = None
    nulls: int | None = None
    ndv: int | None = None
    bit_vector: bytes | None = None
    histogram: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampStatistics:
    """Bounds in whole seconds since 1970-01-01 00:00:00 UTC."""

    low: int | None = None
    high: int | None = None
    nulls: int | None = None
    ndv: int | None = None
    bit_vector: bytes | None = None
    histogram: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StringStatistics:
    """string, varchar and char. Lengths are in bytes of UTF-8 when our collector wrote them."""

    max_length: int | None = None
    average_length: float | None = None
    nulls: int | None = None
    ndv: int | None = None
    bit_vector: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryStatistics:
    """binary. Lengths in bytes."""

    max_length: int | None = None
    average_length: float | None = None
    nulls: int | None = None


Data: TypeAlias = (
    BooleanStatistics
    | LongStatistics
    | DoubleStatistics
    | StringStatistics
    | BinaryStatistics
    | DecimalStatistics
    | DateStatistics
    | TimestampStatistics
)

DATA_CLASSES: dict[Kind, type[Data]] = {
    Kind.BOOLEAN: BooleanStatistics,
    Kind.LONG: LongStatistics,
    Kind.DOUBLE: DoubleStatistics,
    Kind.STRING: StringStatistics,
    Kind.BINARY: BinaryStatistics,
    Kind.DECIMAL: DecimalStatistics,
    Kind.DATE: DateStatistics,
    Kind.TIMESTAMP: TimestampStatistics,
}
KINDS: dict[type[Data], Kind] = {cls: kind for kind, cls in DATA_CLASSES.items()}


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """One column's statistics. `column_type` is the Hive type string that the writer gave, lower-cased.

    Beside the numbers, where they are asked for: `top_k`, a DataSketches frequent-items sketch of its values, and
    where all this comes from.
    """

    column: str
    column_type: str
    data: Data
    top_k: bytes | None = None
    provenance: Provenance | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the data."""
        return KINDS[type(self.data)]

    @property
    def tool(self) -> str | None:
        """The program that made these statistics, with the version of the table that it read where there is one."""
        return self.provenance.tool if self.provenance else None


@dataclass(frozen=True, slots=True)
class StatisticsSet:
    """The columns' statistics of one table (`partition` is None) or of one of its partitions, of one engine.

    `partition` is the partition's name (`year=1994/month=2`); `last_analyzed_seconds` is epoch time, None until stored.
    """

    columns: tuple[ColumnStatistics, ...]
    partition: str | None = None
    engine: str = DEFAULT_ENGINE
    last_analyzed_seconds: int | None = None


def known_ndv(data: Data) -> int | None:
    """The distinct count, or None if it is unknown, as is a 0 beside a bound or a length.

    The metastore's API has no form for an unknown count.
    """
    ndv: int | None = getattr(data, "ndv", None)
    has_values = getattr(data, "low", None) is not None or bool(getattr(data, "max_length", None))
    return None if ndv == 0 and has_values else ndv
