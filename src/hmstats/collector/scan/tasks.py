"""Spark's tasks: they read pieces, deliver the findings of complete ones, and return small outcomes.

A piece (a partition) that only one task reads is finished by that task. The states of other pieces are shuffled to the
task that finishes them. Each task returns an outcome: counts, failures, and one state of all rows that it finished, for
the table as a whole. Tasks are idempotent, so that they may be retried or run twice at once.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hmstats.collector.options import Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.report import Finding
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files.splits import Split, by_piece
from hmstats.collector.scan.progress import Counters
from hmstats.collector.scan.states import States, Types
from hmstats.collector.scan.worker_memory import freeze_modules
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import NOTHING_READ, ReadCount, Reads
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.tracing import Elsewhere, span_of_task

if TYPE_CHECKING:
    from hmstats.collector.delivery.deliver import Delivery


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one task. `shared` are pieces of which other tasks read a part, `empty` those without files."""

    splits: tuple[Split, ...]
    shared: frozenset[str] = frozenset()
    empty: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """The settings that every task needs.

    `known` is a broadcast of each piece's finding without rows and columns, made before it is read. `delivery` is None
    if pieces are not delivered, as for a table without partitions, whose piece is the table. `whole`: the state of all
    rows is needed. `reliable`: an unreadable file fails the job. `counters` show progress. `trace` is that of the
    analysis, to which the tasks belong. `doubts_empty`: a piece with files but without rows is not finished, since it
    is not proven to be empty.
    """

    types: Types
    options: Options
    known: Any
    delivery: "Delivery | None"
    whole: bool
    reliable: bool
    counters: Counters | None = None
    trace: Elsewhere | None = None
    doubts_empty: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of some pieces. Outcomes merge in any order.

    `rows` are those of the finished pieces (None: not counted), `spooled` is the number of pieces in the spool folder;
    `failed` and `refused` are the reason by piece. `state` is that of all rows, if it is needed. `doubted` are pieces
    with files but without rows; `strangers` is the number of rows by unrequested partition, under Spark's names.
    `reads` is what was read of files; None if it is unknown for some of them.
    """

    rows: int | None = 0
    spooled: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    state: bytes | None = None
    doubted: tuple[str, ...] = ()
    strangers: Mapping[str, int] = field(default_factory=dict)
    reads: ReadCount | None = NOTHING_READ

    def merge(self, other: "Outcome") -> "Outcome":
        """The sums of both."""
        return Outcome(
            None if self.rows is None or other.rows is None else self.rows + other.rows,
            self.spooled + other.spooled,
            {**self.failed, **other.failed},
            {**self.refused, **other.refused},
            _merge_states(self.state, other.state),
            (*self.doubted, *other.doubted),
            {**self.strangers, **other.strangers},
            self.reads and self.reads.plus(other.reads),
        )

    def total(self, types: Types) -> TableAccumulator:
        """The state of all rows."""
        return States(types).of(WHOLE_TABLE) if self.state is None else TableAccumulator.from_bytes(self.state)


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a piece has no state, which takes the state's place."""

    sentence: str


Part: TypeAlias = bytes | Failure | Outcome | int
Record: TypeAlias = tuple[str, Part]
"""A piece and a part of its state (empty bytes: no rows); or an outcome or a number of rows, under names that no piece
has."""
_OUTCOMES = "\0"
"""The prefix of record names, with which no piece's name begins."""
ROWS_TAKEN = f"{_OUTCOMES}rows"
"""The record name for the number of rows that a task has read."""


