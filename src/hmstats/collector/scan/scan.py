"""The Spark job of an analysis: splits the work, runs the tasks, and merges their outcomes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import Any
from zlib import crc32

from pyspark.sql import DataFrame, SparkSession

from hmstats.client.connection.batches import batches
from hmstats.collector.planning.data_files import missing_locations
from hmstats.collector.planning.pieces import WHOLE_TABLE, Piece
from hmstats.collector.planning.plan import BY_PLACE, PARQUET, Plan
from hmstats.collector.planning.prepare import Files
from hmstats.collector.scan import dataframe
from hmstats.collector.scan.files.splits import TASKS_PER_CORE, Split, cut
from hmstats.collector.scan.placing import Placing, placing, twin_sentence
from hmstats.collector.scan.row_proof import check_rows
from hmstats.collector.scan.rows import rows
from hmstats.collector.scan.states import State
from hmstats.collector.scan.task_errors import translate_reading
from hmstats.collector.scan.tasks import ROWS_TAKEN, Failure, Job, Outcome, Record, Task, merge_records, read_tasks
from hmstats.collector.spark.cores import expected_cores
from hmstats.collector.spark.input_bytes import InputBytes, count_input_bytes
from hmstats.collector.spark.session_settings import hadoop_settings
from hmstats.errors import StatementError
from hmstats.files.counted_reads import ReadCount, Reads
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.sketch.accumulator import TableAccumulator

_AS_PARQUET = "spark.sql.hive.convertMetastoreParquet"
_AS_STORED = ((_AS_PARQUET, "true"), ("spark.sql.caseSensitive", "false"))
"""Settings that are false while Spark reads what a metastore describes, with their defaults."""
_WITH_KEYS = (("spark.sql.ansi.enabled", "true"), ("spark.sql.hive.metastorePartitionPruning", "true"))
"""Settings that are false too while Spark reads partitions, with their defaults."""
_EMPTY_PIECES_A_TASK = 1000
MOST_STATES_AT_DRIVER = 32
"""The most states of a whole table, some hundred kilobytes each, that the driver merges; more are merged in tasks."""


def scan(spark: SparkSession, plan: Plan, files: Files, job: Job) -> Outcome:
    """Read every piece: Parquet and ORC files directly, all others as rows that Spark reads.

    ORC files that cannot be read directly are read by Spark too. Delivers all findings but the table's own.
    """
    check_manifests(spark, plan)
    in_files, others = split_by_reader(plan, files, orc=_reads_orc(spark, plan))
    outcome = scan_files(spark, replace(plan, pieces=tuple(each for each in in_files if not each.orc)), files, job)
    orc = tuple(each for each in in_files if each.orc)
    if orc:
        found = scan_files(spark, replace(plan, pieces=orc), files, replace(job, reliable=False))
        others += tuple(each for each in orc if each.name in found.failed and not each.by_manifest)
        failed = {each.name: found.failed[each.name] for each in orc if each.by_manifest and each.name in found.failed}
        outcome = outcome.merge(replace(found, failed=failed))
    if not others:
        return outcome
    done = tuple(each for each in in_files if each not in others)
    rest = replace(plan, pieces=others, unchanged=(*plan.pieces_left_out, *done))
    with translate_reading(plan.table.typed), each_as_stored(spark, plan), count_input_bytes(spark) as read:
        found = scan_rows(rows(spark, rest), rest, job)
    return outcome.merge(replace(found, reads=_read_by_spark(rest, found, read)))


def _read_by_spark(plan: Plan, outcome: Outcome, read: InputBytes) -> ReadCount | None:
    """The bytes that Spark has read of files; None if its metrics are incomplete: of ORC, elsewhere, below a view."""
    if outcome.doubted or any(each.in_files or each.elsewhere is not None or not each.location for each in plan.pieces):
        return None
    total = read.total()
    return None if total is None else ReadCount(total, None)


def split_by_reader(plan: Plan, files: Files, *, orc: bool) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The pieces whose files are read directly, and those whose rows Spark reads. `orc`: ORC is read directly too.

    Spark fails on a missing directory, so pieces without files are not read by Spark; nor are ORC files that manifests
    name, whose bytes it would read as text.
    """
    direct = {each.name for each in plan.pieces if each.parquet or (each.orc and (orc or each.by_manifest))}
    bare = {each.name: each.location for each in plan.pieces if each.name not in direct and not files[each.name]}
    direct |= missing_locations(bare, plan.settings)
    in_files = tuple(each for each in plan.pieces if each.name in direct)
    return in_files, tuple(each for each in plan.pieces if each.name not in direct)


