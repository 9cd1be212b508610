"""Gathers statistics of a write from its new files, which for Parquet is cheaper than watching the rows.

Converting Spark's rows to Arrow is expensive; Parquet's columns are nearly Arrow already. Only new files are read, not
the whole table, and the files of failed attempts are not among them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from pyspark.sql import SparkSession

from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.table_state import TableState
from hmstats.collector.options import Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.prepare import Files
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files.splits import Split, by_piece, cut
from hmstats.collector.scan.scan import MOST_STATES_AT_DRIVER, shuffle_by_piece
from hmstats.collector.scan.states import State, States, Types
from hmstats.collector.scan.task_errors import translate_errors
from hmstats.collector.scan.worker_memory import freeze_modules
from hmstats.collector.spark.cores import expected_cores
from hmstats.errors import GatheringFailed
from hmstats.sketch.accumulator import TableAccumulator

_PIECES_A_TASK = 100


def new_files(before: TableState, now: TableState) -> Files:
    """The new files of each piece; pieces without new files are left out."""
    old = {name: set(files) for name, files in before.files.items()}
    added = {name: [each for each in files if each not in old.get(name, ())] for name, files in now.files.items()}
    return {name: files for name, files in added.items() if files}


def read_new_files(spark: SparkSession, now: TableState, files: Files) -> Iterator[WrittenPiece]:
    """The state of the rows in each piece's new files, one piece after the other.

    Raises GatheringFailed for a piece that is not Parquet; UnreadableFile.
    """
    if now.plan is None or not files:
        return
    pieces = [piece for piece in now.plan.pieces if piece.name in files]
    for piece in pieces:
        if not piece.parquet:
            what = f"partition {piece.name}" if piece.name else "the table"
            raise GatheringFailed(f"statistics are read from new files of Parquet only, which {what} is not")
    context = spark.sparkContext
    plan = replace(now.plan, pieces=tuple(pieces))
    tasks = cut(plan.pieces, files, expected_cores(context), settings=plan.settings)
    read = partial(_read_states, types=plan.types, options=now.options)
    states = context.parallelize(tasks, len(tasks)).mapPartitions(read)
    with translate_errors():
        if plan.keys:
            yield from _of_each(states, len(pieces), plan.types, now.options)
        else:
            yield WHOLE_TABLE, _of_all(states, plan.types, now.options)


def _of_each(states: Any, pieces: int, types: Types, options: Options) -> Iterator[WrittenPiece]:
    """The states by piece; the driver holds those of a few pieces at a time."""
    merge = partial(_merge_pieces, types=types, options=options)
    merged = shuffle_by_piece(states, -(-pieces // _PIECES_A_TASK)).mapPartitions(merge)
    for piece, state in merged.toLocalIterator(prefetchPartitions=True):
        yield piece, _merge_all([(piece, state)], types, options)


@freeze_modules
def _read_states(tasks: Iterable[Sequence[Split]], types: Types, options: Options) -> Iterator[State]:
    for task in tasks:
        for piece, splits in by_piece(task):
            yield piece, file_rows.accumulate(splits, types, options).to_bytes()


def _of_all(states: Any, types: Types, options: Options) -> TableAccumulator:
    """All states merged into one, mostly in tasks and the rest in the driver."""
    if states.getNumPartitions() <= MOST_STATES_AT_DRIVER:
        return _merge_all(states.collect(), types, options)
    return _merge_all([states.treeReduce(partial(_merge, types=types, options=options))], types, options)


def _merge(one: State, other: State, types: Types, options: Options) -> State:
    return one[0], _merge_all([one, other], types, options).to_bytes()


@freeze_modules
def _merge_pieces(states: Iterable[State], types: Types, options: Options) -> Iterator[State]:
    """Merge consecutive states of one piece."""
    for piece, parts in groupby(states, key=itemgetter(0)):
        yield piece, _merge_all(parts, types, options).to_bytes()


def _merge_all(parts: Iterable[State], types: Types, options: Options) -> TableAccumulator:
    found = States(types, options)
    found.merge((WHOLE_TABLE, state) for _, state in parts)
    return found.of(WHOLE_TABLE)
