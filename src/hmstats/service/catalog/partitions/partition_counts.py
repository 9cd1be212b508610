"""Counts the files of partitions that are added or altered, before their table is locked.

basic_statistics.py applies the counts once the table is locked. Invalid requests count nothing here:
the call itself refuses them later.
"""

from collections.abc import Callable, Sequence

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.location import qualify
from hmstats.model.catalog.objects import Partition, Table, TableName, is_view
from hmstats.model.parameters.basic_statistics import StatisticsSource, same_sizes
from hmstats.service.catalog.partitions.partition_rules import (
    FileCounts,
    default_location,
    location_of,
    partitions_by_name,
)
from hmstats.service.catalog.tables.basic_statistics import is_counted_when_new, recounts_partitions, stated_source
from hmstats.service.lookups import id_of
from hmstats.service.warehouse.file_listing import FileListing
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions


class PartitionCounts:
    """Counts files by location, within the time limit of `listing`."""

    def __init__(self, store: Store, listing: FileListing | None = None) -> None:
        self._store = store
        self._listing = listing or FileListing()

    def of_new(
        self,
        name: TableName,
        new: Callable[[Table], Sequence[Partition]],
        source: StatisticsSource = StatisticsSource.UNSAID,
    ) -> FileCounts:
        """Count the files of new partitions that state no file counts; `new` makes the partitions from their table.

        As in Hive, files are counted even if the writer asks for its parameters to be stored unchanged.
        """
        source = StatisticsSource.UNSAID if source is StatisticsSource.AS_GIVEN else source
        table = self._store.table(name)
        if table is None or is_view(table):
            return FileCounts(source)
        try:
            by_name = partitions_by_name(table, new(table))
        except (MetaError, InvalidObject):
            return FileCounts(source)
        locations = [
            location_of(partition) or default_location(table, each)
            for each, partition in by_name.items()
            if is_counted_when_new(partition.parameters, source)
        ]
        return self._count(source, locations)

    def of_altered(self, name: TableName, changed: Sequence[Partition], source: StatisticsSource) -> FileCounts:
        """Count the files of the altered partitions whose files may have changed."""
        if changed and stated_source(changed[0].parameters, source) is StatisticsSource.AS_GIVEN:
            return FileCounts(StatisticsSource.AS_GIVEN)
        table = self._store.table(name)
        if table is None or not recounts_partitions(table):
            return FileCounts(source)
        given = partitions_by_name(table, changed)
        with self._store.read() as connection:
            stored = partitions.get_many(connection, id_of(table), list(given))
        locations = [
            location_of(given[each]) or location_of(old)
            for each, old in stored.items()
            if not same_sizes(old.parameters, given[each].parameters)
        ]
        return self._count(source, locations)

    def _count(self, source: StatisticsSource, locations: Sequence[str | None]) -> FileCounts:
        return FileCounts(source, self._listing.sizes(qualify(each) for each in locations if each))
