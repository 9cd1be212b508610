"""An analysis from beginning to end: plan, read in one pass on Spark, merge, publish, report."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from hmstats.client import Metastore, connect
from hmstats.collector.feeds import arrow, parquet
from hmstats.collector.feeds.states import State, States
from hmstats.collector.files import DataFile
from hmstats.collector.fingerprint import PARAMETER, fingerprint
from hmstats.collector.noscan import found_without_scan
from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.partition_spec import PartitionSpec
from hmstats.collector.plan import Plan
from hmstats.collector.prepare import Files, prepare
from hmstats.collector.progress import Progress, watched
from hmstats.collector.publish import publish
from hmstats.collector.report import Finding, Report
from hmstats.collector.splits import cut
from hmstats.collector.statement import statement
from hmstats.collector.stored import stored_total
from hmstats.errors import StatementError
from hmstats.model.catalog import DEFAULT_CATALOG, TableName
from hmstats.model.names import NULL_PARTITION_VALUE
from hmstats.sketch.accumulator import TableAccumulator

_SEPARATOR = "\0"
"""Stands between the values of a partition where they are one text; none of them holds it."""


def analyze(
    spark: SparkSession,
    table: str,
    *,
    metastore: str | None = None,
    columns: Sequence[str] | None = None,
    partitions: PartitionSpec | None = None,
    noscan: bool = False,
    row_counts: bool = False,
    changed_only: bool = False,
    options: Options = DEFAULT,
    progress: Progress | None = None,
) -> Report:
    """Compute the statistics of `[db.]table`, or of an ANALYZE TABLE statement, and push them to the metastore.

    `metastore` is `thrift://HOST:PORT`, by default the session's hive.metastore.uris. `columns`: only these.
    `partitions`: key to value (None: every value); with a value only the partitions that have it are analysed, and not
    the table as a whole. `noscan`: only count files and bytes, and with `row_counts` rows by the footers of Parquet
    files. `changed_only`: only partitions whose files changed since their statistics. `progress` is told how far it is.

    Raises StatementError, before any job starts, for what is not there; ServiceUnavailable and CallRefused.
    """
    request = statement(
        table, columns=columns, partitions=partitions, noscan=noscan, database=spark.catalog.currentDatabase()
    )
    seconds: dict[str, float] = {}
    with connect(metastore or session_metastore(spark)) as service:
        with _timed(seconds, "plan"):
            plan, files = prepare(service, request, options, changed_only=changed_only)
        if request.noscan:
            with _timed(seconds, "list"):
                pieces, whole = found_without_scan(plan, files, row_counts=row_counts)
        else:
            with _timed(seconds, "read"), watched(spark, progress, f"statistics of {plan.table}"):
                parts = _read(spark, plan, files)
            with _timed(seconds, "merge"):
                pieces, whole = _merged(service, plan, files, parts, options)
        with _timed(seconds, "publish"):
            publish(service, plan, pieces, whole)
    return _report(plan, files, pieces, whole, seconds)


def session_metastore(spark: SparkSession) -> str:
    """The session's hive.metastore.uris. Raises StatementError when it has none."""
    session = spark._jsparkSession  # noqa: SLF001 - hive-site.xml and all else that Spark reads is known there only
    uris = session.sessionState().newHadoopConf().get("hive.metastore.uris")
    if not uris:
        raise StatementError("the session has no hive.metastore.uris: name the metastore")
    return str(uris)


def _read(spark: SparkSession, plan: Plan, files: Files) -> Sequence[State]:
    if plan.parquet:
        tasks = cut(plan.pieces, files, spark.sparkContext.defaultParallelism)
        return parquet.states(spark, tasks, plan.types)
    return arrow.states(_rows(spark, plan), plan.keys, plan.types)


def _rows(spark: SparkSession, plan: Plan) -> DataFrame:
    """The table's rows, of the wanted partitions only."""
    rows = spark.table(_spark_name(plan.table))
    for key, value in plan.spec.items():
        column = F.col(f"`{key}`")
        if value is not None:
            rows = rows.where(column.isNull() if value == NULL_PARTITION_VALUE else column == value)
    if not plan.unchanged:
        return rows
    texts = [F.coalesce(F.col(f"`{key}`").cast("string"), F.lit(NULL_PARTITION_VALUE)) for key in plan.keys]
    wanted = [_SEPARATOR.join(piece.values) for piece in plan.pieces]
    return rows.where(F.concat_ws(_SEPARATOR, *texts).isin(wanted))


def _spark_name(table: TableName) -> str:
    """The table's name in Spark, where the metastore's own catalog is the one of the session."""
    parts = (table.database, table.table) if table.catalog == DEFAULT_CATALOG else astuple(table)
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def _merged(
    metastore: Metastore, plan: Plan, files: Files, parts: Sequence[State], options: Options
) -> tuple[dict[str, Finding], Finding | None]:
    """The finding of each piece, those without rows too, and of the table."""
    states = States(plan.types)
    states.merge(parts)
    pieces = {piece.name: _finding(states.of(piece.name), plan, files[piece.name], options) for piece in plan.pieces}
    if not plan.whole or (plan.unchanged and not plan.pieces):
        return pieces, None
    total = states.total()
    if plan.unchanged:
        others = stored_total(metastore, plan, plan.unchanged)
        if others is None:
            return pieces, None
        total = total.merge(others)
    every = [file for found in files.values() for file in found]
    return pieces, _finding(total, plan, every, options)


def _finding(accumulator: TableAccumulator, plan: Plan, files: Sequence[DataFile], options: Options) -> Finding:
    in_files = plan.has_files
    return Finding(
        rows=accumulator.rows,
        bytes=sum(file.bytes for file in files) if in_files else None,
        files=len(files) if in_files else None,
        columns=accumulator.statistics(plan.types),
        other={PARAMETER: fingerprint(files, plan.types, options)} if in_files else {},
    )


def _report(
    plan: Plan, files: Files, pieces: Mapping[str, Finding], whole: Finding | None, seconds: Mapping[str, float]
) -> Report:
    analysed = [file for name in pieces for file in files[name]]
    counted = [finding.rows for finding in pieces.values() if finding.rows is not None]
    return Report(
        table=plan.table,
        whole=whole,
        partitions=len(plan.pieces) if plan.keys else 0,
        rows=sum(counted) if counted or not pieces else None,
        skipped=plan.skipped,
        seconds=seconds,
        files=len(analysed),
        bytes=sum(file.bytes for file in analysed),
        unchanged=len(plan.unchanged),
        columns=tuple(plan.types),
    )


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - begin
