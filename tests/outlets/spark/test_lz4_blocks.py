"""Streams of LZ4 blocks: those that Java wrote are read, ours come back, and corrupt ones are refused."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmstats.errors import SketchError
from hmstats.outlets.spark.lz4_blocks import compress, decompress

FROM_JAVA = base64.b64decode(
    "TFo0QmxvY2smPAAAAHAAAACWgrUDQ0BvQAABABMECABBAEBvIAsAMkB/MAgAIodoCAAPGAAFIY84IAADAgAT+QgAEu0IACMBCQgAUAT/////"
    "TFo0QmxvY2sWAAAAAAAAAAAAAAAA"
)
"""A histogram of 112 bytes, as Spark 4.3 stored it."""


@settings(max_examples=50)
@given(st.binary(max_size=300) | st.binary(min_size=1, max_size=40).map(lambda data: data * 5_000))
def test_data_comes_back(data: bytes) -> None:
    assert decompress(compress(data)) == data


def test_a_stream_of_java_is_read_and_written_alike() -> None:
    data = decompress(FROM_JAVA)
    assert len(data) == 112
    assert compress(data) == FROM_JAVA


@pytest.mark.parametrize("place", range(len(FROM_JAVA)))
def test_a_changed_byte_is_noticed(place: int) -> None:
    broken = bytearray(FROM_JAVA)
    broken[place] ^= 0x41
    try:
        found = decompress(bytes(broken))
    except SketchError:
        return
    assert found == decompress(FROM_JAVA)  # a checksum that nobody looks at: that of the block of length 0


@pytest.mark.parametrize("size", [0, 8, 20, 21, 60, len(FROM_JAVA) - 1])
def test_a_stream_that_is_cut_is_refused(size: int) -> None:
    with pytest.raises(SketchError):
        decompress(FROM_JAVA[:size])
