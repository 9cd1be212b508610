"""A database with its two kinds of access: `read`, a consistent snapshot, and `write`, a transaction.

A write is retried after a conflict with another writer, or if the connection broke before the commit. A work function
may therefore run more than once and must change nothing but the database.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from hmstats.errors import DatabaseTaken, MetaError, SettingsError, StoreUnavailable
from hmstats.model.catalog.objects import Table, TableName
from hmstats.model.events import Event, Notification
from hmstats.store.beside_hive.present_tables import COMPLETE, Shape
from hmstats.store.catalog import single_table, tables
from hmstats.store.changes import hive_changes, notifications, touched_partitions, versions
from hmstats.store.changes.exclusive_versions import ExclusiveVersions
from hmstats.store.changes.version_line import VersionLine
from hmstats.store.connections.connections import UNIT, Pools, connect, database_url
from hmstats.store.connections.failures import TRIES, Failure, classify, translate
from hmstats.store.connections.presence import Presence
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.connections.writing_connection import has_spoken
from hmstats.store.database.shared_snapshot import SharedSnapshot, TriedSnapshot
from hmstats.store.database.table_mutex import TableMutexes
from hmstats.store.partitions import partition_sizes
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.statistics import statistics_by_name, statistics_groups, table_facts
from hmstats.store.unit import prepared
from hmstats.store.unit.ids import Ids
from hmstats.store.unit.unit import Unit
from hmstats.store.unit.version_guard import ExpectedTable

__all__ = ["Store", "database_url"]

Result = TypeVar("Result")
Encoder = Callable[[Event, int], Notification]
"""Converts an event and its time, in epoch seconds, to a notification."""

_shared: ContextVar[SharedSnapshot | TriedSnapshot | None] = ContextVar("shared_snapshot", default=None)

_FIRST_PAUSE_SECONDS = 0.01
_LAST_SECOND = 2**31 - 1
"""Latest time, in epoch seconds, that the API and Hive's tables can hold: January 2038."""


