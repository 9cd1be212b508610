from collections.abc import Mapping
from typing import Any

import pytest

from hmstats.collector.spark.cores import expected_cores

GROWS = {"spark.dynamicAllocation.enabled": "true"}


class Conf(dict[str, str]):
    """The settings of a session."""

    def contains(self, name: str) -> bool:
        return name in self


class Context:
    """A session with cores that are there already."""

    def __init__(self, there: int, settings: Mapping[str, str], master: str = "yarn") -> None:
        self.master = master
        self.defaultParallelism = there
        self._conf = Conf(settings)

    def getConf(self) -> Conf:  # noqa: N802 - as Spark names it
        return self._conf


@pytest.mark.parametrize(
    ("there", "settings", "cores"),
    [
        (2, {}, 2),
        (2, GROWS | {"spark.dynamicAllocation.maxExecutors": "4"}, 4),
        (2, GROWS | {"spark.dynamicAllocation.maxExecutors": "4", "spark.executor.cores": "8"}, 32),
        (2, GROWS | {"spark.dynamicAllocation.maxExecutors": "4", "spark.cores.max": "3"}, 3),
        (2, GROWS | {"spark.executor.cores": "8", "spark.task.cpus": "2"}, 400),
        (2, GROWS | {"spark.dynamicAllocation.maxExecutors": "2147483647"}, 100),
        (2, {"spark.dynamicAllocation.maxExecutors": "4"}, 2),
        (2, {"spark.executor.instances": "6", "spark.executor.cores": "4"}, 24),
        (2, {"spark.cores.max": "12"}, 12),
        (16, {"spark.cores.max": "12"}, 16),
        (5, GROWS | {"spark.default.parallelism": "5"}, 5),
    ],
)
def test_executors_that_may_come_count(there: int, settings: dict[str, str], cores: int) -> None:
    context: Any = Context(there, settings)
    assert expected_cores(context) == cores


def test_one_machine_has_its_cores_at_once() -> None:
    context: Any = Context(2, GROWS | {"spark.cores.max": "12"}, "local[2]")
    assert expected_cores(context) == 2
