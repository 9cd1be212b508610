"""A database and its two ways in: `read`, one consistent picture, and `write`, one transaction.

A write is tried again when the database says that another writer was in the way, or when the connection broke before
the commit. A work function may therefore run more than once and must change nothing but the database.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from hmstats.errors import DatabaseTaken, MetaError, SettingsError, StoreUnavailable
from hmstats.model.catalog import TableName
from hmstats.model.events import Event, Notification
from hmstats.store import (
    changes,
    logged_changes,
    notifications,
    prepared,
    statistics_by_name,
    statistics_groups,
    targets,
    versions,
)
from hmstats.store.connections import UNIT, Pools, connect, database_url
from hmstats.store.expected_table import ExpectedTable
from hmstats.store.failures import TRIES, Failure, classify, translate
from hmstats.store.ids import Ids
from hmstats.store.own_versions import OwnVersions
from hmstats.store.shape import WHOLE, Shape
from hmstats.store.turns import Turns
from hmstats.store.unit import Unit
from hmstats.store.version_line import VersionLine

__all__ = ["Store", "database_url"]

Result = TypeVar("Result")
Encoder = Callable[[Event, int], Notification]
"""Makes an event at a time, in epoch seconds, what the log keeps of it."""

_FIRST_PAUSE_SECONDS = 0.01
_LAST_SECOND = 2**31 - 1
"""The latest time that the API and Hive's tables can hold, in January 2038."""


