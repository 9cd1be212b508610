"""Equi-height histograms made of quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.spark.spark_statistics import EquiHeightHistogram
from hmstats.outlets.spark.equi_height import BINS, ColumnFacts, equi_height
from hmstats.sketch.quantiles.kll import KllHistogram


def made(
    values: list[float], bins: int = BINS, distinct: int | None = None, whole: bool = False
) -> EquiHeightHistogram:
    """Of exactly these values."""
    sketch = KllHistogram()
    sketch.add(np.array(values))
    known = ColumnFacts(min(values), max(values), len(values), distinct, whole)
    found = equi_height(sketch, known, bins)
    assert found is not None
    return found


@given(st.lists(st.floats(-(2.0**80), 2.0**80, width=32), min_size=1, max_size=400), st.integers(1, 20), st.booleans())
def test_bins_meet_and_hold_all_values(values: list[float], bins: int, known: bool) -> None:
    found = made(values, bins, len(set(values)) if known else None)
    assert (len(found.low), len(found.high), len(found.distinct)) == (bins, bins, bins)
    assert found.low[1:] == found.high[:-1]
    assert (found.low[0], found.high[-1]) == (min(values), max(values))
    assert list(found.low) == sorted(found.low)
    assert found.height * bins == pytest.approx(len(values))
    assert all(1 <= distinct <= max(1, np.ceil(found.height)) for distinct in found.distinct)


def test_even_values_have_even_bins() -> None:
    found = made([float(each) for each in range(1000)], 4, 1000, whole=True)
    assert found.height == 250.0
    assert sum(found.distinct) == pytest.approx(1000, abs=40)
    assert found.high == pytest.approx((250, 500, 750, 999), abs=15)


def test_a_frequent_value_has_bins_of_its_own() -> None:
    found = made([7.0] * 900 + [float(each) for each in range(100, 200)], 10, 101, whole=True)
    assert found.low[:8] == found.high[:8] == (7.0,) * 8
    assert found.distinct[:8] == (1,) * 8
    assert 90 <= sum(found.distinct[8:]) <= 101


def test_whole_numbers_are_not_more_than_lie_in_a_bin() -> None:
    found = made([float(each % 5) for each in range(10_000)], 4, 4000, whole=True)
    assert all(
        distinct <= high - low + 1 for low, high, distinct in zip(found.low, found.high, found.distinct, strict=True)
    )


def test_a_unit_is_multiplied() -> None:
    sketch = KllHistogram()
    sketch.add(np.array([1.0, 2.0, 3.0]))
    found = equi_height(sketch, ColumnFacts(1, 3, 3, 3, unit=1e6), 2)
    assert found is not None
    assert (found.low[0], found.high[1]) == (1e6, 3e6)


@pytest.mark.parametrize(
    "known", [ColumnFacts(0, 1, 0), ColumnFacts(float("-inf"), 1, 5), ColumnFacts(0, float("nan"), 5)]
)
def test_nothing_is_made_of_nothing(known: ColumnFacts) -> None:
    sketch = KllHistogram()
    sketch.add(np.array([0.0, 1.0]))
    assert equi_height(sketch, known) is None
    assert equi_height(KllHistogram(), ColumnFacts(0, 1, 5)) is None
