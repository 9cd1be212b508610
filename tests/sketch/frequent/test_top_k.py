import struct
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from datasketches import frequent_items_error_type, frequent_strings_sketch
from hypothesis import given, settings
from hypothesis import strategies as st

from hmstats.errors import SketchError
from hmstats.sketch.frequent.top_k import LOG2_SIZE, MOST_BYTES, TopK

COUNTS = st.dictionaries(st.text(max_size=3), st.integers(1, 1_000), max_size=30)
CAPACITY = 3 * 2**LOG2_SIZE // 4


def of_counts(counts: Mapping[str, int]) -> TopK:
    """A sketch of one part that is known exactly."""
    made = TopK()
    made.add(list(counts), list(counts.values()), sum(counts.values()), 0)
    return made


def zipf(seed: int, size: int = 20_000) -> Counter[str]:
    values = np.random.default_rng(seed).zipf(1.3, size)
    return Counter(f"app {value}" for value in values.tolist())


def assert_in_bounds(sketch: TopK, truth: Mapping[str, int]) -> None:
    """Every bound that a sketch says holds."""
    assert sketch.count == sum(truth.values())
    found = {text: (low, high) for text, low, high in sketch.top()}
    for text, (low, high) in found.items():
        assert low <= truth.get(text, 0) <= high
    for text, count in truth.items():
        assert text in found or count <= sketch.error
    assert [high for _, high in found.values()] == sorted((high for _, high in found.values()), reverse=True)


@given(COUNTS)
def test_few_values_are_exact(counts: dict[str, int]) -> None:
    sketch = of_counts(counts)
    assert sketch.error == 0
    expected = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    assert sketch.top() == [(text, count, count) for text, count in expected]
    assert sketch.top(2) == sketch.top()[:2]


@given(st.lists(COUNTS, min_size=3, max_size=3))
def test_merge_laws_of_few_values(parts: list[dict[str, int]]) -> None:
    a, b, c = (of_counts(part) for part in parts)
    whole = of_counts(Counter(parts[0]) + Counter(parts[1]) + Counter(parts[2])).to_bytes()
    assert a.merge(b).merge(c).to_bytes() == a.merge(b.merge(c)).to_bytes() == c.merge(b).merge(a).to_bytes() == whole
    assert a.merge(TopK()).to_bytes() == TopK().merge(a).to_bytes() == a.to_bytes() == of_counts(parts[0]).to_bytes()
    assert TopK.merge_many(each.to_bytes() for each in (a, b, c)).to_bytes() == whole


@given(
    st.lists(
        st.tuples(st.integers(0, 2**32), st.integers(1, 3_000), st.sampled_from([1, 50, 2_000, 10**6])),
        min_size=3,
        max_size=3,
    )
)
@settings(max_examples=40)
def test_merge_laws_in_bounds(parts: list[tuple[int, int, int]]) -> None:
    truths = [
        Counter(str(each) for each in np.random.default_rng(seed).integers(0, distinct, size).tolist())
        for seed, size, distinct in parts
    ]
    a, b, c = (of_counts(truth) for truth in truths)
    every = truths[0] + truths[1] + truths[2]
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(b).merge(a)):
        assert_in_bounds(merged, every)
        assert_in_bounds(TopK.from_bytes(merged.to_bytes()), every)
    assert_in_bounds(a, truths[0])


def test_frequent_values_of_many_parts_are_found_and_near() -> None:
    truths = [zipf(seed) for seed in range(20)]
    merged = TopK.merge_many(of_counts(truth).to_bytes() for truth in truths)
    truth = sum(truths, Counter[str]())
    assert_in_bounds(merged, truth)
    assert merged.error < 0.007 * merged.count
    assert [text for text, _, _ in merged.top(10)] == [text for text, _ in truth.most_common(10)]


def test_what_was_not_kept_counts_in_the_error() -> None:
    sketch = of_counts({"a": 10})
    sketch.add(["b"], [3], 100, 4)
    assert (sketch.count, sketch.error) == (110, 4)
    assert sketch.top() == [("a", 10, 14), ("b", 3, 7)]


def test_no_bound_is_above_the_count() -> None:
    sketch = TopK()
    sketch.add(["a"], [5], 6, 4)
    assert sketch.top() == [("a", 5, 6)]


def test_a_sketch_that_lost_every_item_keeps_its_count_and_error() -> None:
    """The library purges items of equal weight all at once, and forgets what they were."""
    purged = of_counts({f"v{number}": 1 for number in range(CAPACITY + 1)})
    assert purged.top() == []
    for sketch in (purged, TopK.from_bytes(purged.to_bytes()), TopK().merge(purged), purged.merge(TopK())):
        assert (sketch.count, sketch.error) == (CAPACITY + 1, 1)
    assert_in_bounds(purged.merge(of_counts({"v1": 7})), {f"v{n}": 1 for n in range(CAPACITY + 1)} | {"v1": 8})


