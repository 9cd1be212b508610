"""Runs a round of refreshing: each table of its plan is analysed under a lease, and recorded as a run."""

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING

from hmstats.client import Metastore, connect
from hmstats.client.refresh_plan import Round, plan_round
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.refresh.lease import LEASE_SECONDS, keep_lease
from hmstats.errors import CallRefused, HmstatsError, SparkDoesNotStart
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import WHOLE
from hmstats.model.health.plan import Work
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.preferences import windows

if TYPE_CHECKING:
    from hmstats.collector.report import Report

_MOST_CHARACTERS = 2_000
"""The most characters of a recorded reason."""
_SLICE_SECONDS = 5.0
"""The predicted seconds of partitions that are analysed together; between such groups a run can be stopped."""
_STOPPED = "ended by a signal; what was finished before it is stored"
_LOST = "another run has the table, since the lease was not renewed in time; what was finished before is stored"
Analyse = Callable[[TableName, Sequence[str], bool], "Report"]
"""Analyses a table, or some partitions of it by name; with True only pieces whose files have changed."""


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of one piece of work; `outcome` None: nothing was done, for the reason."""

    work: Work
    outcome: Outcome | None
    reason: str | None = None
    seconds: float = 0.0
    rows: int | None = None
    size_bytes: int | None = None
    partitions: int = 0


@dataclass(slots=True)
class Refresher:
    """Runs rounds. `stop` ends a round after the current run, whose failure is then no fault.

    `skipped` has the tables that the last round left out, with the reason.
    """

    metastore: str
    analyse: Analyse
    wanted: RefreshRequest
    stop: threading.Event = field(default_factory=threading.Event)
    clock: Callable[[], float] = time.time
    lease_seconds: int = LEASE_SECONDS
    runner: str = field(default_factory=lambda: f"{socket.gethostname()}/{os.getpid()}")
    skipped: Mapping[TableName, str] = field(default_factory=dict)
    _refusal: SparkDoesNotStart | None = None

    def plan(self, busy: dict[TableName, float] | None = None) -> Round:
        """The plan of a round at this time."""
        with connect(self.metastore) as service:
            return plan_round(service, self.wanted, self._now_ms(), busy)

    def run(self, busy: dict[TableName, float] | None = None) -> Iterator[Done]:
        """Run a round; yields the outcome of each piece of work as soon as it is done.

        The round ends when the plan is done, at `stop`, at the end of the window, and when its time exceeds the budget.
        A failure ends only its own piece of work. If Spark does not start, which is no table's failure, the tables that
        do not need Spark are still analysed; at the end SparkDoesNotStart is raised.
        """
        if not self.is_open():
            return
        began = time.monotonic()
        with connect(self.metastore) as service:
            found = plan_round(service, self.wanted, self._now_ms(), busy)
            self.skipped = found.skipped
            for number, work in enumerate(found.plan.taken):
                over = self.wanted.budget_seconds is not None and time.monotonic() - began > self.wanted.budget_seconds
                if self.stop.is_set() or not self.is_open() or (over and number):
                    break
                if self._refusal is None or self._needs_no_spark(service, work):
                    yield self._do_work(service, work)
        if self._refusal is not None:
            raise self._refusal

    def is_open(self) -> bool:
        """Whether runs may begin at this time."""
        now = datetime.fromtimestamp(self.clock(), UTC)
        return not self.wanted.windows or windows.closes_at(self.wanted.windows, now) is not None

    def _now_ms(self) -> int:
        return int(self.clock() * 1_000)

    def _do_work(self, service: Metastore, work: Work) -> Done:
        run = Run(uuid.uuid4().hex, work.table, self.runner, 0, Outcome.RUNNING, work.partitions, work.terms.as_dict())
        try:
            begun = service.runs.begin(run, self.lease_seconds)
        except CallRefused as error:  # dropped meanwhile, which is not a failure, or not allowed
            return Done(work, None if error.is_missing else Outcome.FAILED, str(error))
        except HmstatsError as error:
            return Done(work, None, str(error))
        if not begun.started:
            return Done(work, None, f"held by {begun.held_by}" if begun.held_by else "failed a moment ago")
        try:
            with keep_lease(self.metastore, run, self.lease_seconds) as lost:
                done = self._analyse_under_lease(service, work, lost)
        except KeyboardInterrupt:
            service.runs.end(replace(run, outcome=Outcome.STOPPED, reason=_STOPPED))
            raise
        except SparkDoesNotStart as error:
            self._refusal = error
            stopped = Done(work, Outcome.STOPPED, str(error)[:_MOST_CHARACTERS])
            service.runs.end(replace(run, outcome=Outcome.STOPPED, reason=stopped.reason))
            return stopped
        ended = replace(
            run,
            outcome=done.outcome or Outcome.DONE,
            reason=done.reason,
            rows=done.rows,
            size_bytes=done.size_bytes,
            seconds=done.seconds,
        )
        service.runs.end(ended)
        return done

    def _analyse_under_lease(self, service: Metastore, work: Work, lost: threading.Event) -> Done:
        began, done = time.monotonic(), Done(work, None)
        try:
            partitions = self._still_stale(service, work)
            if partitions is None:
                return Done(work, Outcome.DONE, "fresh by now")
            for number, some in enumerate(_slices(partitions, work.seconds)):
                if number and (self.stop.is_set() or lost.is_set()):
                    reason = _STOPPED if self.stop.is_set() else _LOST
                    return replace(done, outcome=Outcome.STOPPED, reason=reason, seconds=time.monotonic() - began)
                done = _with_report(done, self.analyse(work.table, some, work.look))
        except SparkDoesNotStart:
            raise
        except (HmstatsError, OSError) as error:
            ended = replace(done, seconds=time.monotonic() - began)
            if self.stop.is_set():
                return replace(ended, outcome=Outcome.STOPPED, reason=_STOPPED)
            return replace(ended, outcome=Outcome.FAILED, reason=str(error)[:_MOST_CHARACTERS])
        return replace(done, outcome=Outcome.DONE, seconds=time.monotonic() - began)

    def _needs_no_spark(self, service: Metastore, work: Work) -> bool:
        table = service.find_table(work.table)
        return table is not None and is_lake_table(table)

    def _still_stale(self, service: Metastore, work: Work) -> Sequence[str] | None:
        """The partitions of the work that are still stale (none: the table as a whole); None if all are fresh.

        An earlier holder of the lease may have done some of the work.
        """
        if work.look or work.blamed:
            return ()
        if not work.partitions:
            name = work.table
            stale = list(service.health.tables(name.database, name.table, below=WHOLE, catalog=name.catalog))
            return () if stale else None
        names = {each.partition for each in service.health.partitions(work.table, below=WHOLE)}
        return [each for each in work.partitions if each in names] or None


def _slices(partitions: Sequence[str], seconds: float) -> Iterator[Sequence[str]]:
    """The partitions of a run, in groups that take about _SLICE_SECONDS; an empty group is the table as a whole.

    Between two groups a run can be stopped, and its finished groups are stored.
    """
    number = max(ceil(len(partitions) * _SLICE_SECONDS / max(seconds, _SLICE_SECONDS)), 1)
    yield from (partitions[begin : begin + number] for begin in range(0, max(len(partitions), 1), number))


def _with_report(done: Done, report: "Report") -> Done:
    """The outcome, with the results of one more analysis added."""
    return replace(
        done,
        reason=report.left or (report.waiting_sentence[:_MOST_CHARACTERS] if report.waiting else done.reason),
        rows=_sum(done.rows, report.rows),
        size_bytes=_sum(done.size_bytes, report.bytes),
        partitions=done.partitions + report.partitions,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
