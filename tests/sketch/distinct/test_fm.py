import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sketch.vectors import VECTORS

from hmstats.errors import SketchError
from hmstats.sketch.distinct.fm import FmSketch

SKETCHES = [FmSketch.from_bytes(base64.b64decode(v["base64"])) for v in VECTORS["fm"] if v["vectors"] == 16]


@pytest.mark.parametrize("vector", VECTORS["fm"], ids=lambda v: f"{v['vectors']}-{v['kind']}-{v['n']}")
def test_estimates_and_bytes_are_those_of_hive(vector: dict[str, Any]) -> None:
    data = base64.b64decode(vector["base64"])
    sketch = FmSketch.from_bytes(data)
    assert len(sketch.vectors) == vector["vectors"]
    assert sketch.estimate() == vector["estimate_after_round_trip"]
    assert sketch.to_bytes() == data


def test_a_vector_of_ones_has_its_lowest_zero_at_32() -> None:
    assert FmSketch.from_bytes(b"FM\x01\x00\xff\xff\xff\xff").estimate() == int(2**32 / 0.77351)
    assert FmSketch.from_bytes(b"FM\x01\x00\xff\xff\xff\x7f").estimate() == int(2**31 / 0.77351)


@given(st.sampled_from(SKETCHES), st.sampled_from(SKETCHES), st.sampled_from(SKETCHES))
def test_merge_is_a_union(a: FmSketch, b: FmSketch, c: FmSketch) -> None:
    assert a.merge(b).merge(c).to_bytes() == a.merge(b.merge(c)).to_bytes()
    assert (
        a.merge(b).to_bytes() == b.merge(a).to_bytes() == FmSketch.merge_many([a.to_bytes(), b.to_bytes()]).to_bytes()
    )
    assert a.merge(a).to_bytes() == a.to_bytes()
    assert a.merge(b).estimate() >= max(a.estimate(), b.estimate())
    assert FmSketch.from_bytes(b"FM\x10\x00" + bytes(64)).merge(a).to_bytes() == a.to_bytes()


def test_sketches_of_different_sizes_do_not_merge() -> None:
    with pytest.raises(SketchError, match="16 vectors does not merge with 1"):
        SKETCHES[0].merge(FmSketch.from_bytes(b"FM\x01\x00\x00\x00\x00\x00"))


@pytest.mark.parametrize("data", [b"", b"F", b"FM", b"FM\x00\x00", b"HLL\xa0\x01\x00", b"FM\x01\x00\x00\x00\x00"])
def test_corrupt_and_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SketchError, match="an FM sketch"):
        FmSketch.from_bytes(data)


@given(st.binary(max_size=30))
def test_any_bytes_work_or_are_refused(body: bytes) -> None:
    for data in (body, b"FM" + body):
        try:
            sketch = FmSketch.from_bytes(data)
        except SketchError:
            continue
        assert sketch.estimate() >= 1
        assert sketch.to_bytes() == data