def test_long_items_are_cut_to_the_most_frequent_that_fit() -> None:
    truth = {f"{number:0250d}": 1_000 - number for number in range(100)}
    sketch = of_counts(truth)
    data = sketch.to_bytes()
    assert MOST_BYTES - 300 < len(data) <= MOST_BYTES
    assert_in_bounds(TopK.from_bytes(data), truth)
    assert TopK.from_bytes(data).to_bytes() == data
    assert [text for text, _, _ in TopK.from_bytes(data).top(5)] == list(truth)[:5]


def test_sketches_of_a_larger_map_are_read_and_merged() -> None:
    large = frequent_strings_sketch(12)
    truth = {f"v{number}": number + 1 for number in range(2_000)}
    for text, weight in truth.items():
        large.update(text, weight)
    read = TopK.from_bytes(bytes(large.serialize()))
    assert_in_bounds(read, truth)
    assert_in_bounds(TopK.from_bytes(read.to_bytes()), truth)
    assert_in_bounds(read.merge(of_counts({"v7": 3})), truth | {"v7": 11})


def test_the_library_reads_what_is_written() -> None:
    sketch = of_counts({"a": 10, "": 3, "ü\0": 2})
    sketch.add([], [], 50, 5)
    read = frequent_strings_sketch.deserialize(sketch.to_bytes())
    assert (read.total_weight, read.get_lower_bound("a"), read.get_upper_bound("a")) == (65, 10, 15)
    found = read.get_frequent_items(frequent_items_error_type.NO_FALSE_NEGATIVES, 0)
    assert {each[0] for each in found} == {"a", "", "ü\0"}
    assert frequent_strings_sketch.deserialize(TopK().to_bytes()).is_empty()


def test_repr() -> None:
    assert repr(of_counts({"a": 2})) == "TopK(items=1, count=2, error=0)"


SOUND = of_counts({"one": 5, "two": 3}).to_bytes()
EMPTY = TopK().to_bytes()


def changed(place: int, content: bytes) -> bytes:
    return SOUND[:place] + content + SOUND[place + len(content) :]


FOREIGN = {
    "nothing": b"",
    "cut in its header": SOUND[:7],
    "cut in its counts": SOUND[:31],
    "cut in its weights": SOUND[:40],
    "cut in its items": SOUND[:-1],
    "something behind": SOUND + b"\0",
    "something behind an empty one": EMPTY + bytes(8),
    "a Hive HyperLogLog": b"HLL\xa0\x01\x00\x00\x00" + bytes(60),
    "another version": changed(1, b"\2"),
    "another family": changed(2, b"\x0f"),
    "a map that is too large": changed(3, b"\x20"),
    "a present map above the largest": changed(4, b"\x0a"),
    "empty, but long": changed(5, b"\4"),
    "short, but not empty": b"\1" + SOUND[1:8],
    "too many items": changed(8, struct.pack("<I", 2**31)),
    "more items than there are": changed(8, struct.pack("<I", 3)),
    "no values": changed(16, bytes(8)),
    "more values than can be": changed(16, b"\xff" * 8),
    "fewer values than weights": changed(16, struct.pack("<Q", 7)),
    "an error above the values": changed(24, struct.pack("<Q", 9)),
    "a weight of nothing": changed(32, bytes(8)),
    "weights that overflow": changed(32, b"\xff" * 16),
    "a length that is too long": changed(48, struct.pack("<I", 10)),
    "an item twice": SOUND[:-3] + SOUND[52:55],
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN.keys())
def test_corrupt_and_foreign_bytes_are_refused_with_a_reason(data: bytes) -> None:
    with pytest.raises(SketchError, match="frequent-items"):
        TopK.from_bytes(data)


def test_an_item_that_is_no_text_is_refused_when_it_is_looked_at() -> None:
    sketch = TopK.from_bytes(SOUND[:-1] + b"\xff")
    with pytest.raises(SketchError, match="no UTF-8"):
        sketch.top()
    with pytest.raises(SketchError, match="no UTF-8"):
        sketch.to_bytes()


def works_or_is_refused(data: bytes) -> None:
    try:
        sketch = TopK.from_bytes(data)
        found: Sequence[tuple[str, int, int]] = sketch.top()
    except SketchError:
        return
    assert all(0 < low <= high <= sketch.count for _, low, high in found)
    assert sketch.merge(of_counts({"a": 1})).count == sketch.count + 1


@given(
    st.sampled_from([SOUND, EMPTY, of_counts(zipf(1)).to_bytes()]),
    st.lists(st.tuples(st.integers(0, 70) | st.integers(0, 9_000), st.integers(0, 255)), max_size=4),
    st.integers(0, 9_000),
)
@settings(max_examples=400)
def test_damaged_bytes_work_or_are_refused(data: bytes, damages: list[tuple[int, int]], length: int) -> None:
    damaged = bytearray(data)
    for place, number in damages:
        damaged[place % len(data)] = number
    works_or_is_refused(bytes(damaged))
    works_or_is_refused(bytes(damaged[:length]))
