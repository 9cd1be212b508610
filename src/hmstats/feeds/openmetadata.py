"""A table as the profile of OpenMetadata: the body of PUT /v1/tables/{id}/tableProfile.

Source of the format: createTableProfile and table of OpenMetadata's JSON schemas (the models in the package
openmetadata-ingestion), which refuse unknown fields. uniqueCount there counts values that occur once, so the number of
distinct values is distinctCount alone. The bounds of a distinct count are custom metrics.
"""

from typing import Any

from hmstats.feeds.profiles import (
    column_number,
    database_of,
    fraction_of,
    text,
    timestamp_ms,
    values_count,
    without_none,
)
from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.numbers import Certainty
from hmstats.web.answers.tables import TableFacts

_QUARTILES = {0.25: "firstQuartile", 0.5: "median", 0.75: "thirdQuartile"}


def full_name(table: TableFacts, prefix: str) -> str:
    """The fully qualified name, whose parts are quoted when they have a dot. `prefix` is SERVICE.DATABASE."""
    names = (f'"{each}"' if "." in each else each for each in (database_of(table), table.name))
    return ".".join((prefix, *names))


def table_profile(table: TableFacts, now_ms: int) -> dict[str, Any]:
    """The profile of a table and of its columns."""
    at = timestamp_ms(table, now_ms)
    sample = _sample(table)
    profile = without_none(
        timestamp=at,
        rowCount=None if table.rows is None else table.rows.value,
        columnCount=table.column_count,
        sizeInByte=None if table.size_bytes is None else table.size_bytes.value,
        profileSample=None if sample is None else 100 * sample,
        profileSampleType=None if sample is None else "PERCENTAGE",
    )
    return {
        "tableProfile": profile,
        "columnProfile": [_column(table, each, at) for each in table.columns if each.is_known],
    }


def _column(table: TableFacts, column: ColumnFacts, at_ms: int) -> dict[str, object]:
    rows = None if table.rows is None else table.rows.value
    quartiles = {
        name: column_number(column, each.value)
        for each in column.quantiles
        for fraction, name in _QUARTILES.items()
        if each.fraction == fraction
    }
    low, high = quartiles.get("firstQuartile"), quartiles.get("thirdQuartile")
    return without_none(
        name=column.name,
        timestamp=at_ms,
        valuesCount=values_count(table, column),
        nullCount=None if column.nulls is None else column.nulls.value,
        nullProportion=fraction_of(column.nulls, rows),
        distinctCount=None if column.distinct is None else column.distinct.value,
        distinctProportion=fraction_of(column.distinct, rows),
        min=_bound(column, column.least),
        max=_bound(column, column.greatest),
        maxLength=None if column.greatest_length is None else column.greatest_length.value,
        interQuartileRange=None if low is None or high is None else high - low,
        histogram=_histogram(column),
        customMetrics=_bounds_of_distinct(column),
        **quartiles,
    )


def _bound(column: ColumnFacts, found: Any) -> object:
    if found is None:
        return None
    number = column_number(column, found.value)
    return text(found.value) if number is None else number


def _histogram(column: ColumnFacts) -> dict[str, object] | None:
    found = column.histogram
    if found is None:
        return None
    names = [f"{text(low)} to {text(high)}" for low, high in zip(found.edges, found.edges[1:], strict=False)]
    return {"boundaries": names, "frequencies": [round(each) for each in found.counts]}


def _bounds_of_distinct(column: ColumnFacts) -> list[dict[str, object]] | None:
    found = column.distinct
    if found is None or found.low is None or found.high is None:
        return None
    return [{"name": "distinct_low", "value": found.low}, {"name": "distinct_high", "value": found.high}]


def _sample(table: TableFacts) -> float | None:
    """The least part of the rows that was looked at; None if all of them were, or if unknown."""
    numbers = (each.nulls for each in table.columns)
    parts = [each.sample_fraction for each in numbers if each is not None and each.certainty is Certainty.SAMPLE]
    return min((each for each in parts if each is not None), default=None)
