"""Runs a check from beginning to end: plans it, reads a sample on Spark, compares, reports."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any
from zlib import crc32

from pyspark.sql import SparkSession

from hmstats.client import connect
from hmstats.client.tables.stored_statistics import StoredStatistics, own_statistics
from hmstats.collector.checking.groups import GroupSums
from hmstats.collector.checking.judge import judge_columns, judge_files
from hmstats.collector.checking.lake import check_lake
from hmstats.collector.checking.report import CheckReport, Tally
from hmstats.collector.checking.seen import Seen
from hmstats.collector.checking.tasks import CheckJob, CheckOutcome, compare, merge_parts, no_rows, read_tasks
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.options import MOST_PRECISION, Options
from hmstats.collector.planning.hadoop_files import HadoopFiles
from hmstats.collector.planning.plan import Plan, resolve_table
from hmstats.collector.planning.prepare import Files, check_listed, prepare
from hmstats.collector.request.partition_spec import Partitions
from hmstats.collector.request.statement import statement
from hmstats.collector.scan import dataframe
from hmstats.collector.scan.files.splits import TASKS_PER_CORE, cut
from hmstats.collector.scan.placing import check_twins
from hmstats.collector.scan.progress import Progress, report_progress
from hmstats.collector.scan.proof import check_placed
from hmstats.collector.scan.rows import rows
from hmstats.collector.scan.scan import check_manifests, each_as_stored, place_states, split_by_reader
from hmstats.collector.scan.task_errors import translate_errors, translate_reading
from hmstats.collector.scan.workers_python import use_driver_python
from hmstats.collector.spark.classic import require_classic
from hmstats.collector.spark.cores import expected_cores
from hmstats.collector.spark.session_settings import hadoop_settings, session_metastore
from hmstats.errors import StatementError

SAMPLE_FRACTION = 0.1


def check(
    spark: SparkSession,
    table: str,
    *,
    metastore: str | None = None,
    columns: Sequence[str] | None = None,
    partitions: Partitions | None = None,
    where: str | None = None,
    sample_fraction: float = SAMPLE_FRACTION,
    tolerance: float = 0.0,
    progress: Progress | None = None,
) -> CheckReport:
    """Read a sample of `[db.]table` and say which of its stored statistics are wrong. Nothing is changed.

    `metastore`, `columns`, `partitions` and `where` are as in `analyze`. `sample_fraction`: the part of the rows that
    is read, by row groups of Parquet files and by rows of anything else; 1 compares everything. `tolerance`: the
    allowed error beyond a number's stated one, as a part of the number, or for a bound of the range of the values.

    Raises StatementError, before any job starts, for missing objects, invalid arguments and a session of Spark
    Connect; UnreadableFile; ServiceUnavailable.
    """
    options = check_options(sample_fraction, tolerance)
    require_classic(spark, "check")
    use_driver_python(spark)
    request = statement(
        table, columns=columns, partitions=partitions, where=where, database=spark.catalog.currentDatabase()
    )
    uris = metastore or session_metastore(spark)
    with connect(uris) as service:
        hadoop = hadoop_settings(spark)
        table_of_metastore = service.find_table(request.table)
        if table_of_metastore is not None and is_lake_table(table_of_metastore):
            return check_lake(service, table_of_metastore, request, options, tolerance, spark=spark, hadoop=hadoop)
        elsewhere = HadoopFiles(spark)
        plan, files = prepare(
            service, request, options, changed_only=False, hadoop=hadoop, elsewhere=elsewhere, past_locks=True
        )
        check_listed(plan)
        stored = own_statistics(service, resolve_table(service, request))
        job = CheckJob(uris, stored.table, plan.types, options, tolerance, whole=_judges_table(plan, stored))
        with (
            report_progress(spark, progress, f"check of {plan.table}"),
            translate_errors(),
            service.handing_over() as handed,
        ):
            found = _scan(spark, plan, files, replace(job, handed=handed))
        known = {piece.name for piece in plan.pieces}
        unknown = {name: rows for each in found for name, rows in each.unknown.items() if name not in known}
        check_placed(service, plan, unknown)
    tally = reduce(Tally.merge, (each.tally for each in found), _of_files(plan, files, stored, tolerance))
    if job.whole:
        tally = tally.merge(_of_table(plan, stored, found, job))
    return CheckReport(plan.table, tally, plan.skipped)


def check_options(sample_fraction: float, tolerance: float) -> Options:
    """The options of a check. Raises StatementError for an invalid value."""
    if not tolerance >= 0:
        raise StatementError(f"a tolerance must be 0 or more, found {tolerance}")
    return Options(sample_fraction=sample_fraction, precision=MOST_PRECISION)


def _judges_table(plan: Plan, stored: StoredStatistics) -> bool:
    """Whether the table's own numbers are compared: there are some, and all partitions are read."""
    known = stored.table_statistics().rows is not None or bool(stored.statistics.columns)
    return plan.whole and (known or not plan.keys)


