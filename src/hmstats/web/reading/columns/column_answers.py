"""Distinct counts, quantiles and frequent values of columns, from sketches that came along or by calls of hmstats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hmstats.client import Metastore
from hmstats.client.tables.merged_statistics import MergedAnswers
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.answers import Quantiles
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.frequent_values import FrequentValue, FrequentValues
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.web.reading.columns.histograms import fractions

_ORDERED = frozenset(Kind) - {Kind.BOOLEAN, Kind.STRING, Kind.BINARY}
NOTHING = MergedAnswers(None, None, None)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class AnswerSizes:
    """How much is asked of a column: equal parts of its values, and frequent values."""

    parts: int
    frequent: int


def of_sketches(column: ColumnStatistics, wanted: AnswerSizes) -> MergedAnswers:
    """The answers that the column's own sketches give. Raises SketchError for corrupt ones."""
    histogram = getattr(column.data, "histogram", None)
    return MergedAnswers(
        _quantiles(KllHistogram.from_bytes(histogram), wanted.parts) if histogram else None,
        _frequent(column.kind, TopK.from_bytes(column.top_k), wanted.frequent) if column.top_k else None,
        None,
    )


def of_calls(
    service: Metastore, table: TableName, column: ColumnStatistics, names: Sequence[str], wanted: AnswerSizes
) -> MergedAnswers:
    """The answers over these partitions together, by three calls that a Hive Metastore does not know."""
    place = (table, column.column)

    def ask(question: Callable[..., Answer], *more: object) -> Answer | None:
        if not service.may_be_hmstats:
            return None
        try:
            return question(*place, *more, partitions=names)
        except CallRefused:  # nothing stored answers, or the metastore is not hmstats
            return None

    kind = column.kind
    ordered = kind_of(column.column_type) is not None and kind in _ORDERED
    return MergedAnswers(
        ask(service.quantiles, fractions(wanted.parts)) if ordered else None,
        ask(service.top_k, wanted.frequent),
        ask(service.distinct_count) if kind is not Kind.BINARY else None,
    )


def fill_in(own: MergedAnswers, other: MergedAnswers) -> MergedAnswers:
    """The answers of one, and those of the other where there are none."""
    known: dict[str, Any] = {
        name: getattr(own, name) if getattr(own, name) is not None else getattr(other, name)
        for name in ("quantiles", "frequent", "distinct")
    }
    return replace(other, **known)


def _quantiles(sketch: KllHistogram, parts: int) -> Quantiles:
    ask, error = fractions(parts), sketch.rank_error
    low, high = ([min(max(each + by, 0.0), 1.0) for each in ask] for by in (-error, error))
    values, lows, highs = (tuple(sketch.quantiles(each)) for each in (ask, low, high))
    return Quantiles(values, lows, highs, error, sketch.count, exact=not error)


def _frequent(kind: Kind, sketch: TopK, k: int) -> FrequentValues:
    ranked = sketch.top()
    values = tuple(FrequentValue(frequent_values.value(kind, text), low, high) for text, low, high in ranked[:k])
    unlisted = max([high for _, _, high in ranked[k : k + 1]], default=min(sketch.error, sketch.count))
    return FrequentValues(values, sketch.count, unlisted, exact=sketch.error == 0)
