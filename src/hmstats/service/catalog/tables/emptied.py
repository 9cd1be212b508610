"""Updates the catalog for tables and partitions that have been emptied."""

from collections.abc import Collection, Mapping, Sequence

from hmstats.model.catalog.objects import Partition, Table
from hmstats.model.events import PartitionAltered, TableAltered
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import COUNTS
from hmstats.model.statistics.statistics_locks import OF_TABLE
from hmstats.service.catalog.tables.changed_partitions import unmark_table
from hmstats.service.catalog.tables.locked_statistics import delete_free, free_owners, remove_marks
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.partitions import partitions
from hmstats.store.statistics import pending, statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Connection, Unit


def locations(connection: Connection, table: Table, names: Sequence[str] | None) -> list[str]:
    """The locations of the rows of a table, or of the named partitions."""
    if not table.partition_keys:
        return [table.storage.location] if names is None and table.storage and table.storage.location else []
    assert table.id is not None
    return [each for each in partitions.locations(connection, table.id, names).values() if each]


def mark_empty(
    unit: Unit, table: Table, table_id: int, names: Sequence[str] | None, filled: Collection[str] = ()
) -> None:
    """Mark a table with all its partitions, or the named partitions that exist, as empty.

    Stored counts become 0; column statistics are deleted, pending ones too. Counts of owners at the locations `filled`,
    which have new files, become unknown. Locked statistics stay, and are no longer marked as accurate.
    """
    before = _before_change(unit, table_id, names)
    locks = statistics_locks.of_table(unit, table_id)
    locations_by_id = partitions.locations(unit.connection, table_id, names) if table.partition_keys else {}
    touches_table = names is not None and bool(locations_by_id) and unmark_table(unit, table)
    versions.bump(unit, table_id, None if locks else names, own=touches_table)
    if names is None:
        own = table.storage.location if table.storage else None
        if locks.of(OF_TABLE) is None:
            _reset(unit, OF_TABLES, [table_id], known=not (filled and table.partition_keys) and own not in filled)
        else:
            remove_marks(unit, OF_TABLES, [table_id])
        delete_free(unit, table, table_id, locks, [OF_TABLE])
        pending.remove(unit, table_id, [OF_TABLE])
    if table.partition_keys:
        free = {each: locations_by_id[each] for each in free_owners(locks, list(locations_by_id))}
        _reset(unit, OF_PARTITIONS, [each for each, at in free.items() if at not in filled], known=True)
        _reset(unit, OF_PARTITIONS, [each for each, at in free.items() if at in filled], known=False)
        delete_free(unit, table, table_id, locks, list(locations_by_id))
        pending.remove(unit, table_id, list(locations_by_id))
        remove_marks(unit, OF_PARTITIONS, [each for each in locations_by_id if each not in free])
    _record(unit, table, table_id, before)


def unmark_accurate(unit: Unit, table: Table, table_id: int, names: Sequence[str] | None) -> None:
    """Remove the marks of accurate statistics, since some of the files may have been removed."""
    partition_ids = list(partitions.locations(unit.connection, table_id, names)) if table.partition_keys else []
    touches_table = (names is None or bool(partition_ids)) and unmark_table(unit, table)
    versions.bump(unit, table_id, names, own=touches_table)
    parameters.remove(unit, OF_PARTITIONS, partition_ids, [PARAMETER])


def _before_change(unit: Unit, table_id: int, names: Sequence[str] | None) -> Mapping[str, Partition] | None:
    """The named partitions before the change, for the log; None for the whole table, or without a log."""
    if unit.events is None or names is None:
        return None
    return partitions.get_many(unit.connection, table_id, list(names))


def _record(unit: Unit, table: Table, table_id: int, before: Mapping[str, Partition] | None) -> None:
    """Record one event for each named partition, or a single event for a whole table."""
    if unit.events is None:
        return
    if before is None:
        unit.record(TableAltered(table, tables.get(unit.connection, table.name) or table, truncated=True))
        return
    after = partitions.get_many(unit.connection, table_id, list(before))
    unit.record(*(PartitionAltered(table, old, after[each], truncated=True) for each, old in before.items()))


def _reset(unit: Unit, of: ParameterTable, owners: Sequence[int], *, known: bool) -> None:
    """Make the counts 0 and accurate, or remove them with their mark if they are not `known`."""
    if not known:
        parameters.remove(unit, of, owners, [PARAMETER, *COUNTS])
        return
    parameters.set_existing(unit, of, owners, COUNTS, "0")
    text = Accurate(basic=True).text()
    parameters.put(unit, of, {owner: {PARAMETER: text} for owner in owners})
