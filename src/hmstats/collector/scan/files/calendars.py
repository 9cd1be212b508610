"""Converts dates and timestamps of Spark's old calendar, which is Julian before 1582-10-15, to today's calendar.

Spark 2, and later ones in legacy mode, mark this in the file's metadata, by which Spark itself rebases values
(org.apache.spark.sql.catalyst.util.RebaseDateTime, org.apache.spark.sql.execution.datasources.DataSourceUtils).
Timestamps are rebased in UTC.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_VERSION = b"org.apache.spark.version"
_OF_DATES = (b"org.apache.spark.legacyDateTime", (3, 0))
_OF_INT96 = (b"org.apache.spark.legacyINT96", (3, 1))
"""The key that legacy mode leaves in files, and the first version that has the mode; older versions need no key."""
_DAY_US = 86_400_000_000
_SWITCHES = np.array(
    [
        *(-719164, -682945, -646420, -609895, -536845, -500320, -463795),
        *(-390745, -354220, -317695, -244645, -208120, -171595, -141427),
    ]
)
"""The days since 1970 at which the difference between the calendars changes, to that of DIFFERENCES."""
_DIFFERENCES = np.array([2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, 0])


def old_columns(footer: pq.FileMetaData) -> frozenset[str]:
    """The top-level columns of a file whose values use the old calendar."""
    said = footer.metadata or {}
    old = {int96: _is_old(said, *key) for int96, key in ((False, _OF_DATES), (True, _OF_INT96))}
    if not any(old.values()):
        return frozenset()
    columns = (footer.schema.column(number) for number in range(footer.num_columns))
    return frozenset(each.name for each in columns if old[each.physical_type == "INT96"] and each.path == each.name)


def _is_old(said: Mapping[bytes, bytes], key: bytes, since: tuple[int, int]) -> bool:
    version = said.get(_VERSION)
    if version is None:
        return False
    numbers = [int(each) for each in version.decode().split(".")[:2] if each.isdecimal()]
    return key in said or (len(numbers) == len(since) and tuple(numbers) < since)


def rebased(array: pa.Array) -> pa.Array:
    """Dates, and timestamps in microseconds, converted from the old calendar to today's; other values as they are."""
    if pa.types.is_date32(array.type):
        return _rebase(array, pa.int32(), 1)
    if pa.types.is_timestamp(array.type) and array.type.unit == "us":
        return _rebase(array, pa.int64(), _DAY_US)
    return array


def _rebase(array: pa.Array, whole: pa.DataType, day: int) -> pa.Array:
    numbers = array.cast(whole)
    least = pc.min(numbers).as_py()
    if least is None or least >= _SWITCHES[-1] * day:
        return array
    days = pc.fill_null(numbers, 0).to_numpy(zero_copy_only=False) // day
    at = np.clip(np.searchsorted(_SWITCHES, days, side="right") - 1, 0, None)
    moves = pa.array(_DIFFERENCES[at] * day, whole)
    return pc.add(numbers, moves).cast(array.type)
