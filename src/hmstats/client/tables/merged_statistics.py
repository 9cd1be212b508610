"""Statistics of columns merged from the sketches of all partitions of a table. Only hmstats has the call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmstats.client.metastore import Metastore
from hmstats.client.tables.stored_statistics import StoredStatistics
from hmstats.errors import UnknownCall
from hmstats.model.statistics.answers import DistinctCount, MergedColumn, Quantiles
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.frequent_values import FrequentValues
from hmstats.model.statistics.staleness import stale
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram


@dataclass(frozen=True, slots=True)
class MergedAnswers:
    """The merged answers about a column, None if nothing stored answers.

    `written_at_seconds` is when the oldest of its statistics were written; `stale` tells in how many partitions they
    are stale, None if in none.
    """

    quantiles: Quantiles | None
    frequent: FrequentValues | None
    distinct: DistinctCount | None
    written_at_seconds: int | None = None
    stale: str | None = None


def merged_columns(
    service: Metastore, found: StoredStatistics, fractions: Sequence[float], k: int
) -> dict[str, MergedAnswers]:
    """The merged answers about the columns that have statistics in partitions, but none of the table itself.

    The quantiles are at `fractions`, and the frequent values the `k` most frequent. All are requested in one call,
    which a Hive Metastore does not know.
    """
    names = _derived_columns(found)
    if not names:
        return {}
    try:
        answers, partitions = service.merged_statistics(found.table.name, names, fractions, k)
    except UnknownCall:
        return {name: MergedAnswers(None, None, None) for name in names}
    return {each.column: _answers(each, partitions) for each in answers}


def _answers(answer: MergedColumn, partitions: int) -> MergedAnswers:
    behind = f"in {answer.stale_partitions:,} of {partitions:,} partitions" if answer.stale_partitions else None
    frequent = None if answer.frequent is None else answer.frequent[1]
    return MergedAnswers(answer.quantiles, frequent, answer.distinct, answer.written_at_seconds, behind)


def staleness(column: ColumnStatistics, found: StoredStatistics, answers: Mapping[str, MergedAnswers]) -> str | None:
    """Why a column's statistics of the table, its partitions, or a partition are stale; None if they are not."""
    return answers[column.column].stale if column.column in answers else stale(column, found.parameters)


def with_merged_sketches(service: Metastore, found: StoredStatistics) -> StoredStatistics:
    """A table's statistics, with merged sketches for the columns that have no sketch of their own.

    The sketches of all partitions are read in batches and merged by the client. If a partition has no sketch of a
    column, the column gets none. A metastore without the call leaves the statistics unchanged.
    """
    names = _derived_columns(found)
    if not names:
        return found
    partitions = service.partition_names(found.table.name)
    sketches = {name: _Sketches() for name in names}
    try:
        for each in service.statistics(found.table.name, names, partitions):
            for column in each.columns:
                sketches[column.column].add(column)
    except UnknownCall:
        return found
    columns = tuple(
        sketches[each.column].apply_to(each, len(partitions)) if each.column in sketches else each
        for each in found.statistics.columns
    )
    return replace(found, statistics=replace(found.statistics, columns=columns))


class _Sketches:
    """Merges one column's sketches, and counts the sketches of each kind."""

    def __init__(self) -> None:
        self._vectors: tuple[bytes | None, int] = (None, 0)
        self._histogram: tuple[KllHistogram, int] = (KllHistogram(), 0)
        self._top: tuple[TopK, int] = (TopK(), 0)

    def add(self, column: ColumnStatistics) -> None:
        """Merge a partition's sketches. Raises SketchError for corrupt ones."""
        vector, count = self._vectors
        own = getattr(column.data, "bit_vector", None)
        if own:
            merged = bit_vector.merge([own] if vector is None else [vector, own])
            self._vectors = (merged, count if merged is None else count + 1)  # sketches of two kinds do not merge
        histogram = getattr(column.data, "histogram", None)
        if histogram:
            self._histogram = (self._histogram[0].merge(KllHistogram.from_bytes(histogram)), self._histogram[1] + 1)
        if column.top_k:
            self._top = (self._top[0].merge(TopK.from_bytes(column.top_k)), self._top[1] + 1)

    def apply_to(self, column: ColumnStatistics, partitions: int) -> ColumnStatistics:
        """The column with the merged sketches, if all partitions have them."""
        data: Any = column.data
        whole = {
            "bit_vector": self._vectors[0] if self._vectors[1] == partitions else None,
            "histogram": self._histogram[0].to_bytes() if self._histogram[1] == partitions else None,
        }
        known = {name: sketch for name, sketch in whole.items() if sketch is not None and hasattr(data, name)}
        top_k = self._top[0].to_bytes() if self._top[1] == partitions else None
        return replace(column, data=replace(data, **known), top_k=top_k or column.top_k)


def _derived_columns(found: StoredStatistics) -> list[str]:
    if found.statistics.partition is not None or not found.table.partition_keys:
        return []
    return [each.column for each in found.statistics.columns if each.provenance is None]
