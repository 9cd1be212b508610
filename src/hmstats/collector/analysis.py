"""Runs an analysis from beginning to end: plans it, reads in one pass on Spark, delivers, reports.

The tasks deliver findings about partitions; the driver merges them and delivers the finding about the table.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from hmstats import tracing
from hmstats.client import Metastore, connect
from hmstats.collector.delivery.deliver import PATIENCE_SECONDS, Delivery, DeliveryResult, deliver, new_run
from hmstats.collector.delivery.waiting import waiting_reasons
from hmstats.collector.durations import measure
from hmstats.collector.findings.finding import file_finding, table_finding
from hmstats.collector.findings.without_scan import count_without_scan
from hmstats.collector.lake.analysis import analyze_lake
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.options import AS_PREFERRED, Choices, Options
from hmstats.collector.planning.hadoop_files import HadoopFiles
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.planning.preferred import apply_preferences
from hmstats.collector.planning.prepare import Files, check_changes, prepare
from hmstats.collector.report import Finding, Report, check_complete
from hmstats.collector.request.partition_spec import Partitions
from hmstats.collector.request.statement import Statement, statement
from hmstats.collector.scan.progress import Progress, report_progress
from hmstats.collector.scan.proof import check_placed, resolve_doubts
from hmstats.collector.scan.scan import scan
from hmstats.collector.scan.task_errors import translate_errors
from hmstats.collector.scan.tasks import Job, Outcome, finish_empty
from hmstats.collector.scan.workers_python import use_driver_python
from hmstats.collector.spark.cached_tables import forget_table
from hmstats.collector.spark.classic import require_classic
from hmstats.collector.spark.session_settings import hadoop_settings, session_metastore, session_spool
from hmstats.collector.spark.warehouses import warn_once


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of analyze() with the same names."""

    changed_only: bool
    row_counts: bool
    reliable: bool
    progress: Progress | None
    automatic: bool


