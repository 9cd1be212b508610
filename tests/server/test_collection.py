"""Garbage is collected when there are few objects, or at last in any case; no worker collects all by itself."""

import gc
import weakref

from hmstats.cli.serving import worker
from hmstats.server.collection import GarbageCollection


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


def test_it_is_put_off_while_there_are_many_but_not_for_ever() -> None:
    garbage = _left_garbage()
    assert not GarbageCollection(many=0).run()
    assert garbage() is not None
    assert GarbageCollection(many=0, longest_seconds=0.0).run()
    assert garbage() is None


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