def check_manifests(spark: SparkSession, plan: Plan) -> None:
    """Raise StatementError if manifests name ORC files that neither Spark nor Arrow can read, because of time zones."""
    if any(each.by_manifest and each.orc for each in plan.pieces) and _has_timestamps(plan) and not _is_in_utc(spark):
        raise StatementError(
            f"table {plan.table.typed} names its files of ORC in manifests, so that Spark cannot read them, and their"
            " timestamps are known in UTC only: start Spark with -Duser.timezone=UTC, or leave out these columns"
        )


def _reads_orc(spark: SparkSession, plan: Plan) -> bool:
    """Whether ORC files have the same values without Spark, judged by the settings of its session."""
    finds_by_place = (hadoop_settings(spark)(BY_PLACE) or "").lower() == "true"
    return not finds_by_place and (not _has_timestamps(plan) or _is_in_utc(spark))


def _has_timestamps(plan: Plan) -> bool:
    """Whether a column of timestamps is read, whose values in ORC depend on time zones."""
    return any(kind_of(each) is Kind.TIMESTAMP for each in plan.types.values())


def _is_in_utc(spark: SparkSession) -> bool:
    """Whether Spark's JVM is in UTC all year, so that Spark and Arrow read the same times in ORC."""
    zone: Any = spark._jvm  # noqa: SLF001 - Spark has no other way to its time zone
    found = zone.java.util.TimeZone.getDefault()
    return bool(found.toZoneId().getRules().isFixedOffset() and found.getRawOffset() == 0)


@contextmanager
def each_as_stored(spark: SparkSession, plan: Plan) -> Iterator[None]:
    """Make Spark read each partition in its own format; by default it reads all of a Parquet table as Parquet.

    The default stays if all of it is Parquet in stores that tasks cannot reach, since Hive's reader knows fewer types
    of Parquet than Spark's. Also lets Spark find columns by their names in lower case, as a metastore has them, makes
    the null value's name a null, for which ANSI mode would fail, and lets Spark itself compare partition values, which
    a metastore compares as texts.
    """
    settings: tuple[tuple[str, str], ...] = (*_AS_STORED, *_WITH_KEYS) if plan.keys else _AS_STORED
    if all(each.elsewhere == PARQUET for each in plan.pieces):
        settings = tuple(each for each in settings if each[0] != _AS_PARQUET)
    before = [spark.conf.get(name, default) for name, default in settings]  # a new session has no defaults for them yet
    for name, _ in settings:
        spark.conf.set(name, "false")
    try:
        yield
    finally:
        for (name, _), value in zip(settings, before, strict=True):
            spark.conf.set(name, str(value))


def scan_files(spark: SparkSession, plan: Plan, files: Files, job: Job) -> Outcome:
    """Read Parquet files, and deliver all findings but the table's own."""
    cores, footers = expected_cores(spark.sparkContext), Reads()
    splits = cut(plan.pieces, files, cores, job.options, plan.settings, footers)
    tasks = tasks_of(plan.pieces, splits, alone=job.delivery is None)
    outcome = _read_tasks(spark, tasks, job)
    return outcome.merge(Outcome(reads=footers.count))


def _read_tasks(spark: SparkSession, tasks: Sequence[Task], job: Job) -> Outcome:
    """Run the tasks, then those that finish the pieces read by several tasks."""
    if not tasks:
        return Outcome()
    records = spark.sparkContext.parallelize(tasks, len(tasks)).mapPartitions(partial(read_tasks, job=job))
    shared = {piece for task in tasks for piece in task.shared}
    if not shared:
        return _merge_outcomes(records.values())
    most = TASKS_PER_CORE * expected_cores(spark.sparkContext)
    shuffled = shuffle_by_piece(records, min(len(shared), most))
    return _merge_outcomes(shuffled.mapPartitions(partial(merge_records, job=job)))


