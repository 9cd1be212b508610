"""What another metastore says is ours where it says what its database has left of it, and no more."""

import pytest

from hmstats.model.statistics.column_statistics import ColumnStatistics, DoubleStatistics
from hmstats.service.mirrors.digests import say_the_same


def of(low: float | None) -> ColumnStatistics:
    return ColumnStatistics("d", "double", DoubleStatistics(low=low, high=1e300, nulls=1, ndv=7))


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (1e-5, 1e-5),
        (1e-5, 0.0),  # four decimals, cut off
        (0.12345678, 0.1234),
        (0.12345678, 0.1235),  # or rounded
        (-0.00009, -0.0001),
        (123456.123456, 123456.1235),
        (1e300, 1e300 * (1 + 1e-15)),
        (1e300, 1e49),  # as much as MySQL takes
        (-1e300, -1e49),
        (None, None),
    ],
)
def test_cut_decimals_are_the_same(own: float | None, told: float | None) -> None:
    assert say_the_same(of(told), of(own))


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (1e300, 1e48),
        (1e48, 1e300),
        (1e300, -1e49),
        (1e-5, 5e-5),
        (0.0, 5e-5),
        (1e-5, -3e-5),
        (0.12345678, 0.12341),
        (0.1, 0.1002),
        (1.0, None),
        (None, 0.0),
    ],
)
def test_other_fractions_are_others(own: float | None, told: float | None) -> None:
    """Rates and probabilities differ by less than a ten-thousandth."""
    assert not say_the_same(of(told), of(own))
