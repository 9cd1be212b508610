"""Unions of any subsets of blocks are those of the vectors themselves, register by register and byte by byte."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmstats.errors import SketchError
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.distinct.block_union import BlockUnion
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.distinct.vector_block import MOST_MEMBERS, VectorBlock
from hmstats.sketch.values.murmur3 import hash_longs

DISTINCT = st.sampled_from([0, 1, 3, 60, 300, 700, 5_000])


def vector(start: int, count: int, p: int = 8) -> bytes:
    """The sketch of so many longs."""
    sketch = HiveHll(p)
    sketch.add_hashes(hash_longs(np.arange(start, start + count)))
    return sketch.to_bytes()


@st.composite
def blocks(draw: st.DrawFn) -> list[list[bytes]]:
    """Some blocks' vectors: of one p each, mostly the same; of few values and of many, which partly overlap."""
    p = draw(st.sampled_from([4, 8, 10]))
    shift = draw(st.sampled_from([0, 1, 50, 100_000]))
    found = []
    for number in range(draw(st.integers(1, 5))):
        own = draw(st.sampled_from([p, p, p, p + 2]))
        most = draw(DISTINCT)
        sizes = draw(st.lists(st.one_of(st.just(most), DISTINCT), min_size=1, max_size=9))
        found.append([vector((10 * number + place) * shift, size, own) for place, size in enumerate(sizes)])
    return found


def merged(found: list[list[bytes]], chosen: list[list[bool]], alone: list[bytes]) -> tuple[HiveHll | None, int]:
    """The union of the chosen vectors by blocks, and how many blocks were in doubt."""
    union = BlockUnion[int]()
    for place, (vectors, some) in enumerate(zip(found, chosen, strict=True)):
        block = VectorBlock.from_bytes(VectorBlock.of(vectors).to_bytes())
        if any(some):
            union.add(place, block.subset(np.array(some)))
    if alone:
        union.add_vectors(alone)
    doubted = union.in_doubt()
    for place in doubted:
        union.add_vectors([each for each, taken in zip(found[place], chosen[place], strict=True) if taken])
    return union.result(), len(doubted)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(blocks(), st.data())
def test_any_subset_is_united_as_from_the_vectors(found: list[list[bytes]], data: st.DataObject) -> None:
    chosen = [data.draw(st.lists(st.booleans(), min_size=len(each), max_size=len(each))) for each in found]
    alone = [vector(data.draw(st.integers(0, 50)), data.draw(DISTINCT)) for _ in range(data.draw(st.integers(0, 2)))]
    vectors = [
        each
        for some, those in zip(found, chosen, strict=True)
        for each, taken in zip(some, those, strict=True)
        if taken
    ]
    expected = HiveHll.merge_many([*vectors, *alone])
    union, _ = merged(found, chosen, alone)
    if union is None:
        assert expected.is_sparse or len(expected.codes) == 0
    elif vectors or alone:
        assert union == expected
        assert bit_vector.in_order(union.to_bytes()) == bit_vector.in_order(expected.to_bytes())


def test_of_many_blocks_every_second_vector_needs_no_vector_itself() -> None:
    random = np.random.default_rng(1)
    found = [[vector(int(random.integers(1_000_000_000)), 3_000) for _ in range(32)] for _ in range(40)]
    every_second = [[bool(place % 2) for place in range(32)]] * 40
    union, doubted = merged(found, every_second, [])
    assert union == HiveHll.merge_many([each for some in found for each in some[1::2]])
    assert doubted <= 2


def test_one_vector_of_a_block_is_in_doubt_and_read() -> None:
    found = [[vector(1_000_000 * place, 3_000) for place in range(32)]]
    union, doubted = merged(found, [[place == 5 for place in range(32)]], [])
    assert (union, doubted) == (HiveHll.from_bytes(found[0][5]), 1)


def test_of_few_values_a_block_keeps_each_with_its_members() -> None:
    found = [[vector(place // 8, 5) for place in range(MOST_MEMBERS)]]
    chosen = [[place in (0, 7, 100) for place in range(MOST_MEMBERS)]]
    union, doubted = merged(found, chosen, [])
    assert (union, doubted) == (HiveHll.merge_many([found[0][0], found[0][7], found[0][100]]), 0)
    assert union is not None
    assert union.is_sparse


def test_a_union_that_may_be_sparse_is_not_guessed() -> None:
    """Each member is sparse, all together are dense, and the chosen few are sparse again."""
    found = [[vector(1_000 * place, 30) for place in range(32)]]
    union, _ = merged(found, [[place == 0 for place in range(32)]], [])
    assert union is None


def test_no_block_is_made_of_other_vectors() -> None:
    one = vector(0, 5_000)
    for vectors in ([], [one, vector(0, 9, p=9)], [one, one[:-1]], [b"FM"], [one] * (MOST_MEMBERS + 1)):
        with pytest.raises(SketchError):
            VectorBlock.of(vectors)


@pytest.mark.parametrize("count", [3, 3_000])
def test_a_corrupt_block_is_refused(count: int) -> None:
    data = VectorBlock.of([vector(0, count), vector(5, count)]).to_bytes()
    for wrong in (b"", data[:2], data[:-5], data[:3] + b"y" + data[4:], b"\x09" + data[1:]):
        with pytest.raises(SketchError):
            VectorBlock.from_bytes(wrong)
    other = bytes([data[0], data[1] + 1, *data[2:]])
    if count > 3:
        with pytest.raises(SketchError):
            VectorBlock.from_bytes(other)
