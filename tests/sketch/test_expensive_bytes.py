"""Bytes that claim to be sketches are refused by their header, before time and memory are spent on them."""

import tracemalloc

import pytest
from tests.fixtures.bounded import run_bounded

from hmstats.errors import SketchError
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.frequent.top_k import MOST_READ_BYTES, TopK
from hmstats.sketch.quantiles import kll_bytes

MANY = 5_000_000
TOP_K = TopK()
TOP_K.add(["a"], [5], 5, 0)


@pytest.mark.parametrize("fourth", [0x00, 0x40, 0xC0, 0x01, 0x47, 0xC6])
def test_a_bit_vector_longer_than_its_header_allows_takes_no_memory(fourth: int) -> None:
    data = b"HLL" + bytes([fourth]) + b"\x01" * MANY
    tracemalloc.start()
    try:
        with pytest.raises(SketchError, match=r"has at most .* bytes in this encoding, not 5000004"):
            bit_vector.check(data)
        assert tracemalloc.get_traced_memory()[1] < 3 * MANY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("data", [b"FM\xff\xff" + bytes(MANY), b"HL" + bytes(MANY), bytes(MANY)])
def test_other_bit_vectors_are_refused(data: bytes) -> None:
    with pytest.raises(SketchError):
        bit_vector.check(data)


def test_a_histogram_of_other_levels_than_bytes_is_refused() -> None:
    head = bytes([5, 1, 15, 0, 0xFF, 0xFF, 8, 0]) + (1 << 40).to_bytes(8, "little") + b"\xff\xff\x3d\0"
    with pytest.raises(SketchError, match="keeps"):
        kll_bytes.check(head + bytes(4 * 61 + 8) + bytes(MANY - MANY % 4))


def test_a_top_k_sketch_beyond_the_limit_is_refused() -> None:
    with pytest.raises(SketchError, match=f"may have {MOST_READ_BYTES} bytes"):
        TopK.from_bytes(TOP_K.to_bytes() + bytes(MOST_READ_BYTES))


def test_a_top_k_sketch_takes_memory_for_its_items_not_for_those_that_it_claims_room_for() -> None:
    """A map of 2^16 places takes 3 MB, which a sketch of 45 bytes may claim."""
    plain = TOP_K.to_bytes()
    claims = plain[:3] + bytes([16, 16]) + plain[5:]
    assert TopK.from_bytes(claims).top() == TOP_K.top()
    run_bounded(
        "from pathlib import Path\n"
        "from hmstats.sketch.frequent.top_k import TopK\n"
        "def most_kilobytes():\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM'))\n"
        f"kept = [TopK.from_bytes({claims!r})]\n"
        "before = most_kilobytes()\n"
        f"kept += [TopK.from_bytes({claims!r}) for _ in range(100)]\n"
        "assert most_kilobytes() - before < 50_000\n"
    )


def test_many_long_sparse_sketches_are_read_some_at_a_time() -> None:
    data = b"HLL\x40\x01\x80\xb5\x18\x81\x08" + bytes(399_999)
    tracemalloc.start()
    try:
        HiveHll.merge_many([data] * 10)
        assert tracemalloc.get_traced_memory()[1] < 15 * len(data) * 10
    finally:
        tracemalloc.stop()
