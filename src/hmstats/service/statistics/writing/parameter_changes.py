"""Changes of single parameters of tables and partitions; other writers' changes are not lost.

Each change is merged with the stored parameters in its transaction; no client reads and sends back the others.
"""

from collections.abc import Mapping
from dataclasses import replace

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import TableName
from hmstats.model.events import PartitionAltered, TableAltered
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.statistics.statistics_locks import OF_TABLE
from hmstats.service.lookups import id_of, lock_partitioned
from hmstats.service.statistics.errors import missing_table
from hmstats.service.statistics.locks import drop_locked_from_change
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.partitions import partitions
from hmstats.store.statistics import statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Unit


def change_table(unit: Unit, name: TableName, change: ParameterChange, *, past_locks: bool = False) -> ParameterChange:
    """Change parameters of a table, without those that a lock holds unless `past_locks`.

    Returns the change that was made.

    Raises NoSuchObject if it does not exist, LockedStatistics.
    """
    table_id = tables.lock(unit, name)
    stored = None if table_id is None else tables.get(unit.connection, name)
    if table_id is None or stored is None:
        raise missing_table(name)
    if not past_locks:
        held = statistics_locks.of_table(unit, table_id)
        change = drop_locked_from_change(unit, name, held, {OF_TABLE: change}, lambda _: None)[OF_TABLE]
    change = change.with_column_marks(stored.parameters)
    _write(unit, OF_TABLES, {table_id: change})
    altered = replace(stored, parameters=change.of(stored.parameters))
    if data_columns(stored) == data_columns(altered):
        versions.bump_own(unit, table_id, partitioned=bool(stored.partition_keys))
    else:
        versions.bump(unit, table_id)
    unit.record(TableAltered(stored, altered))
    return change


def change_partitions(
    unit: Unit, name: TableName, changes: Mapping[str, ParameterChange], *, past_locks: bool = False
) -> dict[str, ParameterChange]:
    """Change parameters of partitions, by stored name. Returns the changes that were made.

    Raises NoSuchObject if the table or a partition is missing, LockedStatistics. `past_locks` is as in `change_table`.
    """
    table = lock_partitioned(unit, name)
    stored = partitions.get_many(unit.connection, id_of(table), list(changes))
    for absent in changes.keys() - stored.keys():
        raise NoSuchObject(f"table {name} has no partition {absent}")
    if not past_locks:
        changes = _free(unit, name, id_of(table), changes, {each: id_of(found) for each, found in stored.items()})
    changes = {name: change.with_column_marks(stored[name].parameters) for name, change in changes.items()}
    _write(unit, OF_PARTITIONS, {id_of(stored[partition]): change for partition, change in changes.items()})
    versions.bump(unit, id_of(table), set(changes))
    unit.record(
        *(
            PartitionAltered(table, old, replace(old, parameters=changes[partition].of(old.parameters)))
            for partition, old in stored.items()
        )
    )
    return changes


def _free(
    unit: Unit, name: TableName, table_id: int, changes: Mapping[str, ParameterChange], ids: Mapping[str, int]
) -> dict[str, ParameterChange]:
    held = statistics_locks.of_table(unit, table_id)
    names = {part_id: each for each, part_id in ids.items()}
    by_id = {ids[each]: change for each, change in changes.items()}
    free = drop_locked_from_change(unit, name, held, by_id, names.__getitem__)
    return {names[part_id]: change for part_id, change in free.items()}


def _write(unit: Unit, of: ParameterTable, changes: Mapping[int, ParameterChange]) -> None:
    parameters.put(unit, of, {owner: change.put for owner, change in changes.items() if change.put})
    removed: dict[frozenset[str], list[int]] = {}
    for owner, change in changes.items():
        removed.setdefault(change.remove, []).append(owner)
    for keys, owners in removed.items():
        if keys:
            parameters.remove(unit, of, owners, sorted(keys))
