"""Changes of single parameters of tables and partitions; other writers' changes are not lost.

Each change is merged with the stored parameters in its transaction; no client reads and sends back the others.
"""

from collections.abc import Mapping
from dataclasses import replace

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import TableName
from hmstats.model.events import PartitionAltered, TableAltered
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.service.lookups import id_of, locked
from hmstats.service.statistics.errors import missing_table
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.partitions import partitions
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Unit


def change_table(unit: Unit, name: TableName, change: ParameterChange) -> None:
    """Change parameters of a table. Raises NoSuchObject if it does not exist."""
    table_id = tables.lock(unit, name)
    stored = None if table_id is None else tables.get(unit.connection, name)
    if table_id is None or stored is None:
        raise missing_table(name)
    change = change.with_column_marks(stored.parameters)
    _write(unit, OF_TABLES, {table_id: change})
    versions.bump(unit, table_id)
    unit.record(TableAltered(stored, replace(stored, parameters=change.of(stored.parameters))))


def change_partitions(unit: Unit, name: TableName, changes: Mapping[str, ParameterChange]) -> None:
    """Change parameters of partitions, by stored name. Raises NoSuchObject if the table or a partition is missing."""
    table = locked(unit, name)
    stored = partitions.get_many(unit.connection, id_of(table), list(changes))
    for absent in changes.keys() - stored.keys():
        raise NoSuchObject(f"table {name} has no partition {absent}")
    changes = {name: change.with_column_marks(stored[name].parameters) for name, change in changes.items()}
    _write(unit, OF_PARTITIONS, {id_of(stored[partition]): change for partition, change in changes.items()})
    versions.bump(unit, id_of(table), set(changes))
    unit.record(
        *(
            PartitionAltered(table, old, replace(old, parameters=changes[partition].of(old.parameters)))
            for partition, old in stored.items()
        )
    )


def _write(unit: Unit, of: ParameterTable, changes: Mapping[int, ParameterChange]) -> None:
    parameters.put(unit, of, {owner: change.put for owner, change in changes.items() if change.put})
    removed: dict[frozenset[str], list[int]] = {}
    for owner, change in changes.items():
        removed.setdefault(change.remove, []).append(owner)
    for keys, owners in removed.items():
        if keys:
            parameters.remove(unit, of, owners, sorted(keys))
