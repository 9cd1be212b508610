"""Garbage is collected when there are few objects, or at last in any case; no worker collects all by itself."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest

from hmstats.cli.serving import worker
from hmstats.server.garbage_collection import GarbageCollection


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


def _left_garbage() -> "weakref.ref[_Cycle]":
    """A cycle among the oldest objects, which nobody refers to."""
    kept = _Cycle()
    gc.collect()
    return weakref.ref(kept)


def test_garbage_is_collected_when_there_are_few_objects() -> None:
    garbage = _left_garbage()
    assert GarbageCollection(many=1_000_000_000).run()
    assert garbage() is None


@pytest.mark.slow
def test_it_is_put_off_while_there_are_many_but_not_for_ever() -> None:
    garbage = _left_garbage()
    collection = GarbageCollection(many=10_000)
    made = [[number] for number in range(50_000)]
    assert not collection.run()
    assert garbage() is not None
    del made
    collection = GarbageCollection(many=10_000, longest_seconds=0.0)
    made = [[number] for number in range(50_000)]
    assert collection.run()
    assert garbage() is None
    del made


@pytest.mark.slow
def test_few_is_said_of_what_the_last_collection_left() -> None:
    collection = GarbageCollection(many=10_000, longest_seconds=0.0)
    cached = [[number] for number in range(50_000)]
    assert collection.run()
    collection._longest_seconds = 600.0
    assert collection.run()
    del cached


@pytest.mark.slow
def test_tuples_that_other_threads_are_making_can_still_grow() -> None:
    """A reference to one, such as gc.get_objects gives, fails its thread with a SystemError."""
    collection, done = GarbageCollection(many=-1_000_000_000), threading.Event()

    def run() -> None:
        while not done.is_set():
            assert not collection.run()

    def values() -> Iterator[int]:
        gc.collect()  # the tuple is among the oldest objects now
        yield from range(50_000)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        made = [tuple(values()) for _ in range(20)]
    finally:
        done.set()
        thread.join()
    assert {len(each) for each in made} == {50_000}


def test_a_worker_does_not_collect_its_oldest_objects_while_a_call_makes_many() -> None:
    before, old = gc.get_threshold(), gc.get_stats()[2]["collections"]
    try:
        gc.set_threshold(*worker._COLLECTED_AFTER)
        made = [[number] for number in range(500_000)]
        assert gc.get_stats()[2]["collections"] == old
        assert gc.get_stats()[0]["collections"]
    finally:
        gc.set_threshold(*before)
    del made
