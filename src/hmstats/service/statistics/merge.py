"""Merges written column statistics into stored ones.

Written statistics are validated. Stored ones may come from another writer: an unreadable stored sketch is skipped
and logged.
"""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from hmstats.errors import SketchError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.merge import merge
from hmstats.sketch.distinct import bit_vector, hll_bytes
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.merging import MergedSketches

_log = structlog.get_logger(__name__)


def merge_sets(name: TableName, new: StatisticsSet, stored: Sequence[StatisticsSet]) -> StatisticsSet:
    """The new set merged into the stored one of its engine; if it has a column twice, both entries are merged."""
    columns = {each.column: each for found in stored if found.engine == new.engine for each in found.columns}
    for each in new.columns:
        columns[each.column] = _merge_columns(name, new.partition, columns.get(each.column), each)
    return replace(new, columns=tuple(columns[each] for each in dict.fromkeys(column.column for column in new.columns)))


def latest_of_each_column(new: StatisticsSet) -> StatisticsSet:
    """The set with one entry for each column; of two, the later one."""
    return replace(new, columns=tuple({each.column: each for each in new.columns}.values()))


def count_distinct(vector: bytes) -> int | None:
    """The distinct count of a valid bit vector: 0 if it is empty, for which Hive says 1."""
    if vector.startswith(hll_bytes.MAGIC):
        return HiveHll.from_bytes(vector).count()
    return bit_vector.estimate(vector)


def log_ignored(name: TableName, column: str, error: SketchError, partition: str | None = None) -> None:
    """Log that a stored sketch is unreadable and skipped."""
    _log.warning("stored_sketch_ignored", object=str(name), partition=partition, column=column, reason=str(error))


def _merge_columns(
    name: TableName, partition: str | None, stored: ColumnStatistics | None, new: ColumnStatistics
) -> ColumnStatistics:
    """The merged statistics; the new ones alone if the stored ones are of another kind, from an earlier column type."""
    if stored is None or stored.kind is not new.kind:
        return new
    return merge(stored, new, MergedSketches(lambda error: log_ignored(name, new.column, error, partition)))
