"""Writes DataFrames to tables and gathers the tables' statistics meanwhile, without a second scan.

The files are those that a plain write makes. What a failure to gather means, hive.stats.reliable decides.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from pyspark.sql import DataFrame

from hmstats.client import Metastore, connect
from hmstats.client.naming import named_table
from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.outcome import Stored, give_up, store
from hmstats.collector.autogather.settings import RELIABLE, ROWS, gather_settings
from hmstats.collector.autogather.situation import Situation, situation
from hmstats.collector.autogather.target import Target, new_table, stored_table
from hmstats.collector.autogather.tee import Gathering, Survived
from hmstats.collector.autogather.ways import NewFiles, WatchedRows, Way
from hmstats.collector.deliver import PATIENCE_SECONDS, Delivery, new_run
from hmstats.collector.publishers.protocols import Run
from hmstats.collector.publishers.registry import publisher_and_aggregator
from hmstats.collector.session_settings import session_metastore, session_spool
from hmstats.collector.task_errors import as_our_own
from hmstats.errors import GatheringFailed, StatementError
from hmstats.model.catalog import TableName

_log = structlog.get_logger("hmstats.autogather")

Write = Callable[[DataFrame], None]
"""Does the write itself, with the rows that it is given."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a write, which has succeeded in any case.

    `gathered`: the statistics of what was written are stored; else `reason` says why not, and the parameters say that
    those stored are not accurate. `rows` is how many were written, None where nobody counted; `partitions` to how many.
    `spooled` is how many partitions, the table itself among them, are in the spool folder.
    """

    table: TableName
    gathered: bool
    rows: int | None = None
    partitions: int = 0
    reason: str | None = None
    spooled: int = 0


@dataclass(frozen=True, slots=True)
class _Order:
    """A write to do. `keeps`: of the table as it was something remains; `appends`: in every partition."""

    table: TableName
    target: Target
    write: Write
    keeps: bool = False
    appends: bool = False


def writing(
    rows: DataFrame,
    *,
    metastore: str | None = None,
    settings: Mapping[str, object] | None = None,
    spool: str | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
) -> "Writing":
    """A writer of these rows that gathers statistics.

    `metastore` is `thrift://HOST:PORT`, by default the session's hive.metastore.uris. `settings` are hive.stats.* and
    win over the session's. `spool` and `patience_seconds` are as analyze() has them.
    """
    return Writing(rows, metastore, settings or {}, spool, patience_seconds)


class Writing:
    """Writes one DataFrame, each method once or more often.

    Every method raises what Spark's own write raises; SettingsError and StatementError before anything is written;
    and, with hive.stats.reliable, GatheringFailed when the statistics are not whole.
    """

    def __init__(
        self,
        rows: DataFrame,
        metastore: str | None,
        settings: Mapping[str, object],
        spool: str | None,
        patience_seconds: float,
    ) -> None:
        self._rows = rows
        self._spark = rows.sparkSession
        self._metastore = metastore or session_metastore(self._spark)
        self._settings = gather_settings(self._spark, settings, self._metastore)
        self._spool = session_spool(self._spark, spool)
        self._patience_seconds = patience_seconds

    def save_table(
        self,
        name: str,
        *,
        mode: str = "error",
        format: str | None = None,  # noqa: A002 - Spark's name
        partition_by: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> Written:
        """As DataFrameWriter.saveAsTable: `mode` is error, ignore, append or overwrite, which makes the table anew."""
        there = self._spark.catalog.tableExists(name)
        if mode == "ignore" and there:
            return Written(self._named(name), gathered=False, reason="the table is there: nothing was written")
        appends = mode == "append" and there

        def write(rows: DataFrame) -> None:
            writer = rows.write.mode(mode).options(**(options or {}))
            writer = writer.format(format) if format else writer
            (writer.partitionBy(*partition_by) if partition_by else writer).saveAsTable(name)

        target = self._stored(name, by_position=False) if appends else new_table(self._rows, partition_by)
        return self._do(_Order(self._named(name), target, write, keeps=appends, appends=appends))

    def insert_into(self, name: str, *, overwrite: bool = False) -> Written:
        """As DataFrameWriter.insertInto: columns count by their place, the partition keys last.

        spark.sql.sources.partitionOverwriteMode says whether `overwrite` replaces all or what it writes to.
        """

        def write(rows: DataFrame) -> None:
            rows.write.insertInto(name, overwrite=overwrite)

        target = self._stored(name, by_position=True)
        return self._do(_Order(self._named(name), target, write, keeps=True, appends=not overwrite))

    def write_to(self, name: str, how: str, *, using: str | None = None, partitioned_by: Sequence[str] = ()) -> Written:
        """As DataFrame.writeTo: `how` is create, replace, create_or_replace, append or overwrite_partitions.

        `using` and `partitioned_by`, names of columns, are of a table that is made.
        """
        actions = {
            "create": "create",
            "replace": "replace",
            "create_or_replace": "createOrReplace",
            "append": "append",
            "overwrite_partitions": "overwritePartitions",
        }
        if how not in actions:
            raise StatementError(f"how to write is one of {', '.join(actions)}, found {how!r}")

        def write(rows: DataFrame) -> None:
            writer = rows.writeTo(name)
            writer = writer.using(using) if using else writer
            getattr(writer.partitionedBy(*partitioned_by) if partitioned_by else writer, actions[how])()

        keeps = how in ("append", "overwrite_partitions")
        target = self._stored(name, by_position=False) if keeps else new_table(self._rows, partitioned_by)
        return self._do(_Order(self._named(name), target, write, keeps=keeps, appends=how == "append"))

    def _named(self, name: str) -> TableName:
        return named_table(name, self._spark.catalog.currentDatabase())

    def _stored(self, name: str, *, by_position: bool) -> Target:
        """What becomes of the rows in a table that is there. Raises StatementError when the metastore has none."""
        with connect(self._metastore, patience_seconds=self._patience_seconds) as service:
            table = service.find_table(self._named(name))
        if table is None:
            raise StatementError(f"table {name} is not in the metastore at {self._metastore}")
        keys = [key.name.lower() for key in table.partition_keys]
        return stored_table(self._rows, self._spark.table(name), keys, by_position=by_position)

    def _do(self, order: _Order) -> Written:
        settings = self._settings
        if not settings.autogather:
            order.write(self._rows)
            return Written(order.table, gathered=False, reason="hive.stats.autogather is false")
        publisher, aggregator = publisher_and_aggregator(settings.dbclass)
        run = Run(new_run(), settings.connection, settings.retention_hours)
        keys, types = order.target.keys, order.target.types
        to = Delivery(order.table, keys, self._metastore, run.id, self._spool, self._patience_seconds)
        way: Way = NewFiles(self._spark, order.table)
        if settings.reads == ROWS:
            gathering = Gathering(run, publisher, types, keys, settings.reliable)
            way = WatchedRows(order.target, gathering, aggregator())
        with connect(self._metastore, patience_seconds=self._patience_seconds) as service:
            return self._gather(service, to, order, way)

    def _gather(self, service: Metastore, to: Delivery, order: _Order, way: Way) -> Written:
        before = Situation()
        try:
            before = situation(service, order.table) if order.keeps else before
            way.begin()
        except Survived as error:
            self._refuse_if_reliable(error)
            order.write(self._rows)
            return self._without(service, to, before, error)
        try:
            with as_our_own():
                order.write(way.through(self._rows))
            try:
                return _stored(service, to, before, way.pieces(service, before), order)
            except Survived as error:
                written = self._without(service, to, before, error)
                self._refuse_if_reliable(error)
                return written
        finally:
            way.end()

    def _refuse_if_reliable(self, error: Exception) -> None:
        if self._settings.reliable:
            raise GatheringFailed(f"statistics were not gathered, and {RELIABLE} is true: {error}") from error

    def _without(self, service: Metastore, to: Delivery, before: Situation, error: Exception) -> Written:
        """What is said of a write whose statistics are not known: to the metastore, to the log, to the caller."""
        _log.warning("not_gathered", table=str(to.table), reason=str(error))
        try:
            give_up(service, to, before)
        except Survived as failure:
            _log.warning("not_said", table=str(to.table), reason=str(failure))
        return Written(to.table, gathered=False, reason=str(error))


def _stored(
    service: Metastore, to: Delivery, before: Situation, pieces: Iterable[WrittenPiece], order: _Order
) -> Written:
    """Store the statistics of what was written. Raises GatheringFailed, ServiceUnavailable."""
    stored = store(service, to, before, pieces, order.target.types, appends=order.appends)
    _check_accepted(stored)
    return Written(order.table, True, stored.rows, stored.pieces, None, stored.delivered.spooled)


def _check_accepted(stored: Stored) -> None:
    for piece, sentence in stored.delivered.refused.items():
        raise GatheringFailed(f"the metastore refused the statistics of {piece or 'the table itself'}: {sentence}")
