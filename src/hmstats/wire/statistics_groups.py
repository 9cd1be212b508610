"""Groups of column statistics straight to the bytes of their objects: what statistics_bytes.py says of each.

The objects of a group differ in their numbers alone. So one is encoded with numbers that are found again in it, and
their places are filled for all at once.
"""

import struct
from functools import lru_cache

import numpy as np

from hmstats.model.column_statistics import Kind
from hmstats.model.flat_statistics import FIELDS
from hmstats.model.statistics_group import NUMBER_BYTES, StatisticsGroup, number_format
from hmstats.wire import statistics_bytes

_MARK = 0x7EFF_FEFD_FCFB_FA00
"""With a field's number added, 8 bytes that no text in UTF-8 holds, and a finite double."""


def objects(group: StatisticsGroup, *, hive4: bool) -> list[bytes]:
    """A ColumnStatisticsObj of each partition, in their order, without sketches.

    Those of decimals, whose bounds differ in length, are made one by one.
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
    """An object of a column in which these fields are known, and where in it each number stands that is sent."""
    marks = {field: struct.pack(">q", _MARK + number) for number, field in enumerate(FIELDS[kind]) if field in known}
    values = [
        struct.unpack(f">{number_format(kind, field)}", marks[field])[0] if field in marks else None
        for field in FIELDS[kind]
    ]
    (pattern,) = statistics_bytes.objects([(column, column_type, *values)], hive4=hive4)
    return pattern, [(field, pattern.index(mark)) for field, mark in marks.items() if mark in pattern]
