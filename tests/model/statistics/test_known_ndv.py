"""A distinct count of 0 is one where there are no values, and unknown where there are some."""

import pytest

from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    Data,
    DoubleStatistics,
    LongStatistics,
    StringStatistics,
    known_ndv,
)


@pytest.mark.parametrize(
    ("data", "known"),
    [
        (LongStatistics(low=1, high=2, ndv=2), 2),
        (LongStatistics(low=1, high=2, ndv=0), None),
        (LongStatistics(low=0, high=0, ndv=0), None),
        (LongStatistics(nulls=7, ndv=0), 0),
        (LongStatistics(low=1), None),
        (DoubleStatistics(low=0.0, ndv=0), None),
        (StringStatistics(max_length=3, ndv=0), None),
        (StringStatistics(max_length=0, ndv=0), 0),
        (BooleanStatistics(trues=1), None),
    ],
)
def test_zero_beside_values_is_unknown(data: Data, known: int | None) -> None:
    assert known_ndv(data) == known
