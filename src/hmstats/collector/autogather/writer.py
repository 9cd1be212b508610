"""Writes DataFrames to tables and gathers the tables' statistics meanwhile, without a second scan.

The files are those of a plain write. hive.stats.reliable decides whether a failure to gather fails the write.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from hmstats.client import Metastore, connect
from hmstats.client.connection.credentials import NOTHING, HandedOver
from hmstats.client.naming import named_table
from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.outcome import PutResult, mark_stale, put_statistics
from hmstats.collector.autogather.publishers.protocols import Run
from hmstats.collector.autogather.publishers.registry import publisher_and_aggregator
from hmstats.collector.autogather.settings import RELIABLE, ROWS, gather_settings
from hmstats.collector.autogather.strategies import GatheringStrategy, NewFiles, WatchedRows
from hmstats.collector.autogather.table_state import TableState, check_alone, read_table_state
from hmstats.collector.autogather.target import Target, new_table, stored_table
from hmstats.collector.autogather.turns import turn_of_write
from hmstats.collector.autogather.watched_rows import SURVIVABLE, Gathering
from hmstats.collector.delivery.deliver import PATIENCE_SECONDS, Delivery, new_run
from hmstats.collector.options import DEFAULT
from hmstats.collector.planning.locked import locks_of, sentence
from hmstats.collector.planning.plan import check_folder, check_provider
from hmstats.collector.planning.preferred import PreferredRequest, preferred_of_writes
from hmstats.collector.request.statement import Statement
from hmstats.collector.scan.task_errors import translate_errors
from hmstats.collector.scan.workers_python import use_driver_python
from hmstats.collector.spark.cached_tables import forget_table
from hmstats.collector.spark.classic import require_classic
from hmstats.collector.spark.session_settings import hadoop_settings, session_metastore, session_spool
from hmstats.errors import GatheringFailed, StatementError
from hmstats.files.file_systems import Settings, settings_of
from hmstats.model.catalog.location import parts_of
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.statistics_locks import table_lock
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")

Write = Callable[[DataFrame], None]
"""Runs the write itself with the given rows."""


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a successful write.

    If `gathered`, the statistics after the write are stored; else `reason` tells why not, and the parameters mark the
    stored ones as inaccurate. `rows` is the number of written rows, None if they were not counted; `partitions` is the
    number of partitions written to. `spooled` is the number of partitions, including the table itself, whose statistics
    are in the spool folder.
    """

    table: TableName
    gathered: bool
    rows: int | None = None
    partitions: int = 0
    reason: str | None = None
    spooled: int = 0


