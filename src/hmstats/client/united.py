"""What the sketches of all partitions of a table say of its columns together. Only hmstats unites them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hmstats.client.metastore import Metastore
from hmstats.client.stored import Stored
from hmstats.errors import CallRefused, UnknownCall
from hmstats.model.answers import DistinctCount, Quantiles
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics
from hmstats.model.frequent_values import FrequentValues
from hmstats.model.names import partition_name
from hmstats.model.staleness import stale, why_stale
from hmstats.sketch import bit_vector
from hmstats.sketch.kll import KllHistogram
from hmstats.sketch.top_k import TopK

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class United:
    """The answers about a column, None where nothing stored answers.

    `written_at_seconds` is when the oldest of its statistics were written; `stale` says in how many partitions they are
    behind the rows, None when in none.
    """

    quantiles: Quantiles | None
    frequent: FrequentValues | None
    distinct: DistinctCount | None
    written_at_seconds: int | None = None
    stale: str | None = None


def united(service: Metastore, name: TableName, column: str, fractions: Sequence[float], k: int) -> United:
    """The quantiles at these fractions, the `k` most frequent values, and the distinct count with its error."""
    return United(
        _answer(lambda: service.quantiles(name, column, fractions)),
        _answer(lambda: service.top_k(name, column, k)),
        _answer(lambda: service.distinct_count(name, column)),
    )


def united_columns(service: Metastore, found: Stored, fractions: Sequence[float], k: int) -> dict[str, United]:
    """The answers about the columns whose statistics are not stored for the table itself, but for its partitions."""
    names = _derived(found)
    details = _details(service, found, names) if names else {}
    return {
        name: replace(united(service, found.table.name, name, fractions, k), **details.get(name, {})) for name in names
    }


def staleness(column: ColumnStatistics, found: Stored, answers: Mapping[str, United]) -> str | None:
    """Why a column's statistics are behind the rows of the table, its partitions, or a partition; None when not."""
    return answers[column.column].stale if column.column in answers else stale(column, found.parameters)


def _details(service: Metastore, found: Stored, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    """When the oldest statistics of each column were written, and in how many partitions they are stale."""
    name, keys = found.table.name, [key.name for key in found.table.partition_keys]
    made = _answer(lambda: service.provenance(name, columns, [])) or []
    partitions = service.partitions(name, service.partition_names(name)) if made else ()
    parameters = {partition_name(keys, each.values): each.parameters for each in partitions}
    details: dict[str, dict[str, Any]] = {}
    for column in columns:
        own = [each for each in made if each.column == column and each.partition in parameters]
        written = [each.provenance.written_at_seconds for each in own if each.provenance.written_at_seconds is not None]
        old = (each for each in own if why_stale(column, each.provenance, parameters[each.partition or ""]))
        behind = len({each.partition for each in old})
        text = f"in {behind:,} of {len(parameters):,} partitions" if behind else None
        details[column] = {"written_at_seconds": min(written, default=None), "stale": text}
    return details


def with_united_sketches(service: Metastore, found: Stored) -> Stored:
    """The same with the sketches of all partitions, united here, for columns that have none of their own.

    They are asked for in batches, but all of them come. A column that some partition has no sketch of has none.
    """
    names = _derived(found)
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
        sketches[each.column].given_to(each, len(partitions)) if each.column in sketches else each
        for each in found.statistics.columns
    )
    return replace(found, statistics=replace(found.statistics, columns=columns))


class _Sketches:
    """The union of one column's sketches, each with the number of those that are in it."""

    def __init__(self) -> None:
        self._vectors: tuple[bytes | None, int] = (None, 0)
        self._histogram: tuple[KllHistogram, int] = (KllHistogram(), 0)
        self._top: tuple[TopK, int] = (TopK(), 0)

    def add(self, column: ColumnStatistics) -> None:
        """Take in what a partition has. Raises SketchError for what is damaged."""
        vector, count = self._vectors
        own = getattr(column.data, "bit_vector", None)
        if own:
            united = bit_vector.unite([own] if vector is None else [vector, own])
            self._vectors = (united, count if united is None else count + 1)  # those of two kinds are none
        histogram = getattr(column.data, "histogram", None)
        if histogram:
            self._histogram = (self._histogram[0].merge(KllHistogram.from_bytes(histogram)), self._histogram[1] + 1)
        if column.top_k:
            self._top = (self._top[0].merge(TopK.from_bytes(column.top_k)), self._top[1] + 1)

    def given_to(self, column: ColumnStatistics, partitions: int) -> ColumnStatistics:
        """The column with those that all partitions have."""
        data: Any = column.data
        whole = {
            "bit_vector": self._vectors[0] if self._vectors[1] == partitions else None,
            "histogram": self._histogram[0].to_bytes() if self._histogram[1] == partitions else None,
        }
        known = {name: sketch for name, sketch in whole.items() if sketch is not None and hasattr(data, name)}
        top_k = self._top[0].to_bytes() if self._top[1] == partitions else None
        return replace(column, data=replace(data, **known), top_k=top_k or column.top_k)


def _derived(found: Stored) -> list[str]:
    if found.statistics.partition is not None or not found.table.partition_keys:
        return []
    return [each.column for each in found.statistics.columns if each.provenance is None]


def _answer(question: Callable[[], Answer]) -> Answer | None:
    try:
        return question()
    except CallRefused:
        return None