@freeze_modules
def read_tasks(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
    """Read pieces, and deliver complete ones; returns the states of the others, and the outcome."""
    reader = _TaskReader(tasks, job)
    with span_of_task("read files", job.trace):
        outcome = replace(reader.tally.outcome(reader.findings()), reads=reader.reads.count)
    yield from reader.shared_states
    yield reader.outcome_name, outcome


@freeze_modules
def merge_records(records: Iterable[Record], job: Job) -> Iterator[Outcome]:
    """Finish and deliver pieces from their consecutive records; returns one merged outcome."""
    merger = _RecordMerger(records, job)
    with span_of_task("merge partitions", job.trace):
        outcome = merger.tally.outcome(merger.findings())
    yield merger.earlier.merge(outcome)


class _TaskReader:
    """Reads the pieces of tasks. `findings` must be consumed before the other attributes are read."""

    def __init__(self, tasks: Iterable[Task], job: Job) -> None:
        self._tasks = tasks
        self._job = job
        self.tally = _Tally(job)
        self.reads = Reads()
        self.shared_states: list[Record] = []
        """The states of pieces of which other tasks read a part too."""
        self.outcome_name = _OUTCOMES
        """The record name of the outcome, which no other task has."""

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """The findings of the pieces that only these tasks read."""
        for task in self._tasks:
            for piece, state in _states(task, self._job, self.reads):
                self.outcome_name = _OUTCOMES + piece
                if piece in task.shared:
                    self.shared_states.append((piece, state if isinstance(state, Failure) else state.to_bytes()))
                else:
                    yield from self.tally.finish(piece, state)


class _RecordMerger:
    """Merges the records of each piece. `findings` must be consumed before the other attributes are read."""

    def __init__(self, records: Iterable[Record], job: Job) -> None:
        self._records = records
        self._job = job
        self.tally = _Tally(job)
        self.earlier = Outcome()
        """The merged outcomes among the records."""

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """The findings of the requested pieces; rows of other pieces are only counted."""
        for piece, group in groupby(self._records, key=itemgetter(0)):
            parts = (part for _, part in group)
            if piece.startswith(_OUTCOMES):
                self.earlier = reduce(
                    Outcome.merge, (part for part in parts if isinstance(part, Outcome)), self.earlier
                )
            elif piece in self._job.known.value:
                yield from self.tally.finish(piece, _merge_parts(parts, self._job))
            else:
                self.tally.count_stranger(piece, _merge_parts(parts, self._job))


def finish_empty(empty_pieces: Iterable[str], job: Job) -> Outcome:
    """Finish and deliver pieces that have no rows."""
    tally = _Tally(replace(job, counters=None))
    return tally.outcome(each for piece in empty_pieces for each in tally.finish(piece, empty_state(job)))


class _Tally:
    """Counts the pieces and rows that a task finishes."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._total = empty_state(job)
        self._rows = 0
        self._failed: dict[str, str] = {}
        self._doubted: list[str] = []
        self._strangers: dict[str, int] = {}

    def count_stranger(self, piece: str, state: TableAccumulator | Failure) -> None:
        """Count the rows of an unrequested partition."""
        self._strangers[piece] = 0 if isinstance(state, Failure) else state.rows

    def finish(self, piece: str, state: TableAccumulator | Failure) -> Iterator[tuple[str, Finding]]:
        """The finding of a piece, if it has one and pieces are delivered."""
        if isinstance(state, Failure):
            self._failed[piece] = state.sentence
            return
        if self._job.doubts_empty and not state.rows and self._job.known.value[piece].files:
            self._doubted.append(piece)
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
        """Deliver the findings; returns the outcome of everything."""
        spooled, refused = self._deliver(findings)
        state = self._total.to_bytes() if self._job.whole else None
        doubted = tuple(self._doubted)
        return Outcome(self._rows, spooled, self._failed, refused, state, doubted, self._strangers)

    def _deliver(self, findings: Iterable[tuple[str, Finding]]) -> tuple[int, Mapping[str, str]]:
        """Deliver the findings. Returns the number of spooled ones, and the refused ones with reasons."""
        if self._job.delivery is None:
            deque(findings, maxlen=0)
            return 0, {}
        # Imported here, since importing the client takes half a second in each of Spark's workers.
        from hmstats.collector.delivery.deliver import deliver  # noqa: PLC0415

        delivered = deliver(self._job.delivery, findings, self._job.options.sample_fraction)
        return delivered.spooled, delivered.refused


def empty_state(job: Job) -> TableAccumulator:
    """The state of no rows."""
    return States(job.types, job.options).of(WHOLE_TABLE)


def _states(task: Task, job: Job, reads: Reads) -> Iterator[tuple[str, TableAccumulator | Failure]]:
    """The state of the task's rows of each piece."""
    for piece, splits in by_piece(task.splits):
        yield piece, _state(splits, job, reads)
    for piece in task.empty:
        yield piece, empty_state(job)


def _state(splits: Sequence[Split], job: Job, reads: Reads) -> TableAccumulator | Failure:
    try:
        return file_rows.accumulate(splits, job.types, job.options, reads)
    except UnreadableFile as error:
        if job.reliable:
            raise
        return Failure(str(error))


def _merge_parts(parts: Iterable[Part], job: Job) -> TableAccumulator | Failure:
    """Merge a piece's parts; the result is a failure if one of the parts is."""
    state = empty_state(job)
    for part in parts:
        if isinstance(part, Failure):
            return part
        if part and isinstance(part, bytes):
            state = state.merge(TableAccumulator.from_bytes(part))
    return state


def _merge_states(one: bytes | None, other: bytes | None) -> bytes | None:
    if one is None or other is None:
        return one or other
    return TableAccumulator.from_bytes(one).merge(TableAccumulator.from_bytes(other)).to_bytes()
