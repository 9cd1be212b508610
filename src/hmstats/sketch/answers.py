"""Answers of sketches to questions about a column's values, each with its error."""

from collections.abc import Sequence

from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.answers import Quantiles
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.frequent_values import FrequentValue, FrequentValues
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram


def read_quantiles(sketch: KllHistogram, fractions: Sequence[float]) -> Quantiles:
    """Return the values below which these fractions of all values lie, as floats."""
    error = sketch.rank_error
    low = sketch.quantiles([max(0.0, each - error) for each in fractions])
    high = sketch.quantiles([min(1.0, each + error) for each in fractions])
    values = sketch.quantiles(fractions)
    return Quantiles(tuple(values), tuple(low), tuple(high), error, sketch.count, exact=not error)


def read_frequent(kind: Kind, sketch: TopK, k: int) -> FrequentValues:
    """Return the `k` most frequent values of a column of a kind."""
    ranked = sketch.top()
    values = tuple(FrequentValue(frequent_values.value(kind, text), low, high) for text, low, high in ranked[:k])
    unlisted = max([high for _, _, high in ranked[k : k + 1]], default=min(sketch.error, sketch.count))
    return FrequentValues(values, sketch.count, unlisted, exact=sketch.error == 0)
