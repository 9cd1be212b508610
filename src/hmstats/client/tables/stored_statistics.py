"""All statistics that a metastore has of a table or its partitions, from hmstats or from a Hive Metastore."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hmstats.client.connection.batches import PARTITIONS_A_CALL, batches
from hmstats.client.metastore import Metastore
from hmstats.errors import UnknownCall
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Parameters, Partition, Table
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import NUM_ROWS, known_rows
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.table_statistics import TableStatistics


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """A table, or a partition of it (`statistics.partition` is its name): its parameters and its statistics."""

    table: Table
    parameters: Parameters
    statistics: StatisticsSet

    @property
    def title(self) -> str:
        """The heading in printed output: `database.table`, then the partition's name if there is one."""
        table = self.table.name.typed
        return f"{table} {self.statistics.partition}" if self.statistics.partition else table

    def table_statistics(self) -> TableStatistics:
        """These statistics as the outlets take them."""
        return TableStatistics(
            name=self.table.name,
            columns=data_columns(self.table),
            statistics=self.statistics,
            rows=known_rows(self.parameters),
            rows_exact=Accurate.parse(self.parameters.get(PARAMETER)).basic,
        )


def own_statistics(service: Metastore, table: Table) -> StoredStatistics:
    """The table's own statistics, an empty set if only its partitions have any."""
    found = next(iter(_sets(service, table, None)), StatisticsSet(()))
    if table.partition_keys and found.columns:
        found = _without_derived(service, table, found)
    return StoredStatistics(table, table.parameters, found)


def stored_table(
    service: Metastore,
    table: Table,
    columns: Sequence[str] | None = None,
    partition_names: Sequence[str] | None = None,
) -> StoredStatistics:
    """The table's own statistics of these columns (None: all); if a partitioned table has none, its partitions' merged.

    `partition_names` are those of all partitions (None: they are asked for). hmstats sums rows, files and bytes of
    partitions itself. Those of a Hive Metastore are read in batches and summed.
    """
    wanted = statistics_columns(table) if columns is None else columns
    found = next(iter(_sets_of(service, table, wanted, None)), StatisticsSet(()))
    if not table.partition_keys:
        return StoredStatistics(table, table.parameters, found)
    names = service.partition_names(table.name) if partition_names is None else partition_names
    if names and wanted and not found.columns:
        merged, _ = service.aggregated_statistics(table.name, wanted, names)
        found = StatisticsSet(merged)
    parameters = {**_with_counts(service, table, names), "numPartitions": str(len(names))}
    return StoredStatistics(table, parameters, found)


def stored_partitions(service: Metastore, table: Table, names: Iterable[str]) -> Iterator[StoredStatistics]:
    """The statistics of the named partitions, in the names' order, read in batches.

    A name without a partition is skipped; a partition without statistics has an empty set.
    """
    keys = [key.name for key in table.partition_keys]
    for batch in batches(names, PARTITIONS_A_CALL):
        found = {partition_name(keys, each.values): each for each in service.partitions(table.name, batch)}
        sets = {each.partition: each for each in _sets(service, table, batch)}
        for name in batch:
            if name in found:
                yield StoredStatistics(table, found[name].parameters, sets.get(name, StatisticsSet((), name)))


def statistics_columns(table: Table) -> list[str]:
    """The columns that can have statistics."""
    return [column.name for column in data_columns(table) if kind_of(column.type) is not None]


def _sets(service: Metastore, table: Table, names: Sequence[str] | None) -> list[StatisticsSet]:
    return _sets_of(service, table, statistics_columns(table), names)


def _sets_of(
    service: Metastore, table: Table, columns: Sequence[str], names: Sequence[str] | None
) -> list[StatisticsSet]:
    """The stored sets in the order of the columns, with sketches and provenance if the metastore is hmstats."""
    if not columns:
        return []
    try:
        sets = list(service.statistics(table.name, columns, names))
    except UnknownCall:
        if names is None:
            return [StatisticsSet(service.table_statistics(table.name, columns))]
        return list(service.partition_statistics(table.name, columns, names))
    places = {column.lower(): place for place, column in enumerate(columns)}
    return [replace(s, columns=tuple(sorted(s.columns, key=lambda c: places.get(c.column, 0)))) for s in sets]


def _without_derived(service: Metastore, table: Table, found: StatisticsSet) -> StatisticsSet:
    """The set without statistics that hmstats derived from partitions: only stored ones have a provenance."""
    try:
        stored = {each.column for each in service.provenance(table.name)}
    except UnknownCall:
        return found
    return replace(found, columns=tuple(each for each in found.columns if each.column in stored))


def _with_counts(service: Metastore, table: Table, names: Sequence[str]) -> Parameters:
    if NUM_ROWS in table.parameters:
        return table.parameters
    if service.may_be_hmstats and statistics_columns(table):  # a Hive Metastore was found out by _sets()
        return service.answered_parameters(table.name)
    return {**table.parameters, **_counts(service.partitions(table.name, names))}


def _counts(partitions: Iterable[Partition]) -> dict[str, str]:
    """The sums of the counts that all partitions have."""
    sums: dict[str, int | None] = dict.fromkeys((NUM_ROWS, "totalSize", "numFiles"), 0)
    for partition in partitions:
        for name, before in sums.items():
            text = partition.parameters.get(name, "")
            sums[name] = before + int(text) if before is not None and text.isdecimal() else None
    return {name: str(count) for name, count in sums.items() if count is not None}
