"""Statistics against exact answers."""

from collections.abc import Iterable

import pyarrow as pa
import pytest
from tests.collector.data import exact

from hmstats.model.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    StringStatistics,
)
from hmstats.sketch.hive_hll import HiveHll

NDV_ERROR = 0.05
"""Three standard errors of the default bit vectors."""


def check_all(statistics: Iterable[ColumnStatistics], table: pa.Table) -> None:
    """Fail unless every column's statistics are those of the table's rows."""
    found = list(statistics)
    assert [each.column for each in found] == table.column_names
    for each in found:
        check(each, table)


def check(statistics: ColumnStatistics, table: pa.Table) -> None:
    """Fail unless counts, bounds and lengths are exact and the distinct count is near."""
    expected, data = exact(table, statistics.column), statistics.data
    assert data.nulls == expected.nulls, statistics.column
    if isinstance(data, BooleanStatistics):
        values = table.num_rows - expected.nulls
        assert (data.trues, data.falses) == (expected.trues, values - (expected.trues or 0))
    elif isinstance(data, StringStatistics | BinaryStatistics):
        assert data.max_length == (expected.max_length or 0), statistics.column
        assert data.average_length == pytest.approx(expected.average_length or 0), statistics.column
    else:
        assert (data.low, data.high) == (expected.low, expected.high), statistics.column
    if not isinstance(data, BooleanStatistics | BinaryStatistics):
        assert data.ndv == pytest.approx(expected.ndv, rel=NDV_ERROR, abs=1), statistics.column
        assert data.bit_vector, statistics.column


def comparable(statistics: ColumnStatistics) -> dict[str, object]:
    """All but the histogram, which is made by chance; of the bit vector what it holds, in whatever order."""
    data = statistics.data
    found = {name: getattr(data, name) for name in data.__dataclass_fields__ if name != "histogram"}
    if isinstance(found.get("bit_vector"), bytes):
        found["bit_vector"] = HiveHll.from_bytes(found["bit_vector"])
    return found
