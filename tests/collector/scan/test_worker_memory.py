"""What a task has loaded is left out of the garbage collections of its worker."""

import gc
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import pytest

from hmstats.collector.scan.worker_memory import freeze_modules


def left_out(names: Iterable[str]) -> Iterator[int]:
    """Load each module in a task, twice; yields how many objects more are left out after each."""

    @freeze_modules
    def load(name: str) -> Iterator[str]:
        yield import_module(name).__name__

    for name in names:
        for _ in range(2):
            before = gc.get_freeze_count()
            assert list(load(name)) == [name]
            yield gc.get_freeze_count() - before


@pytest.mark.spark
def test_in_a_worker_modules_are_left_out_once(spark: Any) -> None:
    first, second = spark.sparkContext.parallelize(["wave"], 1).mapPartitions(left_out).collect()
    assert first > 0
    assert second == 0


@pytest.mark.slow
def test_at_the_driver_nothing_is_left_out() -> None:
    assert list(left_out(["json", "wave"])) == [0, 0, 0, 0]
