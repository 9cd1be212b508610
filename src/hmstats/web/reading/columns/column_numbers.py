"""A column's stored statistics as numbers that say how sure they are.

Nulls, bounds and lengths are exact when all rows were looked at, and of a sample when a part of them was. A distinct
count is an estimate unless its writer says that every number is exact.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hmstats.client.tables.merged_statistics import MergedAnswers
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.answers import DistinctCount
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, known_ndv
from hmstats.model.statistics.frequent_values import FrequentValues as StoredValues
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.distinct import bit_vector
from hmstats.web.answers.columns import ColumnFacts, Frequent, FrequentValues, Quantile
from hmstats.web.answers.numbers import Bound, Certainty, Number, scalar
from hmstats.web.reading.columns.histograms import QUARTILES, histogram

_STANDARD_ERRORS = 3
"""Half the width of an estimate's interval: it contains the exact count in 99.7 % of all cases."""


@dataclass(frozen=True, slots=True)
class Found:
    """The facts read of a column: stored statistics, merged answers, their provenance, and why they are stale."""

    statistics: ColumnStatistics | None
    answers: MergedAnswers
    made: Provenance
    written_at_seconds: int | None = None
    stale: str | None = None


def column_facts(column: Column, found: Found, *, bins: int, is_key: bool = False) -> ColumnFacts:
    """The column with everything that is known of it."""
    bare = ColumnFacts(name=column.name, type=column.type, comment=column.comment or None, is_key=is_key)
    if found.statistics is None:
        return bare
    data: Any = found.statistics.data
    kind, sure = found.statistics.kind, _certainty(found.made)
    quantiles = found.answers.quantiles
    return ColumnFacts(
        name=column.name,
        type=column.type,
        comment=column.comment or None,
        is_key=is_key,
        nulls=_number(data.nulls, found.made),
        distinct=_distinct(found),
        least=_bound(kind, getattr(data, "low", None), found.made),
        greatest=_bound(kind, getattr(data, "high", None), found.made),
        trues=_number(getattr(data, "trues", None), found.made),
        falses=_number(getattr(data, "falses", None), found.made),
        average_length=getattr(data, "average_length", None),
        greatest_length=_number(getattr(data, "max_length", None), found.made),
        histogram=None if quantiles is None else histogram(kind, quantiles, bins),
        quantiles=_quartiles(kind, found),
        frequent=None if found.answers.frequent is None else _frequent(kind, found.answers.frequent, sure),
        written_at=None if found.written_at_seconds is None else datetime.fromtimestamp(found.written_at_seconds, UTC),
        writer=found.made.writer,
        tool=found.made.tool,
        stale=found.stale,
    )


def _certainty(made: Provenance) -> Certainty:
    if made.sample_fraction is None:
        return Certainty.EXACT if made.exact else Certainty.UNSAID
    return Certainty.EXACT if made.sample_fraction == 1 else Certainty.SAMPLE


def _sample(made: Provenance) -> float | None:
    return made.sample_fraction if _certainty(made) is Certainty.SAMPLE else None


def _number(value: int | None, made: Provenance) -> Number | None:
    if value is None:
        return None
    return Number(value=value, certainty=_certainty(made), sample_fraction=_sample(made))


def _bound(kind: Kind, value: Any, made: Provenance) -> Bound | None:
    if value is None:
        return None
    return Bound(value=scalar(kind, value), certainty=_certainty(made), sample_fraction=_sample(made))


def _distinct(found: Found) -> Number | None:
    data: Any = found.statistics.data if found.statistics else None
    if found.answers.distinct is not None:
        return _distinct_number(found.answers.distinct, _sample(found.made))
    count = None if data is None else known_ndv(data)
    if count is None:
        return None
    if found.made.exact:
        return Number(value=count, certainty=Certainty.EXACT)
    error = found.made.ndv_standard_error
    if error is None:
        error = bit_vector.standard_error(getattr(data, "bit_vector", None))
    if error is None:
        return Number(value=count)
    distance = round(_STANDARD_ERRORS * error * count)
    return _distinct_number(
        DistinctCount(count, error, max(0, count - distance), count + distance, exact=False), _sample(found.made)
    )


def _distinct_number(found: DistinctCount, sample: float | None) -> Number:
    if sample is not None:
        return Number(
            value=found.count,
            certainty=Certainty.SAMPLE,
            sample_fraction=sample,
            low=found.low,
            high=found.high,
            standard_error=found.standard_error,
        )
    if found.exact:
        return Number(value=found.count, certainty=Certainty.EXACT)
    if found.low is None or found.high is None:
        return Number(value=found.count)
    return Number(
        value=found.count,
        certainty=Certainty.ESTIMATE,
        low=found.low,
        high=found.high,
        standard_error=found.standard_error,
    )


def _quartiles(kind: Kind, found: Found) -> tuple[Quantile, ...]:
    """The quartiles among the quantiles that were asked for, after least and greatest value."""
    asked = found.answers.quantiles
    if asked is None or not asked.values:
        return ()
    form = _to_integer if kind is Kind.LONG else _to_single
    return tuple(
        Quantile(
            fraction=fraction,
            value=scalar(kind, form(asked.values[place])),
            low=scalar(kind, form(asked.low[place])),
            high=scalar(kind, form(asked.high[place])),
        )
        for place, fraction in enumerate(QUARTILES, start=2)
    )


def _to_integer(value: float) -> int:
    return round(value)


def _to_single(value: float) -> float:
    """The digits that single precision keeps."""
    return float(f"{value:.7g}")


def _frequent(kind: Kind, found: StoredValues, certainty: Certainty) -> FrequentValues:
    values = tuple(Frequent(value=scalar(kind, each.value), low=each.low, high=each.high) for each in found.values)
    exact = found.exact and certainty is not Certainty.SAMPLE
    return FrequentValues(values=values, count=found.count, unlisted=found.unlisted, exact=exact)
