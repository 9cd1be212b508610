"""Watches the rows of a write in its tasks: they pass accumulators on their way to the files.

The rows stay in the JVM. Spark sends the columns that have statistics to a Python function and gets a column of true
values back, by which the rows are filtered: no row is lost or changed, and other columns may have types without an
Arrow form. The function sees every row of the task, publishes its states after the last one, and adds its attempt to a
Spark accumulator. Spark counts that only for the successful attempt of a task, whose files are committed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import AccumulatorParam, SparkContext, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hmstats.collector.autogather.publishers.protocols import Publisher, Run
from hmstats.collector.autogather.target import Target
from hmstats.collector.options import Options
from hmstats.collector.scan.arrow_types import arrow_type, conform
from hmstats.collector.scan.dataframe import by_partition
from hmstats.collector.scan.states import States, Types
from hmstats.errors import HmstatsError, StatementError
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")

_ROWS_AT_ONCE = 64 * 1024
_MOST_ACCUMULATORS = 4096
"""The most columns times partitions that a task holds in memory before it publishes: about 200 MB."""

SURVIVABLE = (HmstatsError, pa.ArrowException, OSError)
"""Errors of gathering that the write itself survives."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The attempt of a task that succeeded, and how many states it published.

    `failure` is why the states are incomplete, None if they are not. `pieces` are the partitions of its rows, by
    Spark's names.
    """

    id: int
    states: int
    failure: str | None = None
    pieces: frozenset[str] = frozenset()


Attempts = dict[int, Attempt]
"""The successful attempt of each task, by the task's number."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """The settings that every task needs."""

    run: Run
    publisher: type[Publisher]
    types: Types
    keys: tuple[str, ...]
    options: Options
    reliable: bool


class _AttemptsParam(AccumulatorParam[Attempts]):  # type: ignore[misc]  # Spark is untyped here
    """Merges the attempts of tasks, as a Spark accumulator."""

    def zero(self, value: Attempts) -> Attempts:
        """No attempts."""
        del value
        return {}

    def addInPlace(self, value1: Attempts, value2: Attempts) -> Attempts:  # noqa: N802 - Spark's name
        """The attempts of both; of a task that ran twice, for example after its output was lost, the later one."""
        value1.update(value2)
        return value1


def attempts_accumulator(context: SparkContext) -> Any:
    """A Spark accumulator for the attempts of tasks."""
    return context.accumulator({}, _AttemptsParam())


def watched_rows(rows: DataFrame, target: Target, gathering: Gathering, attempts: Any) -> DataFrame:
    """Rows equal to `rows`: while they are written, each task publishes states, and adds its attempt to `attempts`.

    Raises StatementError if PySpark is older than 4.1.
    """
    if not hasattr(F, "arrow_udf"):
        raise StatementError("statistics while writing need PySpark 4.1 or newer")

    def watch(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        yield from _watch(batches, gathering, attempts)

    passes = F.arrow_udf(watch, "boolean").asNondeterministic()
    # Nondeterministic, so that Spark neither moves it nor runs it twice for a row.
    return rows.where(passes(*(target.values or (F.lit(0),))))


def _watch(batches: Iterator[Any], gathering: Gathering, attempts: Any) -> Iterator[pa.Array]:
    context = TaskContext.get()
    watcher = _Watcher(gathering, context.partitionId(), context.taskAttemptId())
    for batch in batches:
        arrays = batch if isinstance(batch, tuple) else (batch,)
        watcher.take(arrays)
        yield pa.repeat(pa.scalar(True), len(arrays[0]))
    attempts.add({context.partitionId(): watcher.finish()})


class _Watcher:
    """Accumulates the rows of one attempt of a task."""

    def __init__(self, gathering: Gathering, task: int, attempt: int) -> None:
        self._gathering = gathering
        self._task, self._attempt = task, attempt
        self._states = States(gathering.types, gathering.options)
        self._waiting: list[Sequence[pa.Array]] = []
        self._waiting_rows = self._published = 0
        self._publisher: Publisher | None = None
        self._failure: str | None = None
        self._pieces: set[str] = set()

    def take(self, arrays: Sequence[pa.Array]) -> None:
        """Add a batch; small batches are collected first, since accumulators are faster with many values at once."""
        if self._failure is not None:
            return
        self._waiting.append(arrays)
        self._waiting_rows += len(arrays[0])
        if self._waiting_rows >= _ROWS_AT_ONCE:
            self._call_guarded(self._accumulate)

    def finish(self) -> Attempt:
        """Publish the remaining states, after the last batch."""
        self._call_guarded(self._accumulate)
        self._call_guarded(self._publish)
        if self._publisher is not None:
            self._call_guarded(self._publisher.terminate)
        return Attempt(self._attempt, self._published, self._failure, frozenset(self._pieces))

    def _call_guarded(self, act: Any) -> None:
        """Call `act`; unless statistics must be reliable, an error ends only the gathering."""
        if self._failure is not None:
            return
        try:
            act()
        except SURVIVABLE as error:
            if self._gathering.reliable:
                raise
            self._failure = f"task {self._task}: {error}"
            self._waiting = []
            _log.warning("gathering_failed", task=self._task, error=str(error))

    def _accumulate(self) -> None:
        if not self._waiting:
            return
        types, keys = self._gathering.types, self._gathering.keys
        arrays = [pa.concat_arrays(each) for each in zip(*self._waiting, strict=True)]
        names = [str(number) for number in range(len(arrays))]
        for piece, part in by_partition(pa.RecordBatch.from_arrays(arrays, names), keys, len(types)):
            self._states.of(piece).update(_conform_batch(part, types))
            self._pieces.add(piece)
        self._waiting, self._waiting_rows = [], 0
        if len(self._states) * max(len(types), 1) > _MOST_ACCUMULATORS:
            self._publish()

    def _publish(self) -> None:
        if not len(self._states):
            return
        if self._publisher is None:
            self._publisher = self._gathering.publisher()
            self._publisher.init(self._gathering.run)
        states = [
            PartialState(Place(piece, self._task, self._attempt, number), state)
            for number, (piece, state) in enumerate(self._states.encode(), self._published)
        ]
        self._publisher.publish(states)
        self._published += len(states)
        self._states = States(self._gathering.types, self._gathering.options)


def _conform_batch(batch: pa.RecordBatch, types: Mapping[str, str]) -> pa.RecordBatch:
    if not types:
        return batch.select([])  # carries the number of rows if there is no array
    arrays = [conform(batch.column(number), arrow_type(type_)) for number, type_ in enumerate(types.values())]
    return pa.RecordBatch.from_arrays(arrays, list(types))