class Store:
    """A database. Thread-safe."""

    def __init__(
        self,
        pools: Pools,
        *,
        patience_seconds: float,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        read_only: bool = False,
    ) -> None:
        self.name = shown_url(pools.writers.url)
        self._pools = pools
        self.patience_seconds = patience_seconds
        self.presence = Presence(pools.checkers)
        self._clock = clock
        self._sleep = sleep
        self._ids = Ids(pools.allocators)
        self._mutexes = TableMutexes()
        self._encode: Encoder | None = None
        self._has_logged = False
        self._keeps_history = False
        self._exclusive_versions: ExclusiveVersions | None = None
        self._preparing = prepared.Preparing(possible=pools.line is not None)
        self._follows_hive = False
        self.shape = COMPLETE
        self.read_only = read_only
        self.on_older_database(self._forget)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        pool_size: int = 8,
        statement_seconds: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        read_only: bool = False,
    ) -> "Store":
        """A store at a URL, sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME.

        `pool_size` threads can read, and as many write at once. `statement_seconds` is the timeout of a statement.
        `clock` gives the time of changes, in epoch seconds. A `read_only` store refuses to write.
        Raises SettingsError if the URL is invalid.
        """
        pools = connect(database_url(url), pool_size, statement_seconds)
        return cls(pools, patience_seconds=statement_seconds, clock=clock, sleep=sleep, read_only=read_only)

    def claim_exclusively(self, patience_seconds: float = 0.0) -> None:
        """Use the database exclusively from now on, so that versions can be cached.

        Raises as Claims.claim_exclusively.
        """
        if self.shape.beside_hive:
            raise SettingsError(f"database {self.name} cannot be used exclusively: a Hive writes to it too")
        self._pools.claims.claim_exclusively(patience_seconds)
        self._exclusive_versions = ExclusiveVersions(
            partial(versions.current, self._pools.checkers, self._pools.lost_commits)
        )
        self.on_older_database(self._exclusive_versions.clear)

    def write_without_claim(self) -> None:
        """Write even while a server uses the database exclusively: only tables of which no server caches anything."""
        self._pools.claims.waive()

    def on_older_database(self, clear: Callable[[], None]) -> None:
        """Register `clear`, which clears a cache when the database may be an older one (lost_commits.py)."""
        self._pools.lost_commits.on_change(clear)

    def enable_log(self, encode: Encoder) -> None:
        """Write the events of units to the notification log from now on."""
        self._encode = encode

    @property
    def has_log(self) -> bool:
        """Whether the events of units are written to the notification log."""
        return self._encode is not None

    def enable_history(self) -> None:
        """Keep what units replace of statistics from now on (store/history)."""
        self._keeps_history = True

    @property
    def sees_all_changes(self) -> bool:
        """Whether versions reflect every change by every writer."""
        return self._follows_hive or not self.shape.beside_hive

    def follow_hive(self) -> None:
        """Use Hive's notification log as a version from now on; Hive must log all changes in their transactions."""
        self._follows_hive = True

    def use_shape(self, shape: Shape) -> None:
        """Adapt all statements to a shape of the database; call it before any other use."""
        self.shape = shape
        self._pools.adapt(shape)

    def close(self) -> None:
        """Close every pooled connection."""
        self.presence.close()
        self._pools.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection with a consistent snapshot of the database. Raises StoreUnavailable if it does not answer."""
        shared = _shared.get()
        try:
            with self._pools.readers.connect() if shared is None else shared.lend(self._pools.readers) as connection:
                if self._follows_hive:
                    versions.note_log(connection)
                yield connection
        except SQLAlchemyError as error:
            raise translate(error, self.name) from error

    def check_connection(self) -> None:
        """Raise StoreUnavailable if the database does not answer."""
        with self.read() as connection:
            connection.scalar(select(1))

    @contextmanager
    def one_snapshot(self) -> Iterator[None]:
        """Let all reads of this context inside share one transaction, and see one snapshot.

        They do not see writes made inside.
        """
        shared = SharedSnapshot()
        token = _shared.set(shared)
        try:
            yield
        finally:
            _shared.reset(token)
            shared.close()

    @contextmanager
    def outside_snapshot(self) -> Iterator[None]:
        """Let the reads inside see the newest state, whatever snapshot is shared around them."""
        token = _shared.set(None)
        try:
            yield
        finally:
            _shared.reset(token)

    def try_change(self, change: Callable[[Unit], None], read: Callable[[], Result]) -> Result:
        """Return what `read` returns while its reads in this context see a change, then roll that back. Raises as
        `write`.

        The change is neither logged nor kept in the history. Reads inside take no fast way.
        """

        def attempt(unit: Unit) -> Result:
            change(replace(unit, keeps_history=False, events=None))
            token = _shared.set(TriedSnapshot(unit.connection))
            try:
                return read()
            finally:
                _shared.reset(token)

        return self.write(attempt, keep=lambda _: False)

    @property
    def is_trying(self) -> bool:
        """Whether reads of this context see a change that is only tried, so that nothing of them may be cached."""
        return isinstance(_shared.get(), TriedSnapshot)

    def current_versions(self, table_ids: Collection[int]) -> dict[int, int]:
        """The current versions of the tables, as versions.current returns them."""
        if self._exclusive_versions is not None and self._pools.claims.is_held:
            return self._exclusive_versions.current(table_ids)
        return versions.current(self._pools.checkers, self._pools.lost_commits, table_ids)

    def cached_versions(self, table_ids: Collection[int]) -> dict[int, int] | None:
        """The current versions of the tables if all are cached, else None."""
        return (
            self._exclusive_versions.cached(table_ids)
            if self._exclusive_versions is not None and self._pools.claims.is_held
            else None
        )

    def version_line(self) -> VersionLine | None:
        """A new VersionLine, closed by the caller; None on SQLite and in an exclusive store. Raises StoreUnavailable.

        An exclusive store caches its versions and needs none.
        """
        if self._pools.line is None or self._exclusive_versions is not None:
            return None
        question = versions.LOGGED_OF_ARRAY if self._follows_hive else versions.CURRENT_OF_ARRAY
        return VersionLine.open(self._pools.checkers, self._pools.line, self._pools.lost_commits, question)

    def changes_since(self, table_id: int, version: int) -> touched_partitions.Changes | None:
        """The changes of a table after a version (touched_partitions.since), or of Hive's log (hive_changes.since)."""
        if table_id == versions.LOG:
            return hive_changes.since(self._pools.checkers, version)
        return touched_partitions.since(self._pools.checkers, table_id, version)

    def target(self, name: TableName) -> table_facts.TableFacts | None:
        """The facts about a table that statistics need, as table_facts.read returns them."""
        if self.is_trying:
            return None
        return table_facts.read(self._pools.checkers, name)

    def table(self, name: TableName) -> Table | None:
        """The table; None if it does not exist. Raises StoreUnavailable if the database does not answer."""
        found = None if self._has_begun_snapshot else single_table.read(self._pools.checkers, name)
        if found is not None:
            return found[0] if found else None
        with self.read() as connection:
            return tables.get(connection, name)

    def rows(self, read: SingleRead, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """A query's rows, read without a transaction where possible; it has no conditions on sets.

        Raises StoreUnavailable if the database does not answer.
        """
        found = None if self._has_begun_snapshot else read.rows(self._pools.checkers, values)
        if found is not None:
            return found
        with self.read() as connection:
            return connection.execute(read.query, values).all()

    @property
    def _has_begun_snapshot(self) -> bool:
        """Whether the reads of this context share a snapshot that has begun, which is older than the newest state."""
        shared = _shared.get()
        return shared is not None and shared.has_begun

    def partition_blocks(self, table_id: int) -> partition_sizes.VersionedBlocks | None:
        """The sums of a table's partitions, as partition_sizes.read_alone returns them."""
        if self.is_trying:
            return None
        return partition_sizes.read_alone(self._pools.checkers, table_id)

    def statistics_of_partitions(
        self, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None, *, sketches: bool
    ) -> statistics_by_name.VersionedColumns | None:
        """Statistics of partitions with the table's version, as statistics_by_name.of_partitions returns them."""
        if self.is_trying:
            return None
        return statistics_by_name.of_partitions(self._pools.checkers, table_id, partitions, columns, sketches=sketches)

    def groups_of_partitions(
        self, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None
    ) -> statistics_groups.VersionedGroups | None:
        """Statistics of partitions in groups, as statistics_groups.of_partitions returns them."""
        if self.is_trying:
            return None
        return statistics_groups.of_partitions(self._pools.checkers, table_id, partitions, columns)

    def statistics_of_table(
        self, name: TableName, columns: Sequence[str], *, sketches: bool
    ) -> statistics_by_name.VersionedColumns | None:
        """A table's statistics with its version, as statistics_by_name.of_table returns them."""
        if self.is_trying:
            return None
        return statistics_by_name.of_table(self._pools.checkers, name, columns, sketches=sketches)

    def statistics_of_partition(
        self, name: TableName, partition: str, columns: Sequence[str], *, sketches: bool
    ) -> statistics_by_name.VersionedColumns | None:
        """A partition's statistics with the table's version, as statistics_by_name.of_partition returns them."""
        if self.is_trying:
            return None
        return statistics_by_name.of_partition(self._pools.checkers, name, partition, columns, sketches=sketches)

    def write_table(self, name: TableName, work: Callable[[Unit], Result]) -> Result:
        """Run `work` as `write` does, while holding the process's mutex of the table that it locks first."""
        with self.hold_mutex(name):
            return self.write(work)

    def hold_mutex(self, name: TableName) -> AbstractContextManager[None]:
        """Hold the process's mutex of writers of this table; waits at most the statement timeout (table_mutex.py)."""
        return self._mutexes.hold(name, self.patience_seconds)

    def write(self, work: Callable[[Unit], Result], keep: Callable[[Result], bool] | None = None) -> Result:
        """Run `work` in a transaction and commit it. Returns its result; an error that it raises rolls back.

        Rolls back too if `keep` returns False for the result. Raises StoreUnavailable if the database does not answer,
        MetaError if it refuses the change or the store is read-only.
        """
        return self._run_with_retries(partial(self._try, work, keep))

    @property
    def can_expect(self) -> bool:
        """Whether `write_as_expected` is supported: on PostgreSQL, in a database without a Hive."""
        return self._pools.line is not None and self.shape is COMPLETE

    def write_as_expected(
        self, expected: ExpectedTable, rows: int, work: Callable[[Unit], Result | None]
    ) -> Result | None:
        """Run `work` and commit it in one round trip if the table's definition is as expected; None if it is not.

        If None, nothing was changed. The work reads nothing, bumps the table's version, and queues all of its
        statements (Unit.queue), of which the last changes `rows` rows; or it gives up with None. If fewer rows were
        changed, or an owner is missing, another program has removed some without a new version: None too, and the
        caller must write everything again. Raises as `write` does. After a lost connection it is tried again, and does
        nothing if anybody has written to the table since its version was cached.
        """
        lost: list[DBAPIError] = []
        try:
            written = self._run_with_retries(partial(self._try_as_expected, expected, rows, work, lost))
        except MetaError as error:  # also one that refuses the second try: the first may have been applied
            if lost:
                raise self._unknown_outcome() from error
            raise
        if written is None and lost:
            raise self._unknown_outcome() from lost[0]
        return written

    def _run_with_retries(self, attempt: Callable[[], Result]) -> Result:
        """Run an attempt, with retries after failures for which they may help. Returns its result."""
        if self.read_only:
            raise MetaError(f"database {self.name} is opened read-only by this server: nothing can be changed")
        failures: Counter[Failure] = Counter()
        give_up = time.monotonic() + self.patience_seconds
        while True:
            prepares = self._preparing.on  # another thread may pause it during the attempt
            try:
                return attempt()
            except SQLAlchemyError as error:
                if prepares and prepared.is_unprepared(error):
                    self._preparing.pause(error)
                    continue
                failure = classify(error)
                if failure is Failure.RACE:  # perhaps an id that a restored database has given already
                    self._ids.forget()
                failures[failure] += 1
                if failures[failure] == TRIES[failure] or time.monotonic() > give_up:
                    raise translate(error, self.name, failures.total()) from error
            # A random pause keeps two writers from conflicting again.
            self._sleep(_FIRST_PAUSE_SECONDS * 2 ** failures.total() * random.random())

    @contextmanager
    def _changing(self, table_ids: Collection[int]) -> Iterator[None]:
        """Invalidate cached versions around the commit inside. Raises DatabaseTaken if the exclusive claim is lost."""
        if self._exclusive_versions is None:
            yield
            return
        if not self._pools.claims.is_held:
            self._exclusive_versions.clear()
            if not self._pools.claims.reclaim():
                raise DatabaseTaken(
                    f"database {self.name} is used exclusively by another server by now: nothing was changed"
                )
        with self._exclusive_versions.changing(table_ids):
            yield

    def log(self, unit: Unit) -> range:
        """Write the unit's events to the log, as the last of its writes. Returns their ids in order.

        Until the commit no other transaction can write to the log. A unit that does not call this does it at its end.
        """
        if self._encode is None or not unit.events:
            return range(0)
        encoded = (self._encode(event, unit.now_seconds) for event in unit.events)
        ranges = [notifications.append(unit, each) for each in notifications.batches(encoded)]
        unit.events.clear()
        return range(ranges[0].start, ranges[-1].stop)

    def _log_at_end(self, unit: Unit) -> None:
        """Write the unit's events to the log: a single one with the commit, to lock the log for one round trip less."""
        if self._encode is None or len(unit.events or ()) != 1 or not self._has_logged or self._pools.line is None:
            self.log(unit)
            return
        for event in unit.events or ():
            notifications.append_later(unit, [self._encode(event, unit.now_seconds)])

    def _forget(self) -> None:
        """Forget what is known of a database that may be an older one now."""
        self._ids.forget()
        self._has_logged = False

    def _try(self, work: Callable[[Unit], Result], keep: Callable[[Result], bool] | None) -> Result:
        with self._unit() as unit, _clean_up_on_error(unit):
            result = work(unit)
            if keep is not None and not keep(result):
                _clean_up(unit)
                return result
            logs = bool(unit.events)
            self._log_at_end(unit)
            try:
                with self._changing(unit.counted):
                    unit.commit()
                self._has_logged |= logs
            except DBAPIError as error:
                if error.connection_invalidated:
                    raise self._unknown_outcome() from error  # a second try could do it twice
                raise
            return result

    def _try_as_expected(
        self, expected: ExpectedTable, rows: int, work: Callable[[Unit], Result | None], lost: list[DBAPIError]
    ) -> Result | None:
        """Try `write_as_expected` once. Adds the error of a lost connection to `lost`; a retry cannot write twice."""
        with self._unit(expected._replace(unwritten=True) if lost else expected) as unit, _clean_up_on_error(unit):
            if not lost and has_spoken(unit.connection):
                return None  # a session that has ended is found by the ordinary way before it has written anything
            result = work(unit)
            if result is None:
                _clean_up(unit)
                return None
            try:
                with self._changing(unit.counted):
                    changed = unit.commit_as_expected()
            except DBAPIError as error:
                if classify(error) is Failure.RACE and not lost:
                    self._ids.forget()  # as _run_with_retries does; the ordinary way finds what is missing
                    _clean_up(unit)
                    return None
                if error.connection_invalidated:
                    lost.append(error)
                raise
            if changed:
                lost.clear()  # nobody had written since the version was cached, an earlier try neither
            return result if changed == rows else None

    @contextmanager
    def _unit(self, expected: ExpectedTable | None = None) -> Iterator[Unit]:
        with self._pools.writers.connect() as connection:
            events: list[Event] | None = None if self._encode is None else []
            now = self._clock()
            unit = Unit(
                connection,
                _seconds(now),
                self._ids,
                events,
                self.shape,
                prepares=self._preparing.on,
                expects=expected,
                keeps_history=self._keeps_history,
                now_milliseconds=int(now * 1000),
            )
            connection.execution_options(**{UNIT: unit})
            yield unit

    def _unknown_outcome(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"connection to database {self.name} was lost during the commit: "
            "the change was applied completely or not at all"
        )


@contextmanager
def _clean_up_on_error(unit: Unit) -> Iterator[None]:
    """After an error drop the unit's queued statements, and have its statements prepared again."""
    try:
        yield
    except (DBAPIError, MetaError):
        _clean_up(unit)
        raise


def _clean_up(unit: Unit) -> None:
    unit.clear_queue()
    prepared.deallocate_all(unit.connection)


def _seconds(time_seconds: float) -> int:
    """A clock's time in the range that can be stored: a wrong clock must not make calls fail."""
    return max(0, min(int(time_seconds), _LAST_SECOND))
