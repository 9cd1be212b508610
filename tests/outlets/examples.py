"""The examples of Arrow's statistics schema (format/StatisticsSchema), as their data and as their statistics."""

import pyarrow as pa

from hmstats.outlets.arrow.build import Statistic

ROWS = "ARROW:row_count:exact"
NULLS = "ARROW:null_count:exact"
DISTINCT = "ARROW:distinct_count:exact"
MAX = "ARROW:max_value:exact"
MIN = "ARROW:min_value:exact"
ABOUT_MAX = "ARROW:max_value:approximate"
ABOUT_MIN = "ARROW:min_value:approximate"

LONG, DOUBLE = pa.int64(), pa.float64()

SIMPLE_DATA = pa.record_batch(
    {
        "vendor_id": pa.array([5, 1, 5, 1, 5], pa.int32()),
        "passenger_count": pa.array([1, 1, 2, 0, None], pa.int64()),
    }
)
SIMPLE = [
    Statistic(None, ROWS, 5, LONG),
    Statistic(0, NULLS, 0, LONG),
    Statistic(0, DISTINCT, 2, LONG),
    Statistic(0, MAX, 5, LONG),
    Statistic(0, MIN, 1, LONG),
    Statistic(1, NULLS, 1, LONG),
    Statistic(1, DISTINCT, 3, LONG),
    Statistic(1, MAX, 2, LONG),
    Statistic(1, MIN, 0, LONG),
]

COMPLEX_DATA = pa.record_batch(
    {
        "col1": pa.array(
            [
                {"a": 1, "b": [20, 30, 40], "c": 2.9},
                {"a": 2, "b": None, "c": -2.9},
                {"a": 3, "b": [99], "c": None},
            ],
            pa.struct([("a", pa.int32()), ("b", pa.list_(pa.int64())), ("c", pa.float64())]),
        ),
        "col2": pa.array(["x", None, "z"]),
    }
)
COMPLEX = [
    Statistic(None, ROWS, 3, LONG),
    Statistic(0, NULLS, 0, LONG),
    Statistic(1, NULLS, 0, LONG),
    Statistic(1, DISTINCT, 3, LONG),
    Statistic(1, ABOUT_MAX, 5, LONG),
    Statistic(1, ABOUT_MIN, 0, LONG),
    Statistic(2, NULLS, 1, LONG),
    Statistic(3, MAX, 99, LONG),
    Statistic(3, MIN, 20, LONG),
    Statistic(4, NULLS, 1, LONG),
    Statistic(4, ABOUT_MAX, 3.0, DOUBLE),
    Statistic(4, ABOUT_MIN, -3.0, DOUBLE),
    Statistic(5, NULLS, 1, LONG),
    Statistic(5, DISTINCT, 2, LONG),
]
SIMPLE_ARRAY = [Statistic(0, ROWS, 5, LONG), *(Statistic(0, *each[1:]) for each in SIMPLE[5:])]
"""The third example: the statistics of an array that is no column, so that its rows stand at number 0."""
COMPLEX_ARRAY = [Statistic(0, ROWS, 3, LONG), *COMPLEX[1:12]]
"""The fourth: of a nested array."""
