"""Bins of quantiles: they count what is there, within the error that they say."""

import numpy as np
import pytest

from hmstats.model.statistics.answers import Quantiles
from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.web.answers.columns import Histogram
from hmstats.web.reading.columns.histograms import PARTS_OF_A_COLUMN, bin_error, fractions, histogram


def quantiles(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Quantiles:
    sketch = KllHistogram()
    sketch.add(values)
    found = tuple(sketch.quantiles(fractions(PARTS_OF_A_COLUMN)))
    return Quantiles(found, found, found, sketch.rank_error, sketch.count, exact=not sketch.rank_error)


def made(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", kind: Kind = Kind.DOUBLE, bins: int = 30) -> Histogram:
    found = histogram(kind, quantiles(values), bins)
    assert found is not None
    return found


def test_the_counts_are_within_their_error() -> None:
    values = np.random.default_rng(7).normal(100, 15, 200_000)
    found = made(values)
    edges = [float(each) for each in found.edges]
    true, _ = np.histogram(values, edges)
    assert found.bin_error == pytest.approx(0.0165, abs=0.0005)
    off = np.abs(np.asarray(found.counts) - true).max()
    assert 0 < off <= (found.bin_error + 1 / PARTS_OF_A_COLUMN) * found.values
    assert sum(found.counts) == pytest.approx(200_000, rel=1e-4)
    assert [edges[0], edges[-1]] == pytest.approx([values.min(), values.max()])


def test_few_whole_numbers_have_a_bin_each() -> None:
    found = made(np.repeat([1.0, 2.0, 4.0], [10, 20, 70]), Kind.LONG)
    assert (found.edges, found.single) == ((1, 2, 3, 4, 5), True)
    assert found.counts == pytest.approx((10, 20, 0, 70))
    assert found.bin_error == 0


def test_days_are_dates() -> None:
    found = made(np.arange(19_000.0, 19_003.0), Kind.DATE)
    assert found.edges == ("2022-01-08", "2022-01-09", "2022-01-10", "2022-01-11")


def test_a_crowd_of_small_values_has_a_logarithmic_scale() -> None:
    values = np.exp(np.random.default_rng(7).normal(0, 2, 100_000))
    found = made(values)
    assert found.logarithmic
    edges = [float(each) for each in found.edges]
    assert edges[2] / edges[1] == pytest.approx(edges[20] / edges[19], rel=1e-3)
    assert max(found.counts) < 0.2 * found.values


def test_whole_numbers_that_single_precision_cannot_tell_apart() -> None:
    found = made(np.full(5, 2.0**60), Kind.LONG)
    assert sum(found.counts) == 5
    assert not found.single


@pytest.mark.parametrize("values", [[], [1.0, float("inf")]])
def test_nothing_to_draw(values: list[float]) -> None:
    assert histogram(Kind.DOUBLE, quantiles(np.asarray(values)), 10) is None


def test_an_exact_sketch_has_no_error() -> None:
    assert bin_error(0) == 0
