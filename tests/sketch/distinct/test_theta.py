import hashlib
from itertools import pairwise
from typing import Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sketch.theta_vectors import VECTORS, array, large_array

from hmstats.errors import SketchError
from hmstats.sketch.distinct.theta import NOMINAL_ENTRIES, STANDARD_ERROR, ThetaSketch


def sketch_of(*values: pa.Array) -> ThetaSketch:
    made = ThetaSketch()
    for each in values:
        made.update(each)
    return made


def of_range(*limits: int) -> ThetaSketch:
    return sketch_of(pa.array(np.arange(*limits, dtype=np.int64)))


@pytest.mark.parametrize("vector", VECTORS["small"], ids=lambda vector: str(vector["name"]))
def test_bytes_are_those_of_iceberg(vector: dict[str, Any]) -> None:
    made = sketch_of(array(vector))
    assert made.to_bytes().hex() == vector["sketch"]
    assert made.ndv == vector["ndv"]
    assert ThetaSketch.from_bytes(made.to_bytes()).to_bytes() == made.to_bytes()


@pytest.mark.parametrize("vector", VECTORS["large"], ids=lambda vector: str(vector["name"]))
def test_more_values_than_entries_are_as_in_a_union_of_spark(vector: dict[str, Any]) -> None:
    made = sketch_of(large_array(vector))
    data = made.to_bytes()
    assert (made.theta, made.estimate(), len(data)) == (vector["theta_long"], vector["estimate"], vector["length"])
    assert hashlib.sha256(data).hexdigest() == vector["sha256"]
    assert made.ndv == pytest.approx(vector["distinct"], rel=4 * STANDARD_ERROR)


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=4), st.randoms())
def test_a_sketch_does_not_depend_on_how_values_were_split(cuts: list[int], random: Any) -> None:
    edges = sorted({0, 40_000, *cuts})
    parts = [of_range(start, stop) for start, stop in pairwise(edges)]
    random.shuffle(parts)
    merged = ThetaSketch()
    for part in parts:
        merged = merged.merge(part)
    assert merged.to_bytes() == of_range(40_000).to_bytes()
    assert merged.merge(parts[0]).to_bytes() == merged.to_bytes()


def test_the_library_reads_our_bytes_and_we_its_own() -> None:
    for count in (0, 1, 2, NOMINAL_ENTRIES, 50_000):
        theirs = datasketches.update_theta_sketch()
        for value in range(count):
            theirs.update(value)
        ours = of_range(count)
        read = datasketches.compact_theta_sketch.deserialize(ours.to_bytes())
        assert read.get_estimate() == ours.estimate()
        assert (read.is_empty(), read.get_seed_hash()) == ((False, 0x93CC) if count else (True, 0))
        for compressed in (False, True):
            data = datasketches.compact_theta_sketch(theirs, True).serialize(compressed)
            assert ThetaSketch.from_bytes(data).to_bytes() == ours.to_bytes()


def test_a_union_with_a_sketch_of_another_writer_estimates_both() -> None:
    theirs = datasketches.update_theta_sketch()
    for value in range(60_000):
        theirs.update(value)
    read = ThetaSketch.from_bytes(datasketches.compact_theta_sketch(theirs, False).serialize())
    assert read.merge(of_range(30_000, 90_000)).to_bytes() == of_range(90_000).to_bytes()


def test_a_hash_of_zero_is_not_counted() -> None:
    made = ThetaSketch()
    made.add_hashes(np.array([0, 1, 2, 2**64 - 1], np.uint64))
    assert made.entries.tolist() == [1]


@pytest.mark.parametrize("data", [b"", b"\x02\x03\x03", bytes(16), of_range(10).to_bytes()[:40], b"x" * 64], ids=repr)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SketchError, match="theta sketch"):
        ThetaSketch.from_bytes(data)


def test_a_sketch_of_another_seed_is_refused() -> None:
    data = bytearray(of_range(10).to_bytes())
    data[6] ^= 1
    with pytest.raises(SketchError, match="theta sketch of"):
        ThetaSketch.from_bytes(bytes(data))
