"""Groups of column statistics straight to the bytes of their objects, as statistics_bytes.py encodes each.

The objects of a group differ only in their numbers. So one object is encoded with marks for numbers, and the marks'
positions are filled for all objects at once.
"""

import struct
from functools import lru_cache

import numpy as np

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.flat_statistics import FIELDS
from hmstats.model.statistics.statistics_group import NUMBER_BYTES, StatisticsGroup, number_format
from hmstats.wire.statistics import statistics_bytes

_MARK = 0x7EFF_FEFD_FCFB_FA00
"""The mark of a field, after its number was added: 8 bytes that no UTF-8 text contains, and a finite double."""


def objects(group: StatisticsGroup, *, hive4: bool) -> list[bytes]:
    """A ColumnStatisticsObj of each partition, in their order, without sketches.

    Objects of decimals, whose bounds differ in length, are encoded one by one.
    """
    if group.kind is Kind.DECIMAL:
        return statistics_bytes.objects(group.flat(), hive4=hive4)
    pattern, places = _pattern(group.column, group.column_type, group.kind, frozenset(group.numbers), hive4)
    width, count = len(pattern), len(group.partitions)
    rows = np.empty((count, width), np.uint8)
    rows[:] = np.frombuffer(pattern, np.uint8)
    for field, start in places:
        numbers = np.frombuffer(group.numbers[field], np.uint8)
        rows[:, start : start + NUMBER_BYTES] = numbers.reshape(count, NUMBER_BYTES)
    whole = rows.tobytes()
    return [whole[start : start + width] for start in range(0, count * width, width)]


@lru_cache(maxsize=10_000)
def _pattern(
    column: str,
    column_type: str,
    kind: Kind,
    known: frozenset[str],
    hive4: bool,  # noqa: FBT001
) -> tuple[bytes, list[tuple[str, int]]]:
    """An object of a column with marks for these known fields, and the position of each number in it."""
    marks = {field: struct.pack(">q", _MARK + number) for number, field in enumerate(FIELDS[kind]) if field in known}
    values = [
        struct.unpack(f">{number_format(kind, field)}", marks[field])[0] if field in marks else None
        for field in FIELDS[kind]
    ]
    (pattern,) = statistics_bytes.objects([(column, column_type, *values)], hive4=hive4)
    return pattern, [(field, pattern.index(mark)) for field, mark in marks.items() if mark in pattern]
