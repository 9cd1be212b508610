"""Runs that refresh statistics: what each did and why, how fast runs are, and when a failed table is tried again."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hmstats.model.catalog.objects import TableName

LEAST_RETRY_SECONDS = 1_800
MOST_RETRY_SECONDS = 86_400
FAILURES_TO_REPORT = 5
"""After so many failures in a row, somebody should look at a table."""
FREE_LOSSES = 2
"""So many runs in a row may be lost with their process before their table waits."""


class Outcome(StrEnum):
    """The outcome of a run."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """Somebody has ended the run before all of it was done."""
    LOST = "lost"
    """The process of the run died, and the lease ran out."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run over a table, or some of its partitions (empty: the table as a whole). Times are epoch milliseconds.

    `why` are the terms of its score, by name. What is unknown is None.
    """

    id: str
    table: TableName
    runner: str
    started_ms: int
    outcome: Outcome
    partitions: tuple[str, ...] = ()
    why: dict[str, float] = field(default_factory=dict)
    ended_ms: int | None = None
    reason: str | None = None
    rows: int | None = None
    size_bytes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a table: its holder and end, and the number of failures in a row. Times are epoch milliseconds.

    `retry_ms` is when a table that failed is tried again.
    """

    run_id: str | None = None
    until_ms: int = 0
    failures: int = 0
    retry_ms: int | None = None


def end_lease(lease: Lease, outcome: Outcome, seconds: float | None, now_ms: int) -> Lease:
    """The lease after a run: free, and after a failure not to be tried again for a while."""
    if outcome is Outcome.DONE:
        return Lease()
    if outcome is Outcome.STOPPED:
        return Lease(None, 0, lease.failures, lease.retry_ms)
    failures = lease.failures + 1
    if outcome is Outcome.LOST and failures <= FREE_LOSSES:
        return Lease(None, 0, failures, None)
    return Lease(None, 0, failures, now_ms + retry_seconds(failures, seconds) * 1_000)


def retry_seconds(failures: int, usual_seconds: float | None) -> int:
    """How long a table waits after so many failures in a row: twice its usual time, at least half an hour, doubled by
    each failure up to a day.
    """
    first = max(2 * (usual_seconds or 0.0), LEAST_RETRY_SECONDS)
    return int(min(first * 2 ** min(failures - 1, 20), MOST_RETRY_SECONDS))


@dataclass(frozen=True, slots=True)
class Speeds:
    """How fast runs are, by what they did lately: bytes a second of each table, and of all; seconds that a run needs
    however small it is.
    """

    by_table: dict[TableName, float] = field(default_factory=dict)
    of_all: float = 50e6
    overhead_seconds: float = 1.0

    def seconds(self, table: TableName, size_bytes: int | None) -> float:
        """The predicted seconds for so many bytes of a table; of unknown size, as for 128 MiB."""
        speed = self.by_table.get(table, self.of_all)
        return self.overhead_seconds + (2**27 if size_bytes is None else size_bytes) / speed


_LAST_RUNS = 5
_LEAST_BYTES = 1_000_000
"""Runs over less say nothing about bytes a second."""


def speeds(runs: Sequence[Run]) -> Speeds:
    """The speeds by finished runs, newest first; a table's are those of its last five."""
    usual = Speeds()
    done = [each for each in runs if each.outcome is Outcome.DONE and each.seconds and each.size_bytes is not None]
    small = sorted(each.seconds or 0.0 for each in done if (each.size_bytes or 0) < _LEAST_BYTES)
    large = [each for each in done if (each.size_bytes or 0) >= _LEAST_BYTES]
    overhead = small[len(small) // 2] if small else usual.overhead_seconds
    by_table: dict[TableName, list[Run]] = defaultdict(list)
    for each in large:
        if len(by_table[each.table]) < _LAST_RUNS:
            by_table[each.table].append(each)
    own = {table: _speed(some, overhead) for table, some in by_table.items()}
    return Speeds(own, _speed(large, overhead) if large else usual.of_all, overhead)


def _speed(runs: Iterable[Run], overhead_seconds: float) -> float:
    size = spent = 0.0
    for each in runs:
        size += each.size_bytes or 0
        spent += max((each.seconds or 0.0) - overhead_seconds, 0.01)
    return size / spent
