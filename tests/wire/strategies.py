"""Hypothesis strategies for the model: column statistics of every kind."""

from decimal import Decimal

from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StringStatistics,
    TimestampStatistics,
)

COUNTS = st.integers(0, 2**63 - 1)
LONGS = st.none() | st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.none() | st.floats(allow_nan=False)
SKETCHES = st.none() | st.binary(min_size=1, max_size=20)
DECIMALS = st.none() | st.builds(
    lambda unscaled, scale: Decimal(f"{unscaled}E{-scale}"),
    st.integers(-(10**38), 10**38),
    st.integers(-50, 50),
)


def _bounded(data_class: type[Data], bounds: st.SearchStrategy[object]) -> st.SearchStrategy[Data]:
    return st.builds(
        data_class, low=bounds, high=bounds, nulls=COUNTS, ndv=COUNTS, bit_vector=SKETCHES, histogram=SKETCHES
    )


DATA: dict[str, st.SearchStrategy[Data]] = {
    "boolean": st.builds(BooleanStatistics, trues=COUNTS, falses=COUNTS, nulls=COUNTS),
    "bigint": _bounded(LongStatistics, LONGS),
    "double": _bounded(DoubleStatistics, DOUBLES),
    "string": st.builds(
        StringStatistics,
        max_length=COUNTS,
        average_length=st.floats(0, 1e9),
        nulls=COUNTS,
        ndv=COUNTS,
        bit_vector=SKETCHES,
    ),
    "binary": st.builds(BinaryStatistics, max_length=COUNTS, average_length=st.floats(0, 1e9), nulls=COUNTS),
    "decimal(38,10)": _bounded(DecimalStatistics, DECIMALS),
    "date": _bounded(DateStatistics, LONGS),
    "timestamp": _bounded(TimestampStatistics, LONGS),
}


@st.composite
def column_statistics(draw: st.DrawFn) -> ColumnStatistics:
    """Known statistics of a column of any kind."""
    column_type = draw(st.sampled_from(sorted(DATA)))
    name = draw(st.text("abcdefgh_123", min_size=1, max_size=12))
    return ColumnStatistics(name, column_type, draw(DATA[column_type]))
