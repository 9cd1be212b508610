"""The Spark job of an analysis: it cuts the work, runs the tasks, and unites their outcomes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import Any
from zlib import crc32

from pyspark.sql import DataFrame, SparkSession

from hmstats.client.batches import batches
from hmstats.collector.feeds import arrow
from hmstats.collector.pieces import Piece
from hmstats.collector.plan import Plan
from hmstats.collector.prepare import Files
from hmstats.collector.rows import rows
from hmstats.collector.splits import Split, cut
from hmstats.collector.tasks import Job, Outcome, Task, read, unite

_CONVERTS = "spark.sql.hive.convertMetastoreParquet"
_TASKS_PER_CORE = 3
_EMPTY_PIECES_A_TASK = 1000
_MOST_OUTCOMES_AT_DRIVER = 32
"""So many states of a whole table, some hundred kilobytes each, the driver takes at once; more are united in tasks."""


def scan(spark: SparkSession, plan: Plan, files: Files, job: Job) -> Outcome:
    """Read every piece: Parquet files as they are, all else as the rows that Spark reads.

    Everything but the table itself is delivered when this returns.
    """
    in_files = tuple(piece for piece in plan.pieces if piece.parquet)
    others = tuple(piece for piece in plan.pieces if not piece.parquet)
    outcome = scan_files(spark, replace(plan, pieces=in_files), files, job)
    if not others:
        return outcome
    rest = replace(plan, pieces=others, unchanged=(*plan.unchanged, *in_files))
    with each_as_stored(spark):
        return outcome.merge(scan_rows(rows(spark, rest), rest, job))


@contextmanager
def each_as_stored(spark: SparkSession) -> Iterator[None]:
    """Let Spark read each partition by its own format; it takes all of a Parquet table for Parquet otherwise."""
    before = spark.conf.get(_CONVERTS, "true")  # a new session does not know its own default yet
    spark.conf.set(_CONVERTS, "false")
    try:
        yield
    finally:
        spark.conf.set(_CONVERTS, before)


def scan_files(spark: SparkSession, plan: Plan, files: Files, job: Job) -> Outcome:
    """Read Parquet files; everything but the table itself is delivered when this returns."""
    cores = spark.sparkContext.defaultParallelism
    tasks = tasks_of(
        plan.pieces, cut(plan.pieces, files, cores, job.options, plan.settings), alone=job.delivery is None
    )
    if not tasks:
        return Outcome()
    records = spark.sparkContext.parallelize(tasks, len(tasks)).mapPartitions(partial(read, job=job))
    shared = {piece for task in tasks for piece in task.shared}
    if not shared:
        return _united(records.values())
    return _united(met(records, min(len(shared), _TASKS_PER_CORE * cores)).mapPartitions(partial(unite, job=job)))


def scan_rows(found: DataFrame, plan: Plan, job: Job) -> Outcome:
    """Take in the rows of any DataFrame; as above."""
    records = arrow.states(found, plan.keys, plan.types, job.options)
    if job.delivery is not None:
        context = records.context
        cores = context.defaultParallelism
        every = context.parallelize([(piece.name, b"") for piece in plan.pieces], cores)
        records = met(records.union(every), max(1, min(len(plan.pieces), _TASKS_PER_CORE * cores)))
    return _united(records.mapPartitions(partial(unite, job=job)))


def tasks_of(pieces: Iterable[Piece], splits: Iterable[Sequence[Split]], *, alone: bool) -> list[Task]:
    """The tasks for these splits of pieces, and for the pieces without any.

    `alone`: there is but one piece, the table itself, so that no states have to meet for it.
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


def met(records: Any, tasks: int) -> Any:
    """The records with those of one piece in one task, one after the other; what memory cannot hold goes to disk."""
    return records.repartitionAndSortWithinPartitions(tasks, lambda piece: crc32(piece.encode()))


def _united(outcomes: Any) -> Outcome:
    if outcomes.getNumPartitions() <= _MOST_OUTCOMES_AT_DRIVER:
        return reduce(Outcome.merge, outcomes.collect(), Outcome())
    united: Outcome = outcomes.treeReduce(Outcome.merge)
    return united
