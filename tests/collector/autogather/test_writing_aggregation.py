"""Of what tasks have published, only the attempts that succeeded count, and all of these must be there."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from hmstats.collector.autogather.aggregation import collect_pieces
from hmstats.collector.autogather.publishers.protocols import Run
from hmstats.collector.autogather.watched_rows import Attempt
from hmstats.collector.scan.states import States
from hmstats.errors import GatheringFailed
from hmstats.model.statistics.column_statistics import LongStatistics
from hmstats.model.statistics.running_writes import PartialState, Place

TYPES = {"l": "bigint"}


class Kept:
    """An aggregator of some states."""

    def __init__(self, states: Sequence[PartialState]) -> None:
        self._states = states

    def init(self, run: Run) -> None:
        """Nothing is to be made ready."""

    def aggregate(self) -> Iterator[PartialState]:
        return iter(sorted(self._states))

    def terminate(self) -> None:
        """Nothing is open."""


def state(piece: str, values: Sequence[int], task: int, attempt: int, number: int = 0) -> PartialState:
    states = States(TYPES)
    states.of(piece).update(pa.table({"l": pa.array(values, pa.int64())}))
    ((_, content),) = states.encode()
    return PartialState(Place(piece, task, attempt, number), content)


def found(
    states: Sequence[PartialState], attempts: dict[int, Attempt]
) -> dict[str, tuple[int, int | None, int | None]]:
    """Rows and bounds of each piece."""
    pieces = {}
    for piece, accumulator in collect_pieces(Kept(states), attempts):
        data = accumulator.columns["l"].statistics()
        assert isinstance(data, LongStatistics)
        pieces[piece] = (accumulator.rows, data.low, data.high)
    return pieces


def test_of_a_task_that_ran_twice_the_attempt_that_succeeded_counts() -> None:
    states = [
        state("k=1", [1, 2], 0, 10),
        state("k=2", [3], 0, 10, 1),
        state("k=1", [7, 8, 9], 0, 11),
        state("k=1", [20], 1, 12),
    ]
    twin = {0: Attempt(11, 1), 1: Attempt(12, 1)}
    assert found(states, twin) == {"k=1": (4, 7, 20)}
    assert found(states, {0: Attempt(10, 2), 1: Attempt(12, 1)}) == {"k=1": (3, 1, 20), "k=2": (1, 3, 3)}
    assert found(states, {0: Attempt(10, 2)}) == {"k=1": (2, 1, 2), "k=2": (1, 3, 3)}


def test_what_an_attempt_published_early_is_added() -> None:
    states = [state("", [1], 0, 5, 0), state("", [2, 3], 0, 5, 1)]
    assert found(states, {0: Attempt(5, 2)}) == {"": (3, 1, 3)}


def test_a_task_without_rows_has_nothing_to_publish() -> None:
    assert found([], {0: Attempt(1, 0)}) == {}
    assert found([], {}) == {}


@pytest.mark.parametrize("attempt", [Attempt(5, 2), Attempt(6, 1), Attempt(5, 0)])
def test_states_that_are_missing_or_too_many_are_noticed(attempt: Attempt) -> None:
    with pytest.raises(GatheringFailed, match="incomplete: task 0 has published"):
        found([state("", [1], 0, 5)], {0: attempt})


def test_a_task_that_could_not_publish_is_noticed() -> None:
    with pytest.raises(GatheringFailed, match="incomplete: no room"):
        found([state("", [1], 0, 5)], {0: Attempt(5, 1), 1: Attempt(6, 0, "no room")})
