from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from hmstats.collector.spark import cores as cores_module
from hmstats.collector.spark.cores import expected_cores

GROWS = {"spark.dynamicAllocation.enabled": "true"}


class Clock:
    """A time of its own in place of the module `time`, which other threads of the process go on sleeping by."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def time(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class StoppedClock(Clock):
    """A time at which nobody may wait."""

    def sleep(self, seconds: float) -> None:
        pytest.fail(f"it waits for {seconds} seconds")


class Conf(dict[str, str]):
    """The settings of a session."""

    def contains(self, name: str) -> bool:
        return name in self


class Context:
    """A session with cores that are there already, or join at these seconds after it began, one for each executor."""

    def __init__(
        self,
        there: int,
        settings: Mapping[str, str],
        master: str = "yarn",
        joining: Sequence[float] = (),
        clock: Clock | None = None,
    ) -> None:
        self.master = master
        self._there = there
        self._conf = Conf(settings)
        self._joining = joining
        self._clock = clock or Clock(0.0)
        self.startTime = 0
        self._jsc: Any = self

    @property
    def defaultParallelism(self) -> int:  # noqa: N802 - as Spark names it
        return max(self._there, len(self._joined()))

    def sc(self) -> "Context":
        return self

    def statusStore(self) -> "Context":  # noqa: N802 - as Spark names it
        return self

    def executorList(self, active_only: bool) -> "Executors":  # noqa: N802 - as Spark has it
        assert active_only
        return Executors([Executor("driver", 0.0), *(Executor("1", each) for each in self._joined())])

    def getConf(self) -> Conf:  # noqa: N802 - as Spark names it
        return self._conf

    def _joined(self) -> list[float]:
        return [each for each in self._joining if each <= self._clock.time()]


class Executors(list["Executor"]):
    """The driver and the executors that have joined, as a list of Scala."""

    def size(self) -> int:
        return len(self)

    def apply(self, number: int) -> "Executor":
        return self[number]


class Executor(NamedTuple):
    """An executor that joined at these seconds."""

    name: str
    joined: float

    def id(self) -> str:
        return self.name

    def addTime(self) -> "Executor":  # noqa: N802 - as Spark names it
        return self

    def getTime(self) -> int:  # noqa: N802 - as Java names it
        return int(1000 * self.joined)


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


@pytest.mark.parametrize(
    ("age", "joining", "cores", "until"),
    [
        (0.5, (3.0, 3.5, 4.0, 5.5), 4, 8.25),
        (0.5, (0.1, 0.2), 2, 2.2),
        (6.0, (0.1, 0.2, 0.3), 3, 6.0),
        (0.5, (), 2, 60.0),
        (0.5, (3.0, 4.0, 9.0), 2, 6.0),
        (0.5, (20.0, 28.0), 2, 42.0),
        (0.5, tuple(range(1, 30)), 29, 43.5),
        (0.5, tuple(range(1, 100)), 60, 60.0),
        (90.0, (1.0, 1.0, 1.0, 1.0), 4, 90.0),
        (90.0, (), 2, 90.0),
    ],
)
def test_executors_of_a_standalone_cluster_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, age: float, joining: Sequence[float], cores: int, until: float
) -> None:
    clock = Clock(age)
    monkeypatch.setattr(cores_module, "time", clock)
    context: Any = Context(2, {}, "spark://host:7077", joining, clock)
    assert expected_cores(context) == cores
    assert clock.seconds == pytest.approx(until, abs=0.2)


def test_a_standalone_cluster_with_a_limit_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores_module, "time", StoppedClock(0.0))
    context: Any = Context(2, {"spark.cores.max": "12"}, "spark://host:7077")
    assert expected_cores(context) == 12
