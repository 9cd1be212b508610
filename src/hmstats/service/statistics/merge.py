"""Merging written column statistics into the stored ones.

What is written was validated. What is stored may come from another writer: a stored sketch that cannot be read is left
out, with a line in the log.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from hmstats.errors import SketchError
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.merge import merge
from hmstats.sketch import bit_vector, hll_bytes
from hmstats.sketch.hive_hll import HiveHll
from hmstats.sketch.kll import KllHistogram
from hmstats.sketch.top_k import TopK

_log = structlog.get_logger(__name__)


def merged(name: TableName, new: StatisticsSet, stored: Sequence[StatisticsSet]) -> StatisticsSet:
    """The new set merged into what is stored of its engine; of what it says twice of a column both count."""
    columns = {each.column: each for found in stored if found.engine == new.engine for each in found.columns}
    for each in new.columns:
        columns[each.column] = _merged(name, new.partition, columns.get(each.column), each)
    return replace(new, columns=tuple(columns[each] for each in dict.fromkeys(column.column for column in new.columns)))


def latest(new: StatisticsSet) -> StatisticsSet:
    """The set with one entry for each column, the later of two."""
    return replace(new, columns=tuple({each.column: each for each in new.columns}.values()))


def count_distinct(vector: bytes) -> int | None:
    """The distinct values that a sound bit vector has seen: 0, where Hive says 1, when it has seen none."""
    if vector.startswith(hll_bytes.MAGIC):
        return HiveHll.from_bytes(vector).count()
    return bit_vector.estimate(vector)


def ignored(name: TableName, column: str, error: SketchError, partition: str | None = None) -> None:
    """Say in the log that a stored sketch was left out."""
    _log.warning("stored sketch ignored", object=str(name), partition=partition, column=column, reason=str(error))


@dataclass(frozen=True, slots=True)
class _OfColumn:
    """Unites the sketches of one column; the first is the stored one."""

    name: TableName
    partition: str | None
    column: str

    def unite_bit_vectors(self, one: bytes, other: bytes) -> tuple[bytes, int | None]:
        """The union and its distinct values; of kinds that do not unite the HyperLogLog sketch stays."""
        of_hll = [each.startswith(hll_bytes.MAGIC) for each in (one, other)]
        try:
            if all(of_hll):
                hll = HiveHll.merge_many([one, other])
                return hll.to_bytes(), hll.count()
            united = bit_vector.unite([one, other])
        except SketchError as error:
            ignored(self.name, self.column, error, self.partition)
            return other, None
        if united is None:
            return (one if of_hll[0] else other), None
        return united, bit_vector.estimate(united)

    def unite_histograms(self, one: bytes, other: bytes) -> bytes:
        """The union, as large as the smaller one."""
        try:
            stored = KllHistogram.from_bytes(one)
        except SketchError as error:
            ignored(self.name, self.column, error, self.partition)
            return other
        return stored.merge(KllHistogram.from_bytes(other)).to_bytes()

    def unite_top_k(self, one: bytes, other: bytes) -> bytes | None:
        """The union; None when the stored one cannot be read."""
        try:
            return TopK.merge_many([one, other]).to_bytes()
        except SketchError as error:
            ignored(self.name, self.column, error, self.partition)
            return None


def _merged(
    name: TableName, partition: str | None, stored: ColumnStatistics | None, new: ColumnStatistics
) -> ColumnStatistics:
    """The union, or the new alone where the stored ones are of another kind: the column's type was another then."""
    if stored is None or stored.kind is not new.kind:
        return new
    return merge(stored, new, _OfColumn(name, partition, new.column))
