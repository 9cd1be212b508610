"""Follows a Spark session, and those made from it: a thread gathers statistics right after each write.

The session's jobs are not changed; they neither wait for the thread nor fail because of it.
"""

import atexit
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from pyspark.sql import SparkSession

from hmstats.client import Metastore, connect
from hmstats.collector.autogather.following.commands import Creation, Write
from hmstats.collector.autogather.following.commits import Commit
from hmstats.collector.autogather.following.gather import Destination, Gatherer
from hmstats.collector.autogather.following.inbox import Inbox
from hmstats.collector.autogather.following.lake import gather_commits
from hmstats.collector.autogather.following.listener import Listener, drain, register
from hmstats.collector.autogather.settings import AUTOGATHER, gather_settings
from hmstats.collector.autogather.turns import turn_of_followed_session
from hmstats.collector.autogather.writer import Written
from hmstats.collector.delivery.deliver import PATIENCE_SECONDS
from hmstats.collector.scan.workers_python import use_driver_python
from hmstats.collector.spark.classic import require_classic
from hmstats.collector.spark.session_settings import session_metastore, session_spool
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.location import parse
from hmstats.model.catalog.objects import TableName
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")
_MOST_OUTCOMES = 1_000
_followed: list["Autogather"] = []
"""The session that is followed now."""


def autogather(
    spark: SparkSession,
    *,
    metastore: str | None = None,
    reliable: bool | None = None,
    spool: str | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
) -> "Autogather":
    """Gather the statistics of every write of a session from now on, until it is stopped.

    `metastore` is `thrift://HOST:PORT`, by default the session's hive.metastore.uris. If `reliable` (by default the
    session's hive.stats.reliable), wait() and the end of the session raise GatheringFailed for writes without
    statistics. `spool` and `patience_seconds` are those of analyze(). Sessions made by its newSession() are followed
    too, with the settings of this one. If the session is followed already, its Autogather is returned unchanged.

    Raises StatementError for a session of Spark Connect, and SettingsError.
    """
    require_classic(spark, "autogather")
    known = next((each for each in _followed if each.follows(spark)), None)
    if known is not None:
        return known
    address = metastore or session_metastore(spark)
    settings = gather_settings(spark, {}, address)
    to = Destination(address, session_spool(spark, spool), patience_seconds)
    return Autogather(spark, to, reliable=settings.reliable if reliable is None else reliable)


