"""Timestamps of Parquet's type INT96, which Hive, Impala and Spark wrote into tables that later became Iceberg's.

PyIceberg reads them as nanoseconds: those before 1678 or after 2261 would become others, without an error.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pyarrow import dataset
from pyiceberg.io import pyarrow as reading
from pyiceberg.manifest import FileFormat

_NAME = "_get_file_format"
_file_format: Callable[..., dataset.FileFormat] | None = getattr(reading, _NAME, None)
"""The function that makes Arrow's format of a file: PyIceberg has no setting for it, and may rename it."""


def read_as_microseconds() -> None:
    """Make PyIceberg read these timestamps as microseconds, which can hold all of them."""
    if _file_format is not None:
        setattr(reading, _NAME, _with_microseconds)


@lru_cache
def _with_microseconds(file_format: FileFormat, **given: Any) -> dataset.FileFormat:
    assert _file_format is not None
    if file_format == FileFormat.PARQUET:
        return _file_format(file_format, **given, coerce_int96_timestamp_unit="us")
    return _file_format(file_format, **given)
