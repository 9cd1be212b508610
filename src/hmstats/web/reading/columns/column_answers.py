"""Distinct counts, quantiles and frequent values of columns, from sketches that came along or by calls of hmstats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hmstats.client import Metastore
from hmstats.client.tables.merged_statistics import MergedAnswers
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.sketch.answers import read_frequent, read_quantiles
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
        read_quantiles(KllHistogram.from_bytes(histogram), fractions(wanted.parts)) if histogram else None,
        read_frequent(column.kind, TopK.from_bytes(column.top_k), wanted.frequent) if column.top_k else None,
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
