import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.sketch.vectors import of_longs

from hmstats.errors import SketchError
from hmstats.sketch.distinct.hive_hll import HiveHll

SPARSE = of_longs(12, 0, 100).to_bytes()
DENSE = of_longs(10, 0, 10_000).to_bytes()

FOREIGN = {
    "empty": b"",
    "the placeholder for null": b"HL",
    "header only": b"HLL\xc0",
    "an FM sketch": b"FM\x01\x00\x00\x00\x00\x00",
    "p below 4": b"HLL\x30\x01\x00",
    "the bit that is never set": b"HLL\xc8\x01\x00",
    "cut within a code": b"HLL\xc0\x01\x01\xff",
    "without a number of codes": b"HLL\xc0\x80\x01",
    "fewer codes than it says": b"HLL\xc0\x01\x02\x02",
    "more codes than it says": b"HLL\xc0\x01\x00\x02",
    "a huge number of codes": b"HLL\xc0\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    "a number of eleven bytes": b"HLL\xc0\x01\x01" + b"\x80" * 10 + b"\x01",
    "a code of 32 bits": b"HLL\xc0\x01\x01\x81\x80\x80\x80\x08",
    "a rank that its key contradicts": b"HLL\xc0\x01\x01" + bytes([0x82, 0x80, 0x80, 0x80, 0x01]),
    "a rank of 0": b"HLL\xc0\x01\x01\x00",
    "a dense one that ends in its estimate": b"HLL\xc5" + b"\xff" * 20,
    "a dense one cut off": DENSE[:-1],
    "a dense one with something behind": DENSE + b"\x00",
    "a register above 65": b"HLL\x47\x01" + b"\x00" * 15 + b"\x42",
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN.keys())
def test_corrupt_and_foreign_bytes_are_refused_with_a_reason(data: bytes) -> None:
    with pytest.raises(SketchError, match="HyperLogLog sketch"):
        HiveHll.from_bytes(data)


def test_one_corrupt_sketch_among_many_is_found() -> None:
    with pytest.raises(SketchError):
        HiveHll.merge_many([SPARSE, SPARSE[:-1] + b"\x80", SPARSE])
    with pytest.raises(SketchError):
        HiveHll.merge_many([DENSE, DENSE[:-1], DENSE])


def test_codes_are_read_in_any_order() -> None:
    # Longs 3, 4, 5 at p = 10 in ascending order, as older versions of Hive wrote them.
    ascending = bytes.fromhex("484c4ca0030382afebaa0182e2f74cbd928b01")
    assert HiveHll.from_bytes(ascending) == of_longs(10, 3, 6)
    assert of_longs(10, 3, 6).to_bytes().hex() == "484c4ca003038491e3f701fe9d88b3ffffffffff01bff4824e"


def test_the_estimate_in_the_bytes_is_not_believed() -> None:
    assert HiveHll.from_bytes(b"HLL\xa0\xe8\x07" + of_longs(10, 0, 1).to_bytes()[5:]) == of_longs(10, 0, 1)


def test_a_sparse_sketch_that_should_be_dense_is_made_so() -> None:
    many = of_longs(14, 0, 2_000)
    as_ten = b"HLL\xa0" + many.to_bytes()[4:]
    with pytest.raises(SketchError, match="contradicts"):
        HiveHll.from_bytes(as_ten)
    parts = [of_longs(10, start, start + 100).to_bytes() for start in range(0, 2_000, 100)]
    assert HiveHll.merge_many(parts) == of_longs(10, 0, 2_000)


def test_registers_of_a_byte_each_and_hives_rank_of_zeros() -> None:
    read = HiveHll.from_bytes(b"HLL\x47\x01" + b"\x01" * 15 + b"\x41")
    assert read.to_bytes() == b"HLL\x46" + read.to_bytes()[4:5] + bytes.fromhex("04104104104104104104107f")
    assert HiveHll.from_bytes(read.to_bytes()) == read


def test_registers_that_are_all_zero_are_an_empty_sketch() -> None:
    assert HiveHll.from_bytes(b"HLL\x45\x01" + b"\x00" * 10) == HiveHll(4)


def works_or_is_refused(data: bytes) -> None:
    try:
        sketch = HiveHll.from_bytes(data)
    except SketchError:
        return
    assert sketch.count() >= 0
    assert HiveHll.from_bytes(sketch.to_bytes()) == sketch


@given(st.binary(max_size=40), st.sampled_from([0xA0, 0xC0, 0x40, 0x45, 0x47, 0x01]))
@example(b"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 0xC0)
def test_any_bytes_work_or_are_refused(body: bytes, header: int) -> None:
    works_or_is_refused(body)
    works_or_is_refused(b"HLL" + bytes([header]) + body)


@given(st.sampled_from([SPARSE, DENSE]), st.lists(st.tuples(st.integers(0, 700), st.integers(0, 255)), max_size=4))
@settings(max_examples=300)
def test_damaged_bytes_work_or_are_refused(data: bytes, damages: list[tuple[int, int]]) -> None:
    damaged = bytearray(data)
    for place, value in damages:
        damaged[place % len(data)] = value
    works_or_is_refused(bytes(damaged))
    works_or_is_refused(bytes(damaged[: damages[0][0]]) if damages else data)
