"""A table's statistics at a time, in the form in which those of today are read."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hmstats.client import Metastore
from hmstats.client.tables.stored_statistics import StoredStatistics
from hmstats.model.catalog.objects import Table
from hmstats.model.parameters.row_counts import NUM_ROWS
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, ColumnStatistics, StatisticsSet
from hmstats.model.statistics.history import PastStatistics
from hmstats.model.statistics.merge import merge
from hmstats.sketch.merging import MergedSketches
from hmstats.web.reading.counts import Counts, counts_of, sums_of


def past_table(
    service: Metastore, table: Table, at_ms: int, columns: Sequence[str]
) -> tuple[StoredStatistics, Counts, int | None]:
    """The statistics of these columns, rows, bytes and files, and the number of partitions, at epoch ms.

    A partitioned table without own statistics has those of its partitions merged.
    """
    own = service.past.past(table.name, at_ms, columns)
    parameters = own.parameters.get("", {})
    found = next(iter(_of_engine(own.sets)), StatisticsSet(()))
    if not table.partition_keys:
        return StoredStatistics(table, parameters, found), counts_of(parameters), None
    stored, counts, partitions = past_partitions(service, table, at_ms, columns, [])
    if NUM_ROWS in parameters:
        counts = counts_of(parameters)
    return StoredStatistics(table, parameters, found if found.columns else stored.statistics), counts, partitions


def past_partitions(
    service: Metastore, table: Table, at_ms: int, columns: Sequence[str], names: Sequence[str]
) -> tuple[StoredStatistics, Counts, int]:
    """The merged statistics of partitions (empty: all), the sums of their counts, and their number, at epoch ms."""
    below = service.past.past(table.name, at_ms, columns, names)
    places = {each for each in below.parameters if each}
    merged = tuple(_merge_column(below, each, len(places)) for each in columns)
    found = StatisticsSet(tuple(each for each in merged if each is not None))
    counts = sums_of(below.parameters[each] for each in sorted(places)) if places else Counts(None, None, None)
    return StoredStatistics(table, {}, found), counts, len(places)


def _of_engine(sets: Iterable[StatisticsSet]) -> list[StatisticsSet]:
    """The sets of the engine that counts: Hive's, else another's."""
    every = [each for each in sets if each.columns]
    return [each for each in every if each.engine == DEFAULT_ENGINE] or every


def _merge_column(below: PastStatistics, name: str, partitions: int) -> ColumnStatistics | None:
    """A column's statistics of all partitions together; None if one of them has none, or they are of several types."""
    by_place: dict[str | None, ColumnStatistics] = {}
    for found in reversed(_of_engine(below.sets)):
        for each in found.columns:
            if each.column.lower() == name.lower():
                by_place[found.partition] = each
    some = list(by_place.values())
    if not some or len(some) < partitions or len({each.kind for each in some}) > 1:
        return None
    together = some[0]
    for each in some[1:]:
        together = merge(together, each, MergedSketches(lambda _: None))
    return replace(together, column=name)