def analyze(
    spark: SparkSession,
    table: str,
    *,
    metastore: str | None = None,
    columns: Sequence[str] | None = None,
    partitions: Partitions | None = None,
    where: str | None = None,
    noscan: bool = False,
    row_counts: bool = False,
    changed_only: bool = False,
    automatic: bool = False,
    past_locks: bool = False,
    options: Options | Choices = AS_PREFERRED,
    spool: str | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
    reliable: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Compute the statistics of `[db.]table`, or of an ANALYZE TABLE statement, and push them to the metastore.

    `metastore` is `thrift://HOST:PORT`, by default the session's hive.metastore.uris. `columns`: only these.
    `partitions`: key to value (None: every value), or names of partitions, of all keys or of some; if a value is given,
    only partitions that have it are analysed, and not the table as a whole. `where`: only partitions that match this
    filter over the partition keys, in Hive's language. `noscan`: only count files and bytes, and with `row_counts` rows
    by the footers of Parquet files. `changed_only`: only partitions whose files changed since their statistics, without
    those that are locked or that preferences or skip.stats.autoupdate keep from automatic analyses. `automatic`: leave
    out those too, even if their files changed; the guard looks at what is written, as with `changed_only`.
    `past_locks`: write locked statistics; otherwise an analysis of a locked table is refused. `options`: Options set
    everything; what Choices leave unset comes from the table's preferences. `progress` is called with the counts of
    finished work.

    If the metastore does not answer, calls are retried for `patience_seconds`; then the statistics go to the folder
    `spool`, a path or a URI that every executor can write. By default it is spark.hmstats.spool, or on one machine
    `hmstats-spool` in the working directory. Unreadable files are reported after all else was stored; with `reliable`
    the first one ends the analysis.

    Raises StatementError, before any job starts, for a missing table, column or partition, and for a session of Spark
    Connect; AnalysisIncomplete, with the report, if something could not be read or was refused; UnreadableFile;
    ServiceUnavailable, if there is no spool folder.
    """
    require_classic(spark, "analyze")
    use_driver_python(spark)
    database = spark.catalog.currentDatabase()
    request = statement(table, columns=columns, partitions=partitions, where=where, noscan=noscan, database=database)
    check_changes(request, changed_only=changed_only)
    uris = metastore or session_metastore(spark)
    folder = session_spool(spark, spool)
    by_itself = automatic or changed_only
    delivery = Delivery(
        request.table, (), uris, new_run(), folder, patience_seconds, past_locks=past_locks, automatic=by_itself
    )
    arguments = _Arguments(changed_only, row_counts, reliable, progress, automatic)
    tracing.start("hmstats analyze")
    with tracing.span(f"analyze {request.table}"), connect(uris) as service:
        try:
            return _analyze(spark, service, request, options, delivery, arguments)
        finally:
            forget_table(spark, request.table)


def _analyze(
    spark: SparkSession,
    service: Metastore,
    request: Statement,
    options: Options | Choices,
    delivery: Delivery,
    arguments: _Arguments,
) -> Report:
    """Analyse a table of files, or one of a lakehouse format, by its preferences."""
    wanted = apply_preferences(service, request, options, row_counts=arguments.row_counts)
    table = service.find_table(wanted.request.table)
    if table is not None and is_lake_table(table):
        return analyze_lake(
            service,
            table,
            wanted.request,
            wanted.options,
            replace(delivery, table=table.name),
            changed_only=arguments.changed_only,
            row_counts=wanted.row_counts,
            spark=spark,
            hadoop=hadoop_settings(spark),
        )
    arguments = replace(arguments, row_counts=wanted.row_counts)
    return _analyze_files(spark, service, wanted.request, wanted.options, delivery, arguments)


def _analyze_files(
    spark: SparkSession,
    service: Metastore,
    request: Statement,
    options: Options,
    delivery: Delivery,
    arguments: _Arguments,
) -> Report:
    """Analyse a table of files. `delivery` has no keys yet, and the table's name as it was given."""
    seconds: dict[str, float] = {}
    with measure(seconds, "plan"):
        plan, files = prepare(
            service,
            request,
            options,
            changed_only=arguments.changed_only,
            automatic=arguments.automatic,
            hadoop=hadoop_settings(spark),
            elsewhere=HadoopFiles(spark),
            past_locks=delivery.past_locks,
        )
    if plan.left_out is not None:
        return _report(plan, files, Outcome(0), None, seconds)
    warn_once(spark, service)
    delivery = replace(delivery, table=plan.table, keys=plan.keys)
    if request.noscan:
        with measure(seconds, "list"):
            outcome, whole = _count(delivery, plan, files, row_counts=arguments.row_counts)
            whole = None if plan.unlisted else whole
    else:
        with measure(seconds, "read"), translate_errors(), _hand_over(service, plan, delivery) as of_tasks:
            job = _job(spark, plan, files, options, of_tasks, reliable=arguments.reliable)
            outcome = _check_rows(spark, service, plan, job, _scan(spark, plan, files, job, arguments.progress))
        with measure(seconds, "merge"):
            total = outcome.total(plan.types)
            whole = None if outcome.failed or plan.unlisted else table_finding(service, plan, files, total, options)
    with measure(seconds, "publish"):
        outcome = outcome.merge(_deliver_table(delivery, plan, whole, options))
        delivered = {each.name for each in plan.pieces} | (set() if whole is None else {WHOLE_TABLE})
        held = waiting_reasons(service, plan.table, sorted(delivered))
    report = replace(_report(plan, files, outcome, whole, seconds), waiting=held)
    check_complete(report)
    return report


def _count(delivery: Delivery, plan: Plan, files: Files, *, row_counts: bool) -> tuple[Outcome, Finding | None]:
    """Count files and bytes, and deliver the findings about partitions."""
    pieces, whole = count_without_scan(plan, files, row_counts=row_counts)
    counted = [finding.rows for finding in pieces.values() if finding.rows is not None]
    delivered = deliver(delivery, pieces.items()) if plan.keys else DeliveryResult()
    rows_counted = sum(counted) if counted or not pieces else None
    return Outcome(rows_counted, delivered.spooled, refused=delivered.refused), whole


@contextmanager
def _hand_over(service: Metastore, plan: Plan, delivery: Delivery) -> Iterator[Delivery]:
    """The delivery for tasks, which have no Kerberos ticket; without partitions only the driver delivers."""
    if not plan.keys:
        yield delivery
        return
    with service.handing_over() as handed:
        yield replace(delivery, handed=handed)


def _job(spark: SparkSession, plan: Plan, files: Files, options: Options, delivery: Delivery, *, reliable: bool) -> Job:
    known = {piece.name: file_finding(plan, files[piece.name], options) for piece in plan.pieces}
    return Job(
        types=plan.types,
        options=options,
        known=spark.sparkContext.broadcast(known),
        delivery=delivery if plan.keys else None,
        whole=plan.whole,
        reliable=reliable,
        trace=tracing.elsewhere(),
    )


def _scan(spark: SparkSession, plan: Plan, files: Files, job: Job, progress: Progress | None) -> Outcome:
    """Read the rows, and deliver the findings about partitions."""
    with report_progress(
        spark, progress, f"statistics of {plan.table}", len(plan.pieces) if plan.keys else 0
    ) as counters:
        job = replace(job, counters=counters)
        return scan(spark, plan, files, job)


def _check_rows(spark: SparkSession, service: Metastore, plan: Plan, job: Job, outcome: Outcome) -> Outcome:
    """Check that every row belongs to a piece, and deliver pieces that really have no rows. Returns the new outcome."""
    check_placed(service, plan, outcome.strangers)
    empty, outcome = resolve_doubts(spark, plan, outcome)
    return outcome.merge(finish_empty(empty, job)) if empty else outcome


def _deliver_table(delivery: Delivery, plan: Plan, whole: Finding | None, options: Options) -> Outcome:
    """Deliver the finding about the table itself; without partitions, the one about its only piece."""
    if whole is None:
        return Outcome()
    partitions = {"numPartitions": str(len(plan.pieces) + len(plan.unchanged))} if plan.keys else {}
    finding = replace(whole, other={**whole.other, **partitions})
    delivered = deliver(delivery, [(WHOLE_TABLE, finding)], options.sample_fraction)
    return Outcome(0, delivered.spooled, refused=delivered.refused)


def _report(plan: Plan, files: Files, outcome: Outcome, whole: Finding | None, seconds: Mapping[str, float]) -> Report:
    analysed = [file for piece in plan.pieces for file in files[piece.name] if piece.name not in outcome.failed]
    return Report(
        table=plan.table,
        whole=whole,
        partitions=len(plan.pieces) - len(outcome.failed) if plan.keys else 0,
        rows=outcome.rows,
        skipped=plan.skipped,
        seconds=seconds,
        files=len(analysed),
        bytes=sum(file.bytes for file in analysed),
        unchanged=len(plan.unchanged),
        locked=tuple(each.name for each in plan.locked),
        left=plan.left_out,
        columns=tuple(plan.types),
        failed={**outcome.failed, **outcome.refused, **{piece.name: reason for piece, reason in plan.unlisted}},
        spooled=outcome.spooled,
        reads=outcome.reads if "read" in seconds else None,
    )