def _scan(spark: SparkSession, plan: Plan, files: Files, job: CheckJob) -> list[CheckOutcome]:
    """Read every piece: Parquet files directly, all others as rows that Spark reads."""
    context, empty = spark.sparkContext, no_rows(job).part()
    check_manifests(spark, plan)
    in_files, others = split_by_reader(plan, files, orc=False)
    records = context.parallelize([piece.name for piece in plan.pieces]).map(lambda piece: (piece, empty))
    splits = cut(in_files, files, expected_cores(context), job.options, plan.settings)
    if splits:
        records = records.union(context.parallelize(splits, len(splits)).mapPartitions(partial(read_tasks, job=job)))
    if not others:
        return _compare(records, plan, job)
    rest = replace(plan, pieces=others, unchanged=in_files)
    check_twins(rest.key_columns, others)
    with translate_reading(plan.table.typed), each_as_stored(spark, plan):
        states = place_states(dataframe.states(rows(spark, rest), plan.keys, plan.types, job.options), rest)
        return _compare(records.union(states.map(lambda record: (record[0], (record[1], None)))), plan, job)


def _compare(records: Any, plan: Plan, job: CheckJob) -> list[CheckOutcome]:
    """Merge the parts of each piece and compare them, in tasks."""
    tasks = max(1, min(len(plan.pieces), TASKS_PER_CORE * expected_cores(records.context)))
    pieces = records.reduceByKey(merge_parts, tasks, lambda piece: crc32(piece.encode()))
    return list(pieces.mapPartitions(partial(compare, job=job)).collect())


def _of_files(plan: Plan, files: Files, stored: StoredStatistics, tolerance: float) -> Tally:
    """Judge the numbers of files and bytes of the partitions and, if all of them are listed, of the table."""
    if not plan.has_files:
        return Tally()
    sizes = {piece: [file.bytes for file in found] for piece, found in files.items()}
    pieces = plan.pieces if plan.keys else ()
    parts = (judge_files(each.name, each.parameters, sizes[each.name], tolerance) for each in pieces)
    tally = reduce(Tally.merge, parts, Tally())
    every = [size for found in sizes.values() for size in found]
    return tally.merge(judge_files(None, stored.parameters, every, tolerance)) if plan.whole else tally


def _of_table(plan: Plan, stored: StoredStatistics, found: Sequence[CheckOutcome], job: CheckJob) -> Tally:
    """Judge the table's own numbers.

    Samples of several partitions are no sample of the table, so nothing is extrapolated.
    """
    totals = (Seen.from_part(each.total) for each in found if each.total is not None)
    total = reduce(Seen.merge, totals, no_rows(job))
    if plan.keys:
        return judge_columns(
            stored.table_statistics(), replace(total, groups=GroupSums.empty(len(plan.types))), job.tolerance
        )
    bare = 0 if stored.statistics.columns else 1
    return judge_columns(stored.table_statistics(), total, job.tolerance).merge(
        Tally(targets=1, without_statistics=bare)
    )