@dataclass(frozen=True, slots=True)
class _Order:
    """A write to run. `keeps`: some old rows of the table remain; `appends`: all old rows remain."""

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
    win over the session's. `spool` and `patience_seconds` are those of analyze().

    Raises StatementError for a session of Spark Connect, and SettingsError.
    """
    return Writing(rows, metastore, settings or {}, spool, patience_seconds)


class Writing:
    """Writes one DataFrame, by one call of a method or several.

    Every method raises the errors of Spark's own write; SettingsError and StatementError before anything is written;
    and, with hive.stats.reliable, GatheringFailed if the statistics are incomplete.
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
        require_classic(self._spark, "writer")
        use_driver_python(self._spark)
        self._metastore = metastore or session_metastore(self._spark)
        self._settings = gather_settings(self._spark, settings, self._metastore)
        self._spool = session_spool(self._spark, spool)
        self._patience_seconds = patience_seconds
        self._hadoop = hadoop_settings(self._spark)

    def save_table(
        self,
        name: str,
        *,
        mode: str = "error",
        format: str | None = None,  # noqa: A002 - Spark's name
        partition_by: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> Written:
        """Write as DataFrameWriter.saveAsTable.

        `mode` is error, ignore, append or overwrite, which recreates the table.
        """
        check_provider(name, format)
        there = self._spark.catalog.tableExists(name)
        if mode == "ignore" and there:
            return Written(self._table_name(name), gathered=False, reason="the table is there: nothing was written")
        appends = mode == "append" and there

        def write(rows: DataFrame) -> None:
            writer = rows.write.mode(mode).options(**(options or {}))
            writer = writer.format(format) if format else writer
            (writer.partitionBy(*partition_by) if partition_by else writer).saveAsTable(name)

        target = self._existing_target(name, by_position=False) if appends else new_table(self._rows, partition_by)
        return self._run_order(_Order(self._table_name(name), target, write, keeps=appends, appends=appends))

    def insert_into(self, name: str, *, overwrite: bool = False) -> Written:
        """Write as DataFrameWriter.insertInto: columns are matched by position, the partition keys last.

        spark.sql.sources.partitionOverwriteMode decides whether `overwrite` replaces all partitions or the written
        ones.
        """

        def write(rows: DataFrame) -> None:
            rows.write.insertInto(name, overwrite=overwrite)

        target = self._existing_target(name, by_position=True)
        return self._run_order(_Order(self._table_name(name), target, write, keeps=True, appends=not overwrite))

    def write_to(self, name: str, how: str, *, using: str | None = None, partitioned_by: Sequence[str] = ()) -> Written:
        """Write as DataFrame.writeTo: `how` is create, replace, create_or_replace, append or overwrite_partitions.

        `using` and `partitioned_by`, names of columns, describe a table that is created.
        """
        actions = {
            "create": "create",
            "replace": "replace",
            "create_or_replace": "createOrReplace",
            "append": "append",
            "overwrite_partitions": "overwritePartitions",
        }
        if how not in actions:
            raise StatementError(f"the way to write must be one of {', '.join(actions)}, found {how!r}")
        check_provider(name, using)

        def write(rows: DataFrame) -> None:
            writer = rows.writeTo(name)
            writer = writer.using(using) if using else writer
            getattr(writer.partitionedBy(*partitioned_by) if partitioned_by else writer, actions[how])()

        keeps = how in ("append", "overwrite_partitions")
        target = self._existing_target(name, by_position=False) if keeps else new_table(self._rows, partitioned_by)
        return self._run_order(_Order(self._table_name(name), target, write, keeps=keeps, appends=how == "append"))

    def _table_name(self, name: str) -> TableName:
        return named_table(name, self._spark.catalog.currentDatabase())

    def _existing_target(self, name: str, *, by_position: bool) -> Target:
        """The target for an existing table. Raises StatementError if the metastore has no such table."""
        with connect(self._metastore, patience_seconds=self._patience_seconds) as service:
            table = service.existing_table(self._table_name(name))
        check_folder(table)
        keys = [key.name.lower() for key in table.partition_keys]
        return stored_table(self._rows, self._spark.table(name), keys, by_position=by_position)

    def _run_order(self, order: _Order) -> Written:
        settings = self._settings
        if not settings.autogather:
            order.write(self._rows)
            return Written(order.table, gathered=False, reason="hive.stats.autogather is false")
        publisher, aggregator = publisher_and_aggregator(settings.dbclass)
        run = Run(new_run(), settings.connection, settings.retention_hours, self._folder_settings(settings.connection))
        keys = order.target.keys
        delivery = Delivery(order.table, keys, self._metastore, run.id, self._spool, self._patience_seconds)
        with connect(self._metastore, patience_seconds=self._patience_seconds) as service, ExitStack() as while_writing:
            wanted = self._read_preferences(service, order.table)
            order = replace(order, target=order.target.only(wanted.request))
            strategy: GatheringStrategy = NewFiles(self._spark, order.target, keeps=order.keeps, appends=order.appends)
            if settings.reads == ROWS:
                run = replace(run, handed=self._hand_over(service, while_writing))
                gathering = Gathering(run, publisher, order.target.types, keys, wanted.options, settings.reliable)
                strategy = WatchedRows(order.target, gathering, aggregator())
            try:
                with turn_of_write(order.table):
                    return self._gather(service, delivery, order, wanted, strategy)
            finally:
                forget_table(self._spark, order.table)

    def _read_preferences(self, service: Metastore, table: TableName) -> PreferredRequest:
        """The table's preferences; the defaults if they cannot be read, so that the rows are written anyway."""
        try:
            return preferred_of_writes(service, table)
        except SURVIVABLE as error:
            self._refuse_if_reliable(error)
            _log.warning("preferences_not_read", table=str(table), reason=str(error))
            return PreferredRequest(Statement(table), DEFAULT, row_counts=False)

    def _hand_over(self, service: Metastore, while_writing: ExitStack) -> HandedOver:
        """The credentials for tasks; none if the metastore gives no token, so that the rows are written anyway."""
        try:
            return while_writing.enter_context(service.handing_over())
        except SURVIVABLE as error:
            self._refuse_if_reliable(error)
            _log.warning("no_token_for_tasks", reason=str(error))
            return NOTHING

    def _gather(
        self,
        service: Metastore,
        delivery: Delivery,
        order: _Order,
        wanted: PreferredRequest,
        strategy: GatheringStrategy,
    ) -> Written:
        before = TableState()
        try:
            before = strategy.before(service, wanted, self._hadoop) if order.keeps else before
            strategy.begin()
            held = table_lock(locks_of(service, order.table)) if order.keeps else None
        except SURVIVABLE as error:
            self._refuse_if_reliable(error)
            order.write(self._rows)
            return self._report_ungathered(service, delivery, wanted, before, error)
        if held is not None:
            strategy.end()
            order.write(self._rows)
            return self._report_ungathered(
                service, delivery, wanted, before, StatementError(sentence(order.table, held))
            )
        try:
            with translate_errors():
                order.write(strategy.through(self._rows))
            now = None
            try:
                before, now = strategy.after(service, wanted, self._hadoop, before)
                return _put_statistics(service, delivery, before, now, strategy.pieces(before, now), order)
            except SURVIVABLE as error:
                written = self._report_ungathered(service, delivery, wanted, before, error, now)
                self._refuse_if_reliable(error)
                return written
        finally:
            strategy.end()

    def _folder_settings(self, connection: str) -> Settings:
        """Hadoop's settings for the file system of a folder of states."""
        return settings_of([parts_of(connection)[:2]], self._hadoop)

    def _refuse_if_reliable(self, error: Exception) -> None:
        if self._settings.reliable:
            raise GatheringFailed(f"statistics were not gathered, and {RELIABLE} is true: {error}") from error

    def _report_ungathered(
        self,
        service: Metastore,
        delivery: Delivery,
        wanted: PreferredRequest,
        before: TableState,
        error: Exception,
        now: TableState | None = None,
    ) -> Written:
        """Report a write without statistics: mark the stored ones as inaccurate, log and return the reason."""
        _log.warning("not_gathered", table=str(delivery.table), reason=str(error))
        try:
            mark_stale(delivery, before, now or read_table_state(service, wanted, self._hadoop))
        except SURVIVABLE as failure:
            _log.warning("not_said", table=str(delivery.table), reason=str(failure))
        return Written(delivery.table, gathered=False, reason=str(error))


def _put_statistics(
    service: Metastore,
    delivery: Delivery,
    before: TableState,
    now: TableState,
    pieces: Iterable[WrittenPiece],
    order: _Order,
) -> Written:
    """Store the statistics after the write. Raises GatheringFailed, ServiceUnavailable."""
    check_alone(before, now)
    stored = put_statistics(service, delivery, before, now, pieces, order.target.types, appends=order.appends)
    check_accepted(stored)
    return Written(order.table, True, stored.rows, stored.pieces, None, stored.delivered.spooled)


def check_accepted(stored: PutResult) -> None:
    """Raises GatheringFailed if the metastore has refused something."""
    for piece, refusal in stored.delivered.refused.items():
        raise GatheringFailed(f"the metastore refused the statistics of {piece or 'the table itself'}: {refusal}")
