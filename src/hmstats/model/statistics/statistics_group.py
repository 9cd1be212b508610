"""One column's statistics of many partitions as columns of numbers, for answers that hold thousands of them.

Flat tuples (flat_statistics.py) take a Python object for each number; here are the bytes as the database packs them and
as Thrift's binary protocol sends them.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from typing import Any

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.flat_statistics import FIELDS, FlatStatistics

NUMBER_BYTES = 8


@dataclass(frozen=True, slots=True)
class StatisticsGroup:
    """Statistics of one column and type, of partitions in which just the same fields are known.

    `numbers` has by field a number for each partition, in their order: 8 bytes big-endian, of a double where
    `number_format` says so, else of a long. Unknown nulls are -1. `decimals` are decimals' bounds.
    """

    column: str
    column_type: str
    kind: Kind
    partitions: Sequence[str]
    numbers: Mapping[str, bytes]
    decimals: Mapping[str, Sequence[Decimal | None]]

    def flat(self) -> list[FlatStatistics]:
        """Flat tuples, one for each partition, without sketches."""
        fields = (self._values(field) for field in FIELDS[self.kind])
        described = ((self.column, self.column_type) for _ in self.partitions)
        return [(*name, *values) for name, *values in zip(described, *fields, strict=False)]

    def _values(self, field: str) -> Iterable[Any]:
        if field in self.decimals:
            return self.decimals[field]
        if field not in self.numbers:
            return repeat(None)
        values = struct.unpack(f">{len(self.partitions)}{number_format(self.kind, field)}", self.numbers[field])
        return values if field != "nulls" else (None if value < 0 else value for value in values)


def number_format(kind: Kind, field: str) -> str:
    """A field's format letter for struct and, after `>`, for numpy: d for a double, q for a long."""
    return "d" if field == "average_length" or (kind is Kind.DOUBLE and field in ("low", "high")) else "q"
