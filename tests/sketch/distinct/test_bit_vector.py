import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sketch.vectors import VECTORS, of_longs

from hmstats.errors import SketchError
from hmstats.sketch.distinct import bit_vector

HLL = of_longs(12, 0, 1_000).to_bytes()
FM = next(base64.b64decode(v["base64"]) for v in VECTORS["fm"] if (v["vectors"], v["n"]) == (16, 1000))
SMALL_FM = b"FM\x01\x00\xff\x19\x00\x00"


@pytest.mark.parametrize("data", [None, b"", b"HL"])
def test_nothing_is_told_in_three_ways(data: bytes | None) -> None:
    assert bit_vector.is_absent(data)
    assert bit_vector.estimate(data) is None
    assert bit_vector.merge([data]) is None
    assert bit_vector.merge([HLL, data]) is None
    bit_vector.check(data)


def test_both_kinds_are_estimated() -> None:
    assert bit_vector.estimate(HLL) == 1000
    assert bit_vector.estimate(FM) == 691
    assert bit_vector.estimate(of_longs(12, 0, 0).to_bytes()) == 1


def test_nothing_seen_counts_as_nothing() -> None:
    assert bit_vector.count(of_longs(12, 0, 0).to_bytes()) == 0
    assert (bit_vector.count(HLL), bit_vector.count(FM)) == (1000, 691)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, None),
        (b"HL", None),
        (of_longs(12, 0, 50_000).to_bytes(), 0.01625),
        (of_longs(10, 0, 50_000).to_bytes(), 0.0325),
        (of_longs(10, 0, 10).to_bytes(), 0.00018),
        (FM, 0.195),
    ],
)
def test_the_standard_error_follows_from_the_size(data: bytes | None, error: float | None) -> None:
    assert bit_vector.standard_error(data) == (error and pytest.approx(error, rel=0.01))


def test_sketches_of_one_kind_are_merged() -> None:
    other = of_longs(10, 500, 1_500)
    assert bit_vector.merge([HLL, other.to_bytes()]) == of_longs(12, 0, 1_000).merge(other).to_bytes()
    assert bit_vector.merge([HLL]) == HLL
    assert bit_vector.merge([FM, FM]) == FM
    assert bit_vector.merge([]) is None


def test_sketches_that_do_not_go_together_are_not_merged() -> None:
    assert bit_vector.merge([HLL, FM]) is None
    assert bit_vector.merge([FM, SMALL_FM]) is None


@pytest.mark.parametrize("data", [b"garbage", b"HLX", b"HLL", HLL[:-1], FM[:-1], b"\x00"])
def test_corrupt_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SketchError):
        bit_vector.check(data)
    for other in (HLL, FM):
        with pytest.raises(SketchError):
            bit_vector.merge([other, data])


@given(st.lists(st.sampled_from([HLL, FM, SMALL_FM, b"HL", b"", b"x"]) | st.binary(max_size=12), max_size=4))
def test_any_bytes_are_merged_or_refused(sketches: list[bytes]) -> None:
    try:
        merged = bit_vector.merge(sketches)
    except SketchError:
        return
    assert merged is None or (bit_vector.estimate(merged) or 0) >= 1
