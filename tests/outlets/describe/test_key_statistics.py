"""Statistics of partition keys, of their values as texts."""

from typing import Any

import pytest

from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import Column
from hmstats.outlets.describe.column import key_statistics


@pytest.mark.parametrize(
    ("key_type", "values", "bounds"),
    [
        ("int", ["007", "-5", "+2"], (-5, 7)),
        ("date", ["2024-01-01", "1969-12-31"], (-1, 19723)),
        ("timestamp", ["2024-01-01 10:11:12.345", "1969-12-31 23:59:59.5"], (-1, 1704103872)),
        ("timestamp", ["2024-01-01 00:00:00"], (1704067200, 1704067200)),
    ],
)
def test_bounds_are_those_of_the_values(key_type: str, values: list[str], bounds: tuple[int, int]) -> None:
    found = key_statistics(Column("k", key_type), [*values, NULL_PARTITION_VALUE])
    data: Any = found and found.data
    assert (data.low, data.high, data.ndv) == (*bounds, len(values))
