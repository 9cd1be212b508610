"""Truncating: tables and partitions without rows, and without statistics that would say otherwise."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Partition, Table, TableName
from hmstats.model.events import PartitionAltered, TableAltered
from hmstats.service.catalog.table_rules import owns_files
from hmstats.service.catalog.tables import missing_table
from hmstats.service.warehouse import Warehouse
from hmstats.store import column_statistics, parameters, partitions, tables, versions
from hmstats.store.engine import Store
from hmstats.store.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit import Unit

_COUNTS = ("numFiles", "numRows", "totalSize", "rawDataSize", "numFilesErasureCoded")


class _Emptied(NamedTuple):
    """A table, and the places of what was truncated of it."""

    table: Table
    locations: list[str]


class Truncation:
    """Truncates tables."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def truncate(self, name: TableName, names: Sequence[str] | None, *, delete_data: bool = True) -> None:
        """Truncate a table with all its partitions, or those of these names that exist.

        Counts that are known become 0, column statistics go. A managed table's directories are emptied after that when
        `delete_data`. Raises NoSuchObject.
        """

        def empty(unit: Unit) -> _Emptied:
            table_id = tables.lock(unit, name)
            table = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or table is None:
                raise missing_table(name)
            versions.bump(unit, table_id)
            before = _to_record(unit, table_id, names)
            if names is None:
                _zero(unit, OF_TABLES, [table_id])
                column_statistics.delete_tables(unit, [table_id], None, None)
            emptied = _Emptied(table, self._empty_partitions(unit, table, table_id, names))
            _record(unit, table, table_id, before)
            return emptied

        table, locations = self._store.write(empty)
        if delete_data and owns_files(table):
            for location in locations:
                self._warehouse.empty_directory(location)

    def _empty_partitions(self, unit: Unit, table: Table, table_id: int, names: Sequence[str] | None) -> list[str]:
        """Where the rows were."""
        if not table.partition_keys:
            return [table.storage.location] if names is None and table.storage and table.storage.location else []
        found = partitions.locations(unit.connection, table_id, names)
        _zero(unit, OF_PARTITIONS, list(found))
        column_statistics.delete_partitions(unit, list(found), None, None)
        return [location for location in found.values() if location]


def _to_record(unit: Unit, table_id: int, names: Sequence[str] | None) -> Mapping[str, Partition] | None:
    """The named partitions as they are, where the log wants to know; None for the whole table."""
    if unit.events is None or names is None:
        return None
    return partitions.get_many(unit.connection, table_id, list(names))


def _record(unit: Unit, table: Table, table_id: int, before: Mapping[str, Partition] | None) -> None:
    """One event for each partition that was named, one alone for a whole table, however many partitions it has."""
    if unit.events is None:
        return
    if before is None:
        unit.record(TableAltered(table, tables.get(unit.connection, table.name) or table, truncated=True))
        return
    after = partitions.get_many(unit.connection, table_id, list(before))
    unit.record(*(PartitionAltered(table, old, after[each], truncated=True) for each, old in before.items()))


def _zero(unit: Unit, of: ParameterTable, owners: Sequence[int]) -> None:
    parameters.set_known(unit, of, owners, _COUNTS, "0")
    text = Accurate(basic=True).text()
    parameters.put(unit, of, {owner: {PARAMETER: text} for owner in owners})
