"""Options say what they cannot be, and what decides about the numbers."""

import math
import pickle
from typing import Any

import pytest

from hmstats.collector.options import DEFAULT, Options
from hmstats.errors import StatementError


@pytest.mark.parametrize("fraction", [0, -0.5, 1.5, math.nan])
def test_a_sample_is_a_part_of_the_rows(fraction: float) -> None:
    with pytest.raises(StatementError, match=f"at most 1 of the rows, found {fraction}"):
        Options(sample_fraction=fraction)


@pytest.mark.parametrize("precision", [9, 15])
def test_bit_vectors_have_precisions_that_hive_reads(precision: int) -> None:
    with pytest.raises(StatementError, match=f"from 10 to 14, found {precision}"):
        Options(precision=precision)


def test_there_is_a_task() -> None:
    with pytest.raises(StatementError, match="at least 1 task, found 0"):
        Options(most_tasks=0)


def test_bounds_only_makes_no_sketch() -> None:
    found = Options.bounds_only(sample_fraction=0.5, most_tasks=3)
    assert found == Options(sample_fraction=0.5, distinct=False, histogram=False, top_k=False, most_tasks=3)


@pytest.mark.parametrize(
    "change",
    [{"sample_fraction": 0.25}, {"distinct": False}, {"histogram": False}, {"top_k": False}, {"precision": 10}],
)
def test_what_changes_the_numbers_changes_the_identity(change: dict[str, Any]) -> None:
    assert Options(**change).identity != DEFAULT.identity


def test_tasks_change_no_number() -> None:
    assert Options(most_tasks=1).identity == DEFAULT.identity


def test_options_travel_to_tasks() -> None:
    given = Options(precision=14, sample_fraction=0.1)
    assert pickle.loads(pickle.dumps(given)) == given
