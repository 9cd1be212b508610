"""Statistics against exact answers."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.collector.data import TYPES, exact, frequencies, opened, value_of

from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    StringStatistics,
)
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram

NDV_ERROR = 0.05
"""Three standard errors of the default bit vectors."""
RANK_ERROR = 0.02
"""Of a histogram's quantile; its own with 99 % confidence is 0.0133."""


def check_all(
    statistics: Iterable[ColumnStatistics], source: pa.Table | Path, types: Mapping[str, str] = TYPES
) -> None:
    """Fail unless every column's statistics are those of the rows of a table or a file."""
    found = list(statistics)
    assert [each.column for each in found] == list(types)
    with opened(source) as given:
        for each in found:
            check(each, given, types)
            check_quantiles(each, given, types)
            check_frequent(each, given, types)


def check(statistics: ColumnStatistics, given: duckdb.DuckDBPyConnection, types: Mapping[str, str]) -> None:
    """Fail unless counts, bounds and lengths are exact and the distinct count is near."""
    expected, data = exact(given, statistics.column, types), statistics.data
    assert data.nulls == expected.nulls, statistics.column
    if isinstance(data, BooleanStatistics):
        values = given.execute(f'SELECT count("{statistics.column}") FROM given').fetchall()[0][0]
        assert (data.trues, data.falses) == (expected.trues, values - (expected.trues or 0))
    elif isinstance(data, StringStatistics | BinaryStatistics):
        assert data.max_length == (expected.max_length or 0), statistics.column
        assert data.average_length == pytest.approx(expected.average_length or 0), statistics.column
    else:
        assert (data.low, data.high) == (expected.low, expected.high), statistics.column
    if not isinstance(data, BooleanStatistics | BinaryStatistics):
        assert data.ndv == pytest.approx(expected.ndv, rel=NDV_ERROR, abs=1), statistics.column
        assert data.bit_vector, statistics.column


def check_quantiles(statistics: ColumnStatistics, given: duckdb.DuckDBPyConnection, types: Mapping[str, str]) -> None:
    """Fail unless the histogram, if the kind has one, has seen every value and its quantiles are near their places."""
    encoded = getattr(statistics.data, "histogram", None)
    if encoded is None:
        return
    histogram, fractions = KllHistogram.from_bytes(encoded), [0.01, 0.25, 0.5, 0.75, 0.99]
    value = f"CAST({value_of(statistics.column, types[statistics.column])} AS DOUBLE)"
    found = given.execute(f"SELECT {value} FROM given WHERE {value} IS NOT NULL AND NOT isnan({value})").fetchnumpy()
    with np.errstate(over="ignore"):
        values = np.sort(next(iter(found.values())).astype(np.float32))
    assert histogram.count == len(values), statistics.column
    for fraction, quantile in zip(fractions, histogram.quantiles(fractions), strict=False):
        below, up_to = (np.searchsorted(values, np.float32(quantile), side) for side in ("left", "right"))
        slack = RANK_ERROR * len(values) + 1
        assert below - slack <= fraction * len(values) <= up_to + slack, (statistics.column, fraction, quantile)


def check_frequent(statistics: ColumnStatistics, given: duckdb.DuckDBPyConnection, types: Mapping[str, str]) -> None:
    """Fail unless every frequent value's bounds hold its count, and no value that is not kept is more frequent."""
    assert statistics.top_k is not None
    sketch, counts = TopK.from_bytes(statistics.top_k), frequencies(given, statistics.column, types)
    assert sketch.count == sum(counts.values()), statistics.column
    kept = {text: (low, high) for text, low, high in sketch.top()}
    for text, (low, high) in kept.items():
        assert low <= counts[text] <= high, (statistics.column, text)
    others = [count for text, count in counts.items() if text not in kept]
    assert max(others, default=0) <= sketch.error, statistics.column


def comparable(statistics: ColumnStatistics) -> dict[str, object]:
    """All but the histogram, which is made by chance; of the bit vector what it holds, in whatever order."""
    data = statistics.data
    found = {name: getattr(data, name) for name in data.__dataclass_fields__ if name != "histogram"}
    if isinstance(found.get("bit_vector"), bytes):
        found["bit_vector"] = HiveHll.from_bytes(found["bit_vector"])
    return found