def scan_rows(found: DataFrame, plan: Plan, job: Job) -> Outcome:
    """Read the rows of any DataFrame, and deliver findings; pieces without any row are doubted and not delivered.

    Raises AnalysisIncomplete, before anything is delivered, if Spark has read another number of rows than was received.
    """
    run = dataframe.states_frame(found, plan.keys, plan.types, job.options)
    states, table = dataframe.records(run), plan.table.typed
    if job.delivery is None:
        outcome = _merge_outcomes(states.mapPartitions(partial(merge_records, job=job)))
        check_rows(table, outcome.rows or 0, found, run)
        return _doubt_only_piece(outcome, job)
    context = states.context
    cores = expected_cores(context)
    shared = context.broadcast(placing(plan.key_columns, plan.pieces, plan.unchanged))
    records = states.mapPartitions(partial(_place_and_count, shared=shared))
    every = context.parallelize(list(_first_records(plan)), cores)
    records = shuffle_by_piece(records.union(every), max(1, min(len(plan.pieces), TASKS_PER_CORE * cores)))
    # All rows are read here, once: later steps read the states from the shuffle files.
    taken = records.filter(lambda record: record[0] == ROWS_TAKEN).values().sum()
    check_rows(table, taken, found, run)
    return _merge_outcomes(records.mapPartitions(partial(merge_records, job=replace(job, doubts_empty=True))))


def _doubt_only_piece(outcome: Outcome, job: Job) -> Outcome:
    """The outcome of the only piece, which is doubted if it has files but no rows were read."""
    return (
        outcome if outcome.rows or not job.known.value[WHOLE_TABLE].files else replace(outcome, doubted=(WHOLE_TABLE,))
    )


def place_states(states: Any, plan: Plan) -> Any:
    """The states of rows that Spark has read, an RDD, by the names of their pieces."""
    if not plan.keys:
        return states
    shared = states.context.broadcast(placing(plan.key_columns, plan.pieces, plan.unchanged))
    return states.mapPartitions(partial(_place_states, shared=shared))


def _place_states(states: Iterable[State], shared: Any) -> Iterator[State]:
    found: Placing = shared.value
    return found.place_states(states)


def _place_and_count(states: Iterable[State], shared: Any) -> Iterator[Record]:
    """The states by the names of their pieces, and the number of all rows, placed or not."""
    rows = 0
    for name, state in states:
        rows += TableAccumulator.rows_in(state)
        yield from shared.value.place_states([(name, state)])
    yield ROWS_TAKEN, rows


def _first_records(plan: Plan) -> Iterator[Record]:
    """An empty state for each piece, or the reason why it cannot be analysed."""
    twins = placing(plan.key_columns, plan.pieces, plan.unchanged).twins
    for piece in plan.pieces:
        twin = twins.get(piece.name)
        yield piece.name, b"" if twin is None else Failure(twin_sentence(piece.name, twin))


def tasks_of(pieces: Iterable[Piece], splits: Iterable[Sequence[Split]], *, alone: bool) -> list[Task]:
    """The tasks for these splits of pieces, and for the pieces without any.

    `alone`: the table is the only piece, so that its states need no shuffle.
    """
    cuts = list(splits)
    held = [{split.piece for split in each} for each in cuts]
    count = Counter(piece for each in held for piece in each)
    tasks = [
        Task(tuple(each), frozenset(piece for piece in of_task if count[piece] > 1 and not alone))
        for each, of_task in zip(cuts, held, strict=True)
    ]
    rest = (piece.name for piece in pieces if piece.name not in count)
    return [*tasks, *(Task((), empty=tuple(names)) for names in batches(rest, _EMPTY_PIECES_A_TASK))]


def shuffle_by_piece(records: Any, tasks: int) -> Any:
    """The records shuffled by piece, those of one piece next to each other in one task; spills to disk."""
    return records.repartitionAndSortWithinPartitions(tasks, lambda piece: crc32(piece.encode()))


def _merge_outcomes(outcomes: Any) -> Outcome:
    if outcomes.getNumPartitions() <= MOST_STATES_AT_DRIVER:
        return reduce(Outcome.merge, outcomes.collect(), Outcome())
    merged: Outcome = outcomes.treeReduce(Outcome.merge)
    return merged