class Autogather:
    """A session that is followed, with those made from it. As a context manager it ends with the block."""

    def __init__(self, spark: SparkSession, to: Destination, *, reliable: bool) -> None:
        self._spark = spark
        self._to = to
        self._reliable = reliable
        self._inbox = Inbox()
        self._gatherer = Gatherer(spark, to, self._inbox)
        self._outcomes: dict[TableName, Written] = {}
        self._restores: list[Callable[[], None]] = []
        self._sessions: list[SparkSession] = []
        use_driver_python(spark)
        self._follow(spark)
        self._thread = threading.Thread(target=self._run, name="hmstats-autogather", daemon=True)
        self._thread.start()
        atexit.register(self._end)
        _followed.append(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def follows(self, spark: SparkSession) -> bool:
        """Whether this session is followed, even if it is another Python object."""
        asked = getattr(spark, "_jsparkSession", None)
        return asked is not None and any(asked.equals(each._jsparkSession) for each in self._sessions)  # noqa: SLF001

    def wait(self, timeout_seconds: float | None = None) -> Sequence[Written]:
        """Wait until the statistics of all finished writes are gathered.

        Returns the last outcome of each table that was written since the last call. Raises TimeoutError, and, if
        reliable, GatheringFailed.
        """
        drain(self._spark)
        if not self._inbox.wait(timeout_seconds):
            raise TimeoutError(f"statistics of writes are not gathered after {timeout_seconds} s")
        found = list(self._outcomes.values())
        self._outcomes = {}
        failed = [f"{each.table}: {each.reason}" for each in found if not each.gathered]
        if self._reliable and failed:
            raise GatheringFailed(f"statistics of writes were not gathered: {'; '.join(failed)}")
        return found

    def stop(self) -> Sequence[Written]:
        """Gather what is finished, and stop following the session. Returns and raises as wait() does."""
        try:
            return self.wait()
        finally:
            self._forget()

    def _follow(self, spark: SparkSession) -> None:
        """Let Spark report the session's writes, and follow each session that is made from it."""
        unregister = register(spark, Listener(self._inbox.note))
        stop, new_session = spark.stop, spark.newSession

        def restore() -> None:
            unregister()
            spark.stop, spark.newSession = stop, new_session

        def make_session() -> SparkSession:
            made = new_session()
            self._follow(made)
            return made

        self._restores.append(restore)
        self._sessions.append(spark)
        spark.stop = partial(self._stop_all, stop)  # after Spark has stopped no jobs can run
        spark.newSession = make_session

    def _stop_all(self, stop_session: Callable[[], None]) -> None:
        """Stop Spark after the last statistics are gathered."""
        try:
            self.stop()
        finally:
            stop_session()

    def _end(self) -> None:
        """Gather what is finished before the program ends, if Spark still runs."""
        if self._spark.sparkContext._jsc is not None:  # noqa: SLF001 - PySpark has no other way
            self.stop()

    def _forget(self) -> None:
        if self not in _followed:
            return
        _followed.remove(self)
        for restore in self._restores:
            restore()
        self._inbox.close()
        self._thread.join()
        atexit.unregister(self._end)

    def _run(self) -> None:
        while found := self._inbox.take():
            try:
                self._gather(found)
            except Exception as error:  # noqa: BLE001 - nothing may fail the session's jobs, or end this thread
                _log.warning("not_gathered", reason=str(error))
            finally:
                self._inbox.done()

    def _gather(self, found: Sequence[Write | Creation | Commit]) -> None:
        commits = Counter(each.table for each in found if isinstance(each, Commit))
        with connect(self._to.metastore, patience_seconds=self._to.patience_seconds) as service:
            told = (each for each in found if not isinstance(each, Commit))
            writes = [each for some in told for each in self._name_writes(service, some)]
            for table in dict.fromkeys(each.table for each in writes if each.table is not None):
                some = [each for each in writes if each.table == table]
                if all(each.failed for each in some) and table not in self._gatherer.remembered:
                    continue
                with turn_of_followed_session(table):
                    self._note(table, self._outcome(table, partial(self._gatherer.gather, service, table, some)))
            for table, count in commits.items():
                gather = partial(gather_commits, self._spark, self._to, service, table, count)
                self._note(table, self._outcome(table, gather))

    def _note(self, table: TableName, outcome: Written | None) -> None:
        """Remember the last outcome of a table, for the last 1,000 tables; None leaves the one before."""
        if outcome is None:
            return
        known = {name: each for name, each in self._outcomes.items() if name != table}
        self._outcomes = dict([*known.items(), (table, outcome)][-_MOST_OUTCOMES:])

    def _outcome(self, table: TableName, gather: Callable[[], Written | None]) -> Written | None:
        try:
            if not gather_settings(self._spark, {}, self._to.metastore).autogather:
                return Written(table, gathered=False, reason=f"{AUTOGATHER} is false")
            return gather()
        except Exception as error:  # noqa: BLE001 - errors of Spark and Py4J too are no fault of the job
            _log.warning("not_gathered", table=str(table), reason=str(error))
            return Written(table, gathered=False, reason=str(error))

    def _name_writes(self, service: Metastore, found: Write | Creation) -> Sequence[Write]:
        """The write itself; for a new table, the writes to its directory, which now get the table's name."""
        if isinstance(found, Write):
            return [found]
        table: Any = service.find_table(found.table)
        place = table.storage.location if table is not None else None
        return [replace(each, table=found.table) for each in self._inbox.take_unnamed(parse(place))] if place else []