class Store:
    """A database that can be read and written by many threads at once."""

    def __init__(
        self,
        pools: Pools,
        *,
        patience_seconds: float,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        read_only: bool = False,
    ) -> None:
        self.name = pools.writers.url.render_as_string(hide_password=True)
        self._pools = pools
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._sleep = sleep
        self._ids = Ids(pools.allocators)
        self._turns = Turns()
        self._encode: Encoder | None = None
        self._own: OwnVersions | None = None
        self._prepares = pools.line is not None
        self._follows_hive = False
        self.shape = WHOLE
        self.read_only = read_only

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

        `pool_size` threads can read and as many write at once. A statement that takes longer than `statement_seconds`
        is given up. `clock` says the time of changes, in epoch seconds. A store that is `read_only` refuses to write.
        Raises SettingsError for another URL.
        """
        pools = connect(database_url(url), pool_size, statement_seconds)
        return cls(pools, patience_seconds=statement_seconds, clock=clock, sleep=sleep, read_only=read_only)

    def take_alone(self, patience_seconds: float = 0.0) -> None:
        """Have the database alone from now on: versions are known then, and need not be read; see Claims.take_alone."""
        if self.shape.beside_hive:
            raise SettingsError(f"a server beside a Hive has no database alone, found {self.name}")
        self._pools.claims.take_alone(patience_seconds)
        self._own = OwnVersions(partial(versions.current, self._pools.checkers))

    def keep_log(self, encode: Encoder) -> None:
        """From now on write what units record to the notification log."""
        self._encode = encode

    @property
    def keeps_log(self) -> bool:
        """Whether what units record is written to the log."""
        return self._encode is not None

    @property
    def knows_changes(self) -> bool:
        """Whether the versions tell of every change, whoever made it."""
        return self._follows_hive or not self.shape.beside_hive

    def follow_hive(self) -> None:
        """From now on take Hive's notification log as the version of what it changes: it must log all in time."""
        self._follows_hive = True

    def take_shape(self, shape: Shape) -> None:
        """From now on read and write a database that has what the shape says; before it is used otherwise."""
        self.shape = shape
        self._pools.adapt(shape)

    def close(self) -> None:
        """Close every pooled connection."""
        self._pools.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent picture of the database. Raises StoreUnavailable when the database is away."""
        try:
            with self._pools.readers.connect() as connection:
                if self._follows_hive:
                    versions.note_log(connection)
                yield connection
        except SQLAlchemyError as error:
            raise translate(error, self.name) from error

    def current_versions(self, table_ids: Collection[int]) -> dict[int, int]:
        """The tables' numbers as they are now: see versions.current."""
        if self._own is not None and self._pools.claims.alone:
            return self._own.current(table_ids)
        return versions.current(self._pools.checkers, table_ids)

    def known_versions(self, table_ids: Collection[int]) -> dict[int, int] | None:
        """The same where the database need not be asked, else None."""
        return self._own.known(table_ids) if self._own is not None and self._pools.claims.alone else None

    def version_line(self) -> VersionLine | None:
        """A new line to ask for them on, the caller's to close; None where there is none. Raises StoreUnavailable.

        A store that has its database alone has none: what is read once is known then.
        """
        if self._pools.line is None or self._own is not None:
            return None
        question = versions.LOGGED_OF_ARRAY if self._follows_hive else versions.CURRENT_OF_ARRAY
        return VersionLine.open(self._pools.checkers, self._pools.line, question)

    def changes_since(self, table_id: int, version: int) -> changes.Changes | None:
        """See changes.since; of Hive's log, in the place of a table, see logged_changes.since."""
        if table_id == versions.LOG:
            return logged_changes.since(self._pools.checkers, version)
        return changes.since(self._pools.checkers, table_id, version)

    def target(self, name: TableName) -> targets.Target | None:
        """See targets.read."""
        return targets.read(self._pools.checkers, name)

    def statistics_of_partitions(
        self, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None, *, sketches: bool
    ) -> statistics_by_name.FoundPartitions | None:
        """See statistics_by_name.of_partitions."""
        return statistics_by_name.of_partitions(self._pools.checkers, table_id, partitions, columns, sketches=sketches)

    def groups_of_partitions(
        self, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None
    ) -> statistics_groups.FoundGroups | None:
        """See statistics_groups.of_partitions."""
        return statistics_groups.of_partitions(self._pools.checkers, table_id, partitions, columns)

    def statistics_of_table(
        self, name: TableName, columns: Sequence[str], *, sketches: bool
    ) -> statistics_by_name.Found | None:
        """See statistics_by_name.of_table."""
        return statistics_by_name.of_table(self._pools.checkers, name, columns, sketches=sketches)

    def statistics_of_partition(
        self, name: TableName, partition: str, columns: Sequence[str], *, sketches: bool
    ) -> statistics_by_name.Found | None:
        """See statistics_by_name.of_partition."""
        return statistics_by_name.of_partition(self._pools.checkers, name, partition, columns, sketches=sketches)

    def write_table(self, name: TableName, work: Callable[[Unit], Result]) -> Result:
        """The same of work that locks this table first, in its turn."""
        with self.turn(name):
            return self.write(work)

    def turn(self, name: TableName) -> AbstractContextManager[None]:
        """Wait until nobody else here writes to this table, as long as for a statement at most (turns.py)."""
        return self._turns.of(name, self._patience_seconds)

    def write(self, work: Callable[[Unit], Result]) -> Result:
        """What `work` returns, after its changes were committed together; an error it raises undoes them all.

        Raises StoreUnavailable when the database is away, MetaError when it refuses the change or the store only reads.
        """
        return self._until_done(partial(self._try, work))

    @property
    def can_expect(self) -> bool:
        """Whether `write_as_expected` can do anything: on PostgreSQL, in a database that nobody else changes."""
        return self._pools.line is not None and self.shape is WHOLE

    def write_as_expected(self, expected: ExpectedTable, rows: int, work: Callable[[Unit], Result]) -> Result | None:
        """The same in one round trip if the table is as expected, whose number the work counts; None if it is not.

        Nothing was changed then. The work reads nothing, and all of its statements wait (Unit.later), of which the last
        changes so many rows. If it changed less, somebody has removed rows and counted nothing: None too, and whoever
        goes on writes all of it again. Raises as `write` does.
        """
        lost: list[DBAPIError] = []
        try:
            written = self._until_done(partial(self._try_as_expected, expected, rows, work, lost))
        except StoreUnavailable as error:
            if lost:
                raise self._nobody_knows() from error
            raise
        if written is None and lost:
            raise self._nobody_knows() from lost[0]
        return written

    def _until_done(self, attempt: Callable[[], Result]) -> Result:
        """What an attempt returns, of several where another may help."""
        if self.read_only:
            raise MetaError("this server only reads: nothing can be changed through it")
        met: Counter[Failure] = Counter()
        give_up = time.monotonic() + self._patience_seconds
        while True:
            try:
                return attempt()
            except SQLAlchemyError as error:
                if self._prepares and prepared.is_unprepared(error):  # a pooler lends us another session each time
                    self._prepares = False
                    continue
                failure = classify(error)
                met[failure] += 1
                if met[failure] == TRIES[failure] or time.monotonic() > give_up:
                    raise translate(error, self.name, met.total()) from error
            # Waiting a random while keeps two writers from meeting again.
            self._sleep(_FIRST_PAUSE_SECONDS * 2 ** met.total() * random.random())

    @contextmanager
    def _changing(self, table_ids: Collection[int]) -> Iterator[None]:
        """Around the commit of what changes these tables. Raises DatabaseTaken when the store is no longer alone."""
        if self._own is None:
            yield
            return
        if not self._pools.claims.alone:
            self._own.forget_all()
            if not self._pools.claims.retake():
                raise DatabaseTaken(f"database {self.name} is another server's by now: nothing was changed")
        with self._own.changing(table_ids):
            yield

    def log(self, unit: Unit) -> range:
        """Write what the unit recorded so far to the log, last of all in it; the ids of the events, in order.

        Until the commit nobody else can write to the log. A unit that does not call this has it done at its end.
        """
        if self._encode is None or not unit.events:
            return range(0)
        encoded = (self._encode(event, unit.now_seconds) for event in unit.events)
        written = [notifications.append(unit, each) for each in notifications.batches(encoded)]
        unit.events.clear()
        return range(written[0].start, written[-1].stop)

    def _try(self, work: Callable[[Unit], Result]) -> Result:
        with self._unit() as unit:
            try:
                result = work(unit)
                self.log(unit)
            except DBAPIError:
                prepared.forget(unit.connection)
                raise
            try:
                with self._changing(unit.counted):
                    unit.commit()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    prepared.forget(unit.connection)
                    raise
                raise self._nobody_knows() from error  # a second try could do it twice
            return result

    def _try_as_expected(
        self, expected: ExpectedTable, rows: int, work: Callable[[Unit], Result], lost: list[DBAPIError]
    ) -> Result | None:
        """`lost` gets the error of a connection that was lost: another try does nothing if that has done it."""
        with self._unit(expected) as unit:
            result = work(unit)
            try:
                with self._changing(unit.counted):
                    return result if unit.commit_as_expected() == rows else None
            except DBAPIError as error:
                if error.connection_invalidated:
                    lost.append(error)
                else:
                    prepared.forget(unit.connection)
                raise

    @contextmanager
    def _unit(self, expected: ExpectedTable | None = None) -> Iterator[Unit]:
        with self._pools.writers.connect() as connection:
            events: list[Event] | None = None if self._encode is None else []
            now_seconds = _seconds(self._clock())
            prepares = self._prepares
            unit = Unit(connection, now_seconds, self._ids, events, self.shape, prepares=prepares, expects=expected)
            connection.execution_options(**{UNIT: unit})
            yield unit

    def _nobody_knows(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"database {self.name} was lost during the commit: it holds all of the change or nothing of it"
        )


def _seconds(time_seconds: float) -> int:
    """A clock's time as it can be stored: one that stands wrong must not make calls fail."""
    return max(0, min(int(time_seconds), _LAST_SECOND))
