import hashlib
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sketch.vectors import PRECISION_VECTORS, VECTORS, hashes, of_longs

from hmstats.errors import SketchError
from hmstats.sketch.distinct.hive_hll import DEFAULT_P, HiveHll
from hmstats.sketch.values.murmur3 import hash_longs
from hmstats.sketch.values.murmur3_steps import UInt64s

PRECISIONS = range(4, 17)


def of_hashes(p: int, given_hashes: UInt64s) -> HiveHll:
    sketch = HiveHll(p)
    sketch.add_hashes(given_hashes)
    return sketch


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@st.composite
def sketches(draw: st.DrawFn, p: int | None = None) -> HiveHll:
    """Empty, sparse and dense ones that overlap."""
    start, length = draw(st.integers(0, 300)), draw(st.sampled_from([0, 1, 3, 40, 700, 5000]))
    return of_longs(p or draw(st.sampled_from([4, 10, 12, 14])), start, start + length)


@pytest.mark.parametrize("vector", VECTORS["hll"], ids=lambda v: f"{v['p']}-{v['kind']}-{v['values'][:12]}")
def test_bytes_and_counts_are_those_of_hive(vector: dict[str, Any]) -> None:
    sketch = of_hashes(vector["p"], hashes(vector))
    data = sketch.to_bytes()
    assert sketch.is_sparse == (vector["encoding"] == "SPARSE")
    assert (sketch.count(), sketch.estimate()) == (vector["count"], vector["estimate"])
    assert (len(data), digest(data)) == (vector["length"], vector["sha256"])
    assert HiveHll.from_bytes(data) == sketch
    assert HiveHll.from_bytes(data).to_bytes() == data


@pytest.mark.parametrize("vector", PRECISION_VECTORS, ids=lambda v: f"{v['p']}-{v['n']}")
def test_every_precision_has_hives_bytes_and_counts(vector: dict[str, Any]) -> None:
    sketch = of_hashes(vector["p"], hash_longs(7919 * np.arange(vector["n"]) - 5))
    data = sketch.to_bytes()
    assert sketch.is_sparse == (vector["encoding"] == "SPARSE")
    assert (sketch.count(), len(data), digest(data)) == (vector["count"], vector["length"], vector["sha256"])


@pytest.mark.parametrize("vector", VECTORS["hll_merge"], ids=lambda v: f"{v['left']}-{v['right']}")
def test_merges_are_those_of_hive_and_work_in_the_order_that_hive_refuses(vector: dict[str, Any]) -> None:
    left, right = (of_longs(vector[side]["p"], *vector[side]["longs"]) for side in ("left", "right"))
    merged = left.merge(right)
    assert merged == right.merge(left)
    assert merged == HiveHll.merge_many([left.to_bytes(), right.to_bytes()])
    assert merged.p == min(left.p, right.p)
    if "error" not in vector:
        assert (merged.count(), digest(merged.to_bytes())) == (vector["count"], vector["sha256"])


@pytest.mark.parametrize(("p", "limit"), [(4, 2), (10, 153), (12, 614), (14, 2457)])
def test_a_sketch_becomes_dense_above_a_fifth_of_its_dense_bytes(p: int, limit: int) -> None:
    assert of_longs(p, 0, limit).is_sparse
    assert not of_longs(p, 0, limit + 1).is_sparse


@pytest.mark.parametrize("p", PRECISIONS)
@pytest.mark.parametrize("n", [0, 1, 5, 1_000, 300_000])
def test_the_count_is_within_four_standard_errors_and_survives_its_bytes(p: int, n: int) -> None:
    sketch = of_longs(p, 0, n)
    error = 1.04 / math.sqrt(1 << p)
    assert abs(sketch.count() - n) <= max(1, 4 * error * n)
    assert HiveHll.from_bytes(sketch.to_bytes()) == sketch


def test_an_empty_sketch_counts_nothing_and_estimates_one() -> None:
    empty = HiveHll()
    assert (empty.p, empty.count(), empty.estimate(), empty.is_empty) == (DEFAULT_P, 0, 1, True)
    assert empty.to_bytes() == bytes.fromhex("484c4cc00100")


@pytest.mark.parametrize("p", [-1, 3, 17])
def test_precisions_beyond_hives_are_refused(p: int) -> None:
    with pytest.raises(SketchError, match=f"p from 4 to 16, not {p}"):
        HiveHll(p)


@pytest.mark.parametrize(("larger", "smaller"), [*pairwise(reversed(PRECISIONS)), (16, 4), (14, 10)])
def test_folding_gives_what_the_smaller_sketch_would_have_seen(larger: int, smaller: int) -> None:
    folded = of_longs(larger, 0, 200_000).fold(smaller)
    assert folded == of_longs(smaller, 0, 200_000)


