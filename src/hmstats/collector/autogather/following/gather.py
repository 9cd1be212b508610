"""Stores the statistics of finished writes to one table, from the files that they left."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from hmstats.client import Metastore
from hmstats.collector.autogather.following.commands import Write
from hmstats.collector.autogather.following.inbox import Inbox
from hmstats.collector.autogather.following.jobs import jobs_of, without_jobs
from hmstats.collector.autogather.following.remembered import Remembered, RememberedTable
from hmstats.collector.autogather.following.touched import clocks_ns, touched_pieces
from hmstats.collector.autogather.new_files import new_files, read_new_files
from hmstats.collector.autogather.outcome import mark_stale, put_statistics
from hmstats.collector.autogather.table_state import TableState, read_unlisted_state, with_files
from hmstats.collector.autogather.watched_rows import SURVIVABLE
from hmstats.collector.autogather.writer import Written, check_accepted
from hmstats.collector.delivery.deliver import Delivery, new_run
from hmstats.collector.planning.locked import locks_of, reason_left_out, sentence
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.planning.preferred import preferred_of_writes
from hmstats.collector.spark.session_settings import hadoop_settings
from hmstats.errors import CallRefused
from hmstats.model.catalog.location import Location, parse
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.statistics_locks import table_lock
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")
_PATIENCE_SECONDS = 30.0
"""How long Spark may take to report a write whose files exist: it changes the catalog before it reports."""
_RETRY_SECONDS = 3.0
"""How long to wait for a write that may have replaced files which cannot be read."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The destination of statistics, as for `hmstats.analyze`."""

    metastore: str
    spool: str | None
    patience_seconds: float


@dataclass(frozen=True, slots=True)
class _Listing:
    """A table before and after writes; `told` are the writes in the order in which they ended.

    `late` are writes whose files it lacks, since they ended after it; with `in_part` it may have some of their files.
    """

    before: TableState
    now: TableState
    told: Sequence[Write]
    late: Sequence[Write]
    in_part: bool


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Gathers the statistics of a session's writes; those to one table are gathered together."""

    spark: SparkSession
    to: Destination
    inbox: Inbox
    remembered: Remembered = field(default_factory=Remembered)

    def gather(
        self, service: Metastore, table: TableName, writes: Sequence[Write], until: float | None = None
    ) -> Written | None:
        """Store the statistics after these writes, which are in the order in which they ended.

        If they cannot be gathered, the reason is in the result, and the stored statistics are marked as inaccurate.
        None if the table does not exist: if it is just being created, Spark will report that later. If only some files
        of another write are found, the table is read again, until a time on time.monotonic(), by default 30 s from now.
        Raises SURVIVABLE if the table cannot be read.
        """
        made = service.find_table(table)
        found = read_unlisted_state(service, preferred_of_writes(service, table), hadoop_settings(self.spark))
        if found.plan is None or made is None:
            for each in writes:
                self.inbox.note(replace(each, table=None))
            return None
        place = parse((made.storage.location if made.storage else None) or "")
        to, keys = self.to, found.plan.keys
        delivery = Delivery(table, keys, to.metastore, new_run(), to.spool, to.patience_seconds)
        reason = _reason(service, found.plan)
        patience_seconds = _PATIENCE_SECONDS if reason is None else 0.0
        listing = self._list(found, found.plan, place, writes, patience_seconds)
        until = time.monotonic() + _PATIENCE_SECONDS if until is None else until
        if listing.in_part and time.monotonic() < until:
            return self.gather(service, table, listing.told, until)
        self.inbox.put_back(listing.late)
        before, now = listing.before, listing.now
        if _are_stored(before, now):
            return Written(table, gathered=True)
        try:
            if reason is None:
                return self._put(service, delivery, before, now)
        except SURVIVABLE as error:
            reason = str(error)
            if later := self.inbox.take_later(table, place, _RETRY_SECONDS):  # a later write may have replaced files
                return self.gather(service, table, [*writes, *later])
        except Exception as error:  # noqa: BLE001 - errors of Spark and Py4J too are no fault of the job
            reason = str(error)
        _log.warning("not_gathered", table=str(table), reason=reason)
        mark_stale(delivery, before, now)
        return Written(table, gathered=False, reason=reason)

    def _put(self, service: Metastore, delivery: Delivery, before: TableState, now: TableState) -> Written:
        types = now.plan.types if now.plan else {}
        known = self._before(now)
        states = {} if known is None else {WHOLE_TABLE: known.state}
        pieces = read_new_files(self.spark, now, new_files(before, now))
        stored = put_statistics(service, delivery, before, now, pieces, types, appends=True, known=states)
        if stored.state is not None:
            self.remembered.note(delivery.table, RememberedTable(now.every_file, types, now.options, stored.state))
        check_accepted(stored)
        return Written(delivery.table, True, stored.rows, stored.pieces, None, stored.delivered.spooled)

    def _before(self, now: TableState) -> RememberedTable | None:
        """The state of a table without partitions as it was last gathered, if rows were only added since."""
        if now.plan is None or now.plan.keys:
            return None
        return self.remembered.before(now.plan.table, now.every_file, now.plan.types, now.options)

    def _list(
        self, found: TableState, plan: Plan, place: Location, writes: Sequence[Write], patience_seconds: float
    ) -> _Listing:
        """The table without the files of these writes, and with them; for a remembered table, all other files are new.

        If there are files of writes that Spark has not reported yet, waits for them and adds them to the writes.
        """
        every = {piece.name for piece in plan.pieces}
        listed_ns = time.time_ns()
        names = touched_pieces(plan, min(each.began_ns for each in writes), [each.partition for each in writes])
        now = with_files(found, names)
        if names < every and jobs_of(now.files, writes, clocks_ns(place)).missing:
            listed_ns = time.time_ns()
            now = with_files(found, every)
        told, until = list(writes), time.monotonic() + patience_seconds
        known = self._before(now)
        while True:
            jobs = jobs_of(now.files, told, clocks_ns(place))
            files = without_jobs(now.files, jobs.ids) if known is None else {WHOLE_TABLE: known.files}
            before = replace(found, files=files)
            late = [each for each in jobs.missing if each.ended_ns > listed_ns]
            left, unknown_ns = until - time.monotonic(), _unknown_since_ns(before, now)
            in_part = bool(late) and unknown_ns > 0
            patient = known is None and left > 0 and not _are_stored(before, now)
            if in_part or not patient or time.time_ns() - unknown_ns > patience_seconds * 1e9:
                return _Listing(before, now, told, late, in_part)
            told += self.inbox.take_later(plan.table, place, left)


def _are_stored(before: TableState, now: TableState) -> bool:
    """Whether statistics of all pieces with new files are stored already: some writes gather their own."""
    new = new_files(before, now).keys()
    return bool(new) and new <= now.trusted().keys()


def _unknown_since_ns(before: TableState, now: TableState) -> int:
    """The time of the newest file that is neither new nor covered by stored statistics, in pieces with new files.

    It is 0 if there is none.
    """
    unknown = new_files(before, now).keys() - before.trusted().keys()
    return max((file.modified_ns or 0 for name in unknown for file in before.files[name]), default=0)


def _reason(service: Metastore, plan: Plan) -> str | None:
    """The reason not to gather statistics for a table; None if there is none."""
    lock = table_lock(locks_of(service, plan.table))
    if lock is not None:
        return sentence(plan.table, lock)
    try:
        return reason_left_out(service.preferences.of_table(plan.table), plan.table, plan.parameters)
    except CallRefused:  # a metastore that is not hmstats has no preferences
        return None
