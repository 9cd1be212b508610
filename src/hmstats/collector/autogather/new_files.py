"""What was written, read from the files that the write has left: for Parquet cheaper than watching the rows.

Spark makes Arrow of rows at a price of its own; Parquet's columns are Arrow nearly as they are. Only the new files are
read, not the whole table, and what tasks wrote in vain is not among them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from pyspark.sql import SparkSession

from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.situation import Situation
from hmstats.collector.feeds import parquet
from hmstats.collector.feeds.states import State, States, Types
from hmstats.collector.pieces import WHOLE_TABLE
from hmstats.collector.prepare import Files
from hmstats.collector.scan import met
from hmstats.collector.splits import Split, by_piece, cut
from hmstats.collector.task_errors import as_our_own
from hmstats.errors import GatheringFailed
from hmstats.sketch.accumulator import TableAccumulator

_PIECES_A_TASK = 100


def new_files(before: Situation, now: Situation) -> Files:
    """The files of each piece that were not there before, of the pieces that have such."""
    old = {name: set(files) for name, files in before.files.items()}
    added = {name: [each for each in files if each not in old.get(name, ())] for name, files in now.files.items()}
    return {name: files for name, files in added.items() if files}


def read_new_files(spark: SparkSession, now: Situation, files: Files) -> Iterator[WrittenPiece]:
    """The pieces that have new files, one after the other, with the state of the rows in these files.

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
    tasks = cut(plan.pieces, files, context.defaultParallelism, settings=plan.settings)
    states = context.parallelize(tasks, len(tasks)).mapPartitions(partial(_read, types=plan.types))
    with as_our_own():
        if plan.keys:
            yield from _of_each(states, len(pieces), plan.types)
        else:
            yield WHOLE_TABLE, _united(states.collect(), plan.types)


def _of_each(states: Any, pieces: int, types: Types) -> Iterator[WrittenPiece]:
    """The states by piece; only those of some pieces are at the driver at once."""
    merged = met(states, -(-pieces // _PIECES_A_TASK)).mapPartitions(partial(_merged, types=types))
    for piece, state in merged.toLocalIterator(prefetchPartitions=True):
        yield piece, _united([(piece, state)], types)


def _read(tasks: Iterable[Sequence[Split]], types: Types) -> Iterator[State]:
    for task in tasks:
        for piece, splits in by_piece(task):
            yield piece, parquet.accumulated(splits, types).to_bytes()


def _merged(states: Iterable[State], types: Types) -> Iterator[State]:
    """States of one piece, which come one after the other, are one."""
    for piece, parts in groupby(states, key=itemgetter(0)):
        yield piece, _united(parts, types).to_bytes()


def _united(parts: Iterable[State], types: Types) -> TableAccumulator:
    found = States(types)
    found.merge((WHOLE_TABLE, state) for _, state in parts)
    return found.of(WHOLE_TABLE)
