"""Hypothesis strategies for all statistics of a table, with values that every form can hold."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import (
    DATA_CLASSES,
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
    known_ndv,
)
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics

COUNTS = st.none() | st.integers(0, 2**53)
"""An estimated count is a floating number: good to 2^53."""
SECONDS = st.integers(-(2**40), 2**40)
SKETCHES = st.none() | st.binary(min_size=1, max_size=20)
LENGTHS = st.none() | st.floats(0, 1e9)
TYPES = {
    "boolean": BooleanStatistics,
    "tinyint": LongStatistics,
    "bigint": LongStatistics,
    "double": DoubleStatistics,
    "float": DoubleStatistics,
    "string": StringStatistics,
    "varchar(7)": StringStatistics,
    "binary": BinaryStatistics,
    "decimal(38,10)": DecimalStatistics,
    "date": DateStatistics,
    "timestamp": TimestampStatistics,
    "timestamp with local time zone": TimestampStatistics,
}
NESTED = ("array<int>", "map<string,array<int>>", "struct<a:int,b:struct<c:string>>", "void")

_BOUNDS: Mapping[type[Data], st.SearchStrategy[Any]] = {
    LongStatistics: st.integers(-(2**63), 2**63 - 1),
    DoubleStatistics: st.floats(allow_nan=False),
    DecimalStatistics: st.integers(-(10**38) + 1, 10**38 - 1).map(lambda unscaled: Decimal(f"{unscaled}E-10")),
    DateStatistics: st.integers(-(2**31), 2**31 - 1),
    TimestampStatistics: SECONDS,
}
PROVENANCES = st.builds(
    Provenance,
    exact=st.none() | st.booleans(),
    ndv_standard_error=st.none() | st.floats(0, 1),
    rows_seen=COUNTS,
    sample_fraction=st.none() | st.just(1.0) | st.floats(0, 1),
    writer=st.none() | st.text(max_size=5),
    tool=st.none() | st.just("hmstats 1") | st.text(max_size=5),
    written_at_seconds=st.none() | SECONDS,
)


def data_of(data_class: type[Data]) -> st.SearchStrategy[Data]:
    given: dict[str, Any] = {
        "nulls": st.integers(0, 2**53),
        "ndv": COUNTS,
        "trues": COUNTS,
        "falses": COUNTS,
        "max_length": COUNTS,
        "average_length": LENGTHS,
        "bit_vector": SKETCHES,
        "histogram": SKETCHES,
    }
    bounds = st.none() | _BOUNDS.get(data_class, st.none())
    given |= {"low": bounds, "high": bounds}
    built: st.SearchStrategy[Any] = st.builds(data_class, **{field: given[field] for field in data_class.__slots__})
    return built.filter(lambda data: known_ndv(data) == getattr(data, "ndv", None))  # 0 beside values is unknown


@st.composite
def table_statistics(draw: st.DrawFn) -> TableStatistics:
    """A table, a partition or a result, some of whose columns have statistics."""
    names = draw(st.lists(st.text("abcdefgh_1", min_size=1, max_size=6), max_size=5, unique=True))
    types = draw(st.lists(st.sampled_from([*TYPES, *NESTED]), min_size=len(names), max_size=len(names)))
    columns = tuple(Column(name, type_) for name, type_ in zip(names, types, strict=True))
    found = [
        ColumnStatistics(
            each.name,
            each.type,
            draw(data_of(TYPES[each.type])),
            draw(SKETCHES),
            draw(st.none() | PROVENANCES.filter(lambda made: made != Provenance())),
        )
        for each in columns
        if each.type in TYPES and draw(st.booleans())
    ]
    assert all(type(each.data) is DATA_CLASSES[each.kind] for each in found)
    rows = draw(COUNTS)
    return TableStatistics(
        name=draw(st.none() | st.builds(TableName, *[st.text("abc.#", min_size=1, max_size=5)] * 3)),
        columns=columns,
        statistics=StatisticsSet(
            tuple(found),
            draw(st.none() | st.just("k=1/l=ü")),
            draw(st.sampled_from(["hive", "impala"])),
            draw(st.none() | SECONDS),
        ),
        rows=rows,
        rows_exact=draw(st.booleans()) if rows is not None else False,
    )
