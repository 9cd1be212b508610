"""The bytes of an Arrow array of strings or binaries, without a copy and without a Python object for each value."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def offsets_and_data(array: pa.Array) -> tuple[Offsets, npt.NDArray[np.uint8]]:
    """The len(array) + 1 offsets, in bytes, and the data that they point into.

    `array` is a string, binary, large_string or large_binary array. A slice has its own offsets, into the whole data.
    """
    if len(array) == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    _, offset_buffer, data_buffer = array.buffers()
    width: Any = np.int64 if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type) else np.int32
    start = array.offset * np.dtype(width).itemsize
    offsets = np.frombuffer(offset_buffer, width, count=len(array) + 1, offset=start)
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return offsets, data


def byte_lengths(array: pa.Array) -> npt.NDArray[np.int64]:
    """The length of each value in bytes; that of a null is whatever its slot holds."""
    offsets, _ = offsets_and_data(array)
    return np.diff(offsets).astype(np.int64, copy=False)
