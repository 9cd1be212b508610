"""The hashes by which Iceberg counts distinct values: of each value in Iceberg's binary single-value form.

The form is Conversions.toByteBuffer's (Appendix D of Iceberg's specification): numbers little-endian at the width of
their type, a decimal as the fewest bytes of its unscaled value, big-endian. The width comes from the array's own type,
so an int column must come as int32 and a bigint column as int64.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hmstats.errors import SketchError
from hmstats.sketch.values.arrow_bytes import byte_lengths
from hmstats.sketch.values.murmur3_128 import hash_bytes, hash_rows, hash_words
from hmstats.sketch.values.murmur3_steps import BLOCK_ROWS, UInt64s

_WIDE_DECIMAL = 38
_NAN_BITS = {4: 0x7FC0_0000, 8: 0x7FF8_0000_0000_0000}


def iceberg_hashes(array: pa.Array) -> UInt64s:
    """The hashes of an array's values; nulls have none, nor have empty texts and binaries, which Iceberg ignores.

    A dictionary's values are hashed once each. Raises SketchError for a type that is no primitive type of Iceberg.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary.take(array.indices.drop_null().unique())
    found = array.drop_null() if array.null_count else array
    for is_one, hashes in _BY_TYPE:
        if is_one(array.type):
            return hashes(found)
    raise SketchError(f"Iceberg has no theta sketch of values of Arrow's type {array.type}")


def _of_booleans(array: pa.Array) -> UInt64s:
    return hash_words(array.to_numpy(zero_copy_only=False).astype(np.uint64), 1)


def _of_integers(array: pa.Array) -> UInt64s:
    """Of int32 and int64 values, dates in days, times, and timestamps in their own unit."""
    width = array.type.bit_width // 8
    signed = array.view(pa.int32() if width == 4 else pa.int64()).to_numpy()
    return hash_words(signed.view(np.uint32 if width == 4 else np.uint64).astype(np.uint64), width)


def _of_floats(array: pa.Array) -> UInt64s:
    """Of IEEE bits: every NaN is Java's, and -0.0 differs from 0.0."""
    width = array.type.bit_width // 8
    values = array.to_numpy()
    bits = values.view(np.uint32 if width == 4 else np.uint64).astype(np.uint64)
    bits[np.isnan(values)] = _NAN_BITS[width]
    return hash_words(bits, width)


def _of_decimals(array: pa.Array) -> UInt64s:
    wide = array.cast(pa.decimal128(_WIDE_DECIMAL, array.type.scale))
    stored = np.frombuffer(wide.buffers()[1], np.uint8)[16 * wide.offset : 16 * (wide.offset + len(wide))]
    every = stored.reshape(-1, 16)[:, ::-1]
    hashes = np.empty(len(wide), np.uint64)
    for start in range(0, len(wide), BLOCK_ROWS):
        hashes[start : start + BLOCK_ROWS] = _of_unscaled(every[start : start + BLOCK_ROWS])
    return hashes


def _of_unscaled(values: npt.NDArray[np.uint8]) -> UInt64s:
    """Of unscaled values, rows of 16 bytes, two's complement and big-endian: the fewest bytes of each."""
    signs = (values[:, :1] >> 7) * np.uint8(255)
    magnitudes = values ^ signs
    first = (magnitudes != 0).argmax(axis=1)
    # The last byte is always written; one more is, if the first bit would be taken for the sign.
    first = np.where(magnitudes.any(axis=1), first, 15)
    begins_with_one = magnitudes[np.arange(len(values)), first] >> 7
    lengths = 16 - first.astype(np.int64) + begins_with_one
    data = np.concatenate([values.ravel(), np.zeros(8, np.uint8)])
    return hash_rows(data, 16 * (np.arange(len(values)) + 1) - lengths, lengths)


def _of_bytes(array: pa.Array) -> UInt64s:
    """Of texts and binaries, of which empty ones are left out: DataSketches ignores an update without bytes."""
    lengths = byte_lengths(array)
    if len(lengths) and not lengths.all():
        array = array.filter(pa.array(lengths > 0))
    return hash_bytes(array)


def _of_fixed(array: pa.Array) -> UInt64s:
    return _of_bytes(pc.cast(array, pa.binary()))


def _of_views(array: pa.Array) -> UInt64s:
    return _of_bytes(pc.cast(array, pa.large_binary()))


def _is_wide_integer(given: pa.DataType) -> bool:
    signed = pa.types.is_int32(given) or pa.types.is_int64(given)
    return bool(signed or pa.types.is_date32(given) or pa.types.is_time64(given) or pa.types.is_timestamp(given))


def _is_text_or_binary(given: pa.DataType) -> bool:
    large = pa.types.is_large_string(given) or pa.types.is_large_binary(given)
    return bool(large or pa.types.is_string(given) or pa.types.is_binary(given))


def _is_view(given: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(given) or pa.types.is_binary_view(given))


def _is_single_or_double(given: pa.DataType) -> bool:
    return bool(pa.types.is_float32(given) or pa.types.is_float64(given))


_BY_TYPE: tuple[tuple[Callable[[pa.DataType], Any], Callable[[pa.Array], UInt64s]], ...] = (
    (pa.types.is_boolean, _of_booleans),
    (_is_wide_integer, _of_integers),
    (_is_single_or_double, _of_floats),
    (pa.types.is_decimal128, _of_decimals),
    (_is_text_or_binary, _of_bytes),
    (pa.types.is_fixed_size_binary, _of_fixed),
    (_is_view, _of_views),
)
