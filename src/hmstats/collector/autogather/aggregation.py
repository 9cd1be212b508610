"""Collects the states that the successful attempts of a write's tasks have published."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import groupby

from hmstats.collector.autogather.publishers.protocols import Aggregator
from hmstats.collector.autogather.watched_rows import Attempts
from hmstats.errors import GatheringFailed
from hmstats.model.statistics.running_writes import PartialState
from hmstats.sketch.accumulator import TableAccumulator

WrittenPiece = tuple[str, TableAccumulator]
"""A piece's name and the state of all rows that were written to it."""


def collect_pieces(aggregator: Aggregator, attempts: Attempts) -> Iterator[WrittenPiece]:
    """The pieces that were written, one after the other; only one of them is in memory.

    Raises GatheringFailed if a task could not publish and, after the last piece, if states are missing.
    """
    for attempt in attempts.values():
        if attempt.failure is not None:
            raise GatheringFailed(f"statistics of the write are incomplete: {attempt.failure}")
    found: Counter[int] = Counter()
    for piece, states in groupby(_committed_states(aggregator, attempts, found), key=lambda each: each.place.piece):
        yield piece, reduce(TableAccumulator.merge, (TableAccumulator.from_bytes(each.state) for each in states))
    _check_complete(attempts, found)


def _committed_states(aggregator: Aggregator, attempts: Attempts, found: Counter[int]) -> Iterator[PartialState]:
    for state in aggregator.aggregate():
        attempt = attempts.get(state.place.task)
        if attempt is not None and attempt.id == state.place.attempt:
            found[state.place.task] += 1
            yield state


def _check_complete(attempts: Attempts, found: Mapping[int, int]) -> None:
    for task, attempt in sorted(attempts.items()):
        if found.get(task, 0) != attempt.states:
            raise GatheringFailed(
                f"statistics of the write are incomplete: task {task} has published {found.get(task, 0)} of "
                f"{attempt.states} states"
            )
