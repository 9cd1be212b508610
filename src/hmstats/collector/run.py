"""An analysis from beginning to end: plan, read in one pass on Spark, merge, publish, report."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from hmstats.client import connect
from hmstats.collector.feeds import arrow, parquet
from hmstats.collector.feeds.states import State, States
from hmstats.collector.files import DataFile, data_files
from hmstats.collector.partition_spec import PartitionSpec
from hmstats.collector.plan import Plan, make_plan
from hmstats.collector.progress import Progress, watched
from hmstats.collector.publish import publish
from hmstats.collector.report import Finding, Report
from hmstats.collector.splits import cut
from hmstats.collector.statement import statement
from hmstats.errors import StatementError
from hmstats.sketch.accumulator import TableAccumulator

Files = Mapping[str, Sequence[DataFile]]
"""The data files of each piece, by its name."""


def analyze(
    spark: SparkSession,
    table: str,
    *,
    metastore: str | None = None,
    columns: Sequence[str] | None = None,
    partitions: PartitionSpec | None = None,
    progress: Progress | None = None,
) -> Report:
    """Compute the statistics of `[db.]table` and push them to the metastore.

    `metastore` is `thrift://HOST:PORT`, by default the session's hive.metastore.uris. `columns`: only these.
    `partitions`: key to value (None: every value); with a value only the partitions that have it are analysed, and not
    the table as a whole. `progress` is told the tasks done and in all.

    Raises StatementError, before any job starts, for what is not there; ServiceUnavailable and CallRefused.
    """
    request = statement(table, columns=columns, partitions=partitions, database=spark.catalog.currentDatabase())
    seconds: dict[str, float] = {}
    with connect(metastore or session_metastore(spark)) as service:
        with _timed(seconds, "plan"):
            plan = make_plan(service, request)
            files = {piece.name: data_files(piece.location) for piece in plan.pieces}
        with _timed(seconds, "read"), watched(spark, progress, f"statistics of {plan.table}"):
            parts = _read(spark, plan, files)
        with _timed(seconds, "merge"):
            pieces, whole = _merged(plan, files, parts)
        with _timed(seconds, "publish"):
            publish(service, plan, pieces, whole)
    rows = sum(finding.rows for finding in pieces.values())
    return Report(plan.table, whole, len(plan.pieces) if plan.keys else 0, rows, plan.skipped, seconds)


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
    rows = spark.table(f"`{plan.table.database}`.`{plan.table.table}`")
    for key, value in plan.spec.items():
        if value is not None:
            rows = rows.where(F.col(f"`{key}`").cast("string").eqNullSafe(value or None))
    return rows


def _merged(plan: Plan, files: Files, parts: Sequence[State]) -> tuple[dict[str, Finding], Finding | None]:
    """The finding of each piece, those without rows too, and of the table."""
    states = States(plan.types)
    states.merge(parts)
    pieces = {piece.name: _finding(states.of(piece.name), plan, files[piece.name]) for piece in plan.pieces}
    if not plan.whole:
        return pieces, None
    every = [file for found in files.values() for file in found]
    return pieces, _finding(states.total(), plan, every)


def _finding(accumulator: TableAccumulator, plan: Plan, files: Sequence[DataFile]) -> Finding:
    in_files = plan.has_files
    return Finding(
        rows=accumulator.rows,
        bytes=sum(file.bytes for file in files) if in_files else None,
        files=len(files) if in_files else None,
        columns=accumulator.statistics(plan.types),
    )


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - begin
