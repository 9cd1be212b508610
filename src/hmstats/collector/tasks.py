"""What Spark's tasks do: they read pieces, deliver the finding of each that is whole, and give back little.

A piece (a partition) that one task reads alone is finished there. The states of any other meet, by a shuffle, in the
task that finishes it. What comes back from each task is an outcome: counts, failures, and one state of all the rows it
finished, for the table as a whole. A task that is tried again, or runs twice at once, gives the same again.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hmstats.collector.feeds import parquet
from hmstats.collector.feeds.states import States, Types
from hmstats.collector.options import Options
from hmstats.collector.pieces import WHOLE_TABLE
from hmstats.collector.progress import Counters
from hmstats.collector.report import Finding
from hmstats.collector.splits import Split, by_piece
from hmstats.errors import UnreadableFile
from hmstats.sketch.accumulator import TableAccumulator

if TYPE_CHECKING:
    from hmstats.collector.deliver import Delivery


@dataclass(frozen=True, slots=True)
class Task:
    """What one task reads. `shared` are the pieces of which other tasks read a part, `empty` those without files."""

    splits: tuple[Split, ...]
    shared: frozenset[str] = frozenset()
    empty: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """What every task has to know.

    `known` is a broadcast of what is known of each piece before it is read: a finding without rows and columns.
    `delivery` is None when the pieces are not delivered, as that of a table without partitions is not: it is the table.
    `whole`: the state of all rows is wanted. `reliable`: what cannot be read fails the job. `counters` show progress.
    """

    types: Types
    options: Options
    known: Any
    delivery: "Delivery | None"
    whole: bool
    reliable: bool
    counters: Counters | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of some pieces. Outcomes merge in any order.

    `rows` are those of the pieces that were finished (None: not counted), `spooled` how many of the pieces are in the
    spool folder; `failed` and `refused` are piece to the reason. `state` is that of all rows, where it is wanted.
    """

    rows: int | None = 0
    spooled: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    state: bytes | None = None

    def merge(self, other: "Outcome") -> "Outcome":
        """Both together."""
        return Outcome(
            None if self.rows is None or other.rows is None else self.rows + other.rows,
            self.spooled + other.spooled,
            {**self.failed, **other.failed},
            {**self.refused, **other.refused},
            _united(self.state, other.state),
        )

    def total(self, types: Types) -> TableAccumulator:
        """The state of all rows."""
        return States(types).of(WHOLE_TABLE) if self.state is None else TableAccumulator.from_bytes(self.state)


@dataclass(frozen=True, slots=True)
class Failure:
    """Stands where the state of a piece would, which could not be made."""

    sentence: str


Part: TypeAlias = bytes | Failure | Outcome
Record: TypeAlias = tuple[str, Part]
"""A piece and a part of its state (no bytes: none of its rows), or an outcome under a name that no piece has."""
_OUTCOMES = "\0"
"""What such a name begins with."""


def read(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
    """Read pieces and deliver those that are whole; the records are the states of the others, and the outcome."""
    tally = _Tally(job)
    parts: list[Record] = []
    key = _OUTCOMES

    def findings() -> Iterator[tuple[str, Finding]]:
        nonlocal key
        for task in tasks:
            for piece, state in _states(task, job):
                key = _OUTCOMES + piece
                if piece in task.shared:
                    parts.append((piece, state if isinstance(state, Failure) else state.to_bytes()))
                else:
                    yield from tally.finished(piece, state)

    outcome = tally.outcome(findings())
    yield from parts
    yield key, outcome


def unite(records: Iterable[Record], job: Job) -> Iterator[Outcome]:
    """Finish and deliver pieces whose records come one after the other; one outcome, with those among the records."""
    tally = _Tally(job)
    earlier = Outcome()

    def findings() -> Iterator[tuple[str, Finding]]:
        nonlocal earlier
        for piece, group in groupby(records, key=itemgetter(0)):
            parts = (part for _, part in group)
            if piece.startswith(_OUTCOMES):
                earlier = reduce(Outcome.merge, (part for part in parts if isinstance(part, Outcome)), earlier)
            elif piece in job.known.value:  # not one that came while the others were read
                yield from tally.finished(piece, _merged(parts, job))

    outcome = tally.outcome(findings())
    yield earlier.merge(outcome)


class _Tally:
    """Counts what a task finishes."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._total = empty(job)
        self._rows = 0
        self._failed: dict[str, str] = {}

    def finished(self, piece: str, state: TableAccumulator | Failure) -> Iterator[tuple[str, Finding]]:
        """The finding of a piece, where it has one and is delivered on its own."""
        if isinstance(state, Failure):
            self._failed[piece] = state.sentence
            return
        self._rows += state.rows
        if self._job.counters is not None:
            self._job.counters.add(partitions=1, rows=state.rows)
        if self._job.whole:
            self._total = self._total.merge(state)
        if self._job.delivery is not None:
            known: Finding = self._job.known.value[piece]
            yield piece, replace(known, rows=state.rows, columns=state.statistics(self._job.types))

    def outcome(self, findings: Iterable[tuple[str, Finding]]) -> Outcome:
        """Deliver the findings; what became of everything."""
        spooled, refused = self._delivered(findings)
        state = self._total.to_bytes() if self._job.whole else None
        return Outcome(self._rows, spooled, self._failed, refused, state)

    def _delivered(self, findings: Iterable[tuple[str, Finding]]) -> tuple[int, Mapping[str, str]]:
        """How many findings went to the spool folder, and what was refused."""
        if self._job.delivery is None:
            deque(findings, maxlen=0)
            return 0, {}
        # The client takes half a second to load, in each of Spark's workers.
        from hmstats.collector.deliver import deliver  # noqa: PLC0415

        delivered = deliver(self._job.delivery, findings, self._job.options.sample_fraction)
        return delivered.spooled, delivered.refused


def empty(job: Job) -> TableAccumulator:
    """The state of no rows."""
    return States(job.types, job.options).of(WHOLE_TABLE)


def _states(task: Task, job: Job) -> Iterator[tuple[str, TableAccumulator | Failure]]:
    """The state of what the task has of each piece."""
    for piece, splits in by_piece(task.splits):
        yield piece, _state(splits, job)
    for piece in task.empty:
        yield piece, empty(job)


def _state(splits: Sequence[Split], job: Job) -> TableAccumulator | Failure:
    try:
        return parquet.accumulated(splits, job.types, job.options)
    except UnreadableFile as error:
        if job.reliable:
            raise
        return Failure(str(error))


def _merged(parts: Iterable[Part], job: Job) -> TableAccumulator | Failure:
    """A piece's state of its parts; a failure when one of them is."""
    state = empty(job)
    for part in parts:
        if isinstance(part, Failure):
            return part
        if part and isinstance(part, bytes):
            state = state.merge(TableAccumulator.from_bytes(part))
    return state


def _united(one: bytes | None, other: bytes | None) -> bytes | None:
    if one is None or other is None:
        return one or other
    return TableAccumulator.from_bytes(one).merge(TableAccumulator.from_bytes(other)).to_bytes()
