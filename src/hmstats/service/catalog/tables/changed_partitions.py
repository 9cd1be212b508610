"""Partitions whose files changed without a call to the metastore.

Stock Spark appends to existing partitions and alters nothing but the table, without any difference, to withdraw its own
statistics. A Hive Metastore then goes on calling those partitions' statistics accurate. Here such an alter counts the
files of partitions marked as accurate, and removes the mark if they have changed or cannot be counted in time. The
table itself is not marked as accurate any more either, nor is one that gets or loses partitions, or whose partitions
get other rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hmstats.model.catalog.objects import LAST_DDL, Parameters, Partition, Table
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import COUNTS, FILE_SIZES, FileSizes, StatisticsSource, same_sizes
from hmstats.outlets.spark import spark_properties
from hmstats.service.catalog.tables.basic_statistics import recounts_partitions
from hmstats.service.catalog.tables.columns import without_orders
from hmstats.service.catalog.tables.locked_statistics import free_owners
from hmstats.service.lookups import id_of
from hmstats.service.statistics.spark.spark_marks import without_marks
from hmstats.service.warehouse.file_listing import FileListing
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.unit.unit import Unit

Changed = Mapping[int, FileSizes | None]
"""New file counts by partition id, of partitions whose files have changed; None if the count failed."""
_OF_STATISTICS = frozenset({*COUNTS, PARAMETER, LAST_DDL})


def changed_partitions(store: Store, listing: FileListing, given: Table, source: StatisticsSource) -> Changed:
    """The partitions marked as accurate whose files differ from their parameters, or cannot be counted.

    Empty if the alter changes anything but statistics. Locks nothing.
    """
    if not given.partition_keys:
        return {}
    stored = store.table(given.name)
    if stored is None or stored.id is None or not _may_have_changed(stored, given, source):
        return {}
    with store.read() as connection:
        marked = partitions.with_accurate_mark(connection, stored.id)
        known = parameters.read(connection, OF_PARTITIONS, list(marked), FILE_SIZES) if marked else {}
    counted = listing.sizes([location for location in marked.values() if location])
    sizes = {each: counted.get(location) if location else None for each, location in marked.items()}
    return {each: found for each, found in sizes.items() if found is None or not _fits(known.get(each, {}), found)}


def unmark(unit: Unit, table_id: int, changed: Changed) -> Sequence[str]:
    """Remove these partitions' marks of accurate statistics, and store the new file counts unless they are locked.

    Returns the names of the partitions that the locked table still has: others were dropped or exchanged since they
    were counted.
    """
    names = partitions.names_by_id(unit.connection, table_id, [*changed]) if changed else {}
    if not names:
        return ()
    parameters.remove(unit, OF_PARTITIONS, [*names], [PARAMETER])
    free = free_owners(statistics_locks.of_table(unit, table_id), [*names])
    parameters.put(unit, OF_PARTITIONS, {each: found.parameters() for each in free if (found := changed[each])})
    return [*names.values()]


def unmark_table(unit: Unit, table: Table) -> bool:
    """Remove a table's own mark of accurate statistics, since it gets or loses partitions; whether it had one."""
    if PARAMETER not in table.parameters:
        return False
    parameters.remove(unit, OF_TABLES, [id_of(table)], [PARAMETER])
    return True


def unmark_if_rows_changed(unit: Unit, table: Table, before: Iterable[Partition], after: Iterable[Partition]) -> bool:
    """Remove a table's own mark of accurate statistics if partitions have other rows after a change, by their counts.

    Returns whether it had one.
    """
    pairs = zip(before, after, strict=True)
    return any(_have_changed(old.parameters, new.parameters) for old, new in pairs) and unmark_table(unit, table)


def _have_changed(before: Parameters, after: Parameters) -> bool:
    """Whether rows have changed: a known count is another one, or the counts are not accurate any more."""
    unmarked = Accurate.parse(before.get(PARAMETER)).basic and not Accurate.parse(after.get(PARAMETER)).basic
    return unmarked or any(before[key] != after.get(key) for key in COUNTS if key in before)


def with_own_mark(stored: Table, given: Table, altered: Table, source: StatisticsSource) -> Table:
    """The altered table, not marked as accurate if it is partitioned and the alter says nothing of its statistics."""
    said = any(stored.parameters.get(key) != given.parameters.get(key) for key in (*COUNTS, PARAMETER))
    if said or given.name != stored.name or not _may_have_changed(stored, given, source):
        return altered
    return replace(altered, parameters={key: value for key, value in altered.parameters.items() if key != PARAMETER})


def _may_have_changed(stored: Table, given: Table, source: StatisticsSource) -> bool:
    if source is not StatisticsSource.UNSAID or not stored.partition_keys or not recounts_partitions(stored):
        return False
    same = given.columns == stored.columns
    return same and _without_statistics(given.parameters) == _without_statistics(stored.parameters)


def _fits(known: Parameters, counted: FileSizes) -> bool:
    return same_sizes(known, counted.parameters())


def _without_statistics(given: Parameters) -> dict[str, str]:
    others = without_marks(without_orders(given))
    return {
        key: value
        for key, value in others.items()
        if key not in _OF_STATISTICS and not key.startswith(spark_properties.PREFIX)
    }