def test_a_fold_keeps_the_ranks_that_hive_loses() -> None:
    # Index 5 and rank 30 at p = 14: Hive's 32-bit shift would put it into another register.
    high = np.array([5 | 1 << 14 + 29], np.uint64)
    folded = of_hashes(14, np.concatenate((hash_longs(np.arange(5_000)), high))).fold(10)
    assert folded == of_hashes(10, np.concatenate((hash_longs(np.arange(5_000)), high)))


def test_a_sketch_cannot_be_unfolded() -> None:
    with pytest.raises(SketchError, match="p = 10 cannot be unfolded to 12"):
        HiveHll(10).fold(12)
    assert HiveHll(12).fold(10) == HiveHll(10)


def test_a_hash_of_zeros_counts_alike_in_sparse_and_dense() -> None:
    zeros = np.zeros(1, np.uint64)
    others = hash_longs(np.arange(5_000))
    late, early = of_hashes(12, others), of_hashes(12, zeros)
    late.add_hashes(zeros)
    early.add_hashes(others)
    assert late == early
    assert HiveHll.from_bytes(late.to_bytes()) == late


@given(sketches(), sketches(), sketches())
@settings(max_examples=60)
def test_merge_is_associative_and_commutative_and_empty_is_its_identity(a: HiveHll, b: HiveHll, c: HiveHll) -> None:
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(b) == b.merge(a)
    assert a.merge(a) == a
    if not a.is_empty:
        assert a.merge(HiveHll(4)) == HiveHll(16).merge(a) == a


@given(st.lists(sketches(), max_size=6))
@settings(max_examples=60)
def test_many_merged_at_once_are_as_merged_one_by_one(parts: list[HiveHll]) -> None:
    one_by_one = HiveHll(min((part.p for part in parts), default=DEFAULT_P))
    for part in parts:
        one_by_one = one_by_one.merge(part)
    assert HiveHll.merge_many([part.to_bytes() for part in parts]) == one_by_one


@given(
    st.lists(st.integers(0, 30_000), max_size=5), st.sampled_from([600, 7_000, 30_000]), st.sampled_from([4, 10, 12])
)
@settings(max_examples=40)
def test_the_sketch_does_not_depend_on_how_its_values_are_cut(cuts: list[int], distinct: int, p: int) -> None:
    values = hash_longs(np.arange(30_000) % distinct)
    cut, merged = HiveHll(p), HiveHll(p)
    for start, stop in pairwise([0, *sorted(cuts), 30_000]):
        cut.add_hashes(values[start:stop])
        merged = merged.merge(of_hashes(p, values[start:stop]))
    assert cut == merged == of_hashes(p, values)


def test_more_dense_sketches_than_are_read_at_once() -> None:
    parts = [of_longs(4, start, start + 20).to_bytes() for start in range(0, 6_000, 20)]
    assert HiveHll.merge_many(parts) == of_longs(4, 0, 6_000)


def test_merging_leaves_both_sides_as_they_were() -> None:
    for n in (10, 5_000):
        left, right = of_longs(12, 0, n), of_longs(12, n, 2 * n)
        merged = left.merge(right)
        merged.add_hashes(hash_longs(np.arange(-3_000, 0)))
        assert (left, right) == (of_longs(12, 0, n), of_longs(12, n, 2 * n))


def test_sketches_that_hold_different_things_differ() -> None:
    assert of_longs(12, 0, 3) != of_longs(12, 1, 4)
    assert of_longs(12, 0, 5_000) != of_longs(12, 1, 5_001)
    assert of_longs(12, 0, 3) != of_longs(10, 0, 3)
    assert of_longs(12, 0, 3) != "something else"
    assert repr(of_longs(12, 0, 3)) == "HiveHll(p=12, sparse, count=3)"


@pytest.mark.parametrize("p", [4, 10, 16])
def test_hashes_that_change_no_register_may_be_left_out(p: int) -> None:
    hashes = np.random.default_rng(p).integers(0, 2**64, 300_000, np.uint64)
    made, expected = HiveHll(p), np.zeros(1 << p, np.uint8)
    for start in range(0, len(hashes), 50_000):
        made.add_hashes(hashes[start : start + 50_000])
    above = hashes >> np.uint64(p)
    ranks = np.bitwise_count(above ^ (above - np.uint64(1)))
    np.maximum.at(expected, (hashes & np.uint64((1 << p) - 1)).astype(np.int64), ranks)
    assert made.as_registers().tolist() == expected.tolist()


def test_full_registers_take_more_hashes() -> None:
    made = HiveHll(10)
    made.registers = np.full(1 << 10, 63, np.uint8)
    made.add_hashes(np.arange(5000, dtype=np.uint64))
    assert made.as_registers().tolist() == [63] * 1024
