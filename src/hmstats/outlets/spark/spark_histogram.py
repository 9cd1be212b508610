"""Spark's text for an equi-height histogram (org.apache.spark.sql.catalyst.plans.logical.HistogramSerializer).

Base64 of a stream of LZ4 blocks, and in that, big-endian: the height as a double, the number of bins, the low ends, the
high ends, the distinct values of each bin as longs, and -1.
"""

import base64
import binascii
import struct

import numpy as np

from hmstats.errors import SketchError
from hmstats.model.spark.spark_statistics import EquiHeightHistogram
from hmstats.outlets.spark import lz4_blocks

_HEAD = struct.Struct(">di")
_END = struct.pack(">i", -1)


def to_text(histogram: EquiHeightHistogram) -> str:
    """The text that Spark reads."""
    body = (np.array(ends, ">f8").tobytes() for ends in (histogram.low, histogram.high))
    distinct = np.array(histogram.distinct, ">i8").tobytes()
    data = b"".join((_HEAD.pack(histogram.height, len(histogram.low)), *body, distinct, _END))
    return base64.b64encode(lz4_blocks.compress(data)).decode()


def from_text(text: str) -> EquiHeightHistogram:
    """Parse Spark's text. Raises SketchError for an invalid text."""
    try:
        data = lz4_blocks.decompress(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as error:
        raise SketchError(f"Spark's histogram must be Base64: {error}") from error
    if len(data) < _HEAD.size:
        raise SketchError(f"Spark's histogram must have {_HEAD.size} bytes at least, found {len(data)}")
    height, bins = _HEAD.unpack_from(data)
    if bins < 0 or len(data) < _HEAD.size + 3 * 8 * bins:
        raise SketchError(f"Spark's histogram must have 24 bytes for each of {bins} bins, found {len(data)} in all")
    low, high = (np.frombuffer(data, ">f8", bins, _HEAD.size + place * 8 * bins).tolist() for place in (0, 1))
    distinct = np.frombuffer(data, ">i8", bins, _HEAD.size + 2 * 8 * bins).tolist()
    return EquiHeightHistogram(height, tuple(low), tuple(high), tuple(distinct))
