"""Truncates tables and partitions: removes their files, rows and statistics."""

from collections.abc import Sequence

from hmstats.model.catalog.file_changes import Truncated
from hmstats.model.catalog.location import is_same_location, parse
from hmstats.model.catalog.objects import Table, TableName
from hmstats.service.catalog.drops import check_unshared, without_inner
from hmstats.service.catalog.tables import emptied
from hmstats.service.catalog.tables.file_changes import FileChanges, PlannedTruncation
from hmstats.service.catalog.tables.table_rules import drops_files, is_purged
from hmstats.service.lookups import missing_table
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.storage import drop_locations
from hmstats.store.unit.unit import Unit


class Truncation:
    """Truncates tables."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)

    def truncate(self, name: TableName, names: Sequence[str] | None, *, delete_data: bool = True) -> None:
        """Truncate a table with all its partitions (`names` is None), or the named partitions that exist.

        With `delete_data` the directories are emptied whose files go with a drop; then stored counts become 0, and
        column statistics are deleted. If files stay that were to go, counts become unknown. Raises NoSuchObject, and
        MetaError if a directory is outside of the warehouse roots, is shared with another object or cannot be emptied.
        """

        def begin(unit: Unit) -> PlannedTruncation | None:
            table_id = tables.lock(unit, name)
            table = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or table is None:
                raise missing_table(name)
            locations = emptied.locations(unit.connection, table, names)
            if not delete_data or not drops_files(table):
                emptied.mark_empty(unit, table, table_id, names, filled=locations if delete_data else ())
                return None
            self._check(unit, table, table_id, locations)
            reserved = tuple(without_inner([*_own(table), *locations]))
            version = versions.read(unit.connection, table_id)
            truncated = Truncated(table_id, None if names is None else tuple(names), version)
            return PlannedTruncation(f"table {name}", reserved, truncated, tuple(locations), is_purged(table))

        self._files.truncate(begin)

    def _check(self, unit: Unit, table: Table, table_id: int, locations: Sequence[str]) -> None:
        """Raise MetaError if a location is outside of the warehouse roots, or shared with another object."""
        refused = f"table {table.name} cannot be truncated"
        self._warehouse.check_changeable(refused, locations)
        own = _own(table)
        inside = own and all(_is_in(own[0], each) for each in locations)
        if inside and not drop_locations.used_by_others(unit.connection, own, table_id):
            return
        check_unshared(unit, refused, locations, table_id)


def _own(table: Table) -> list[str]:
    """The location of the table itself, if it has one."""
    return [table.storage.location] if table.storage and table.storage.location else []


def _is_in(directory: str, location: str) -> bool:
    return is_same_location(directory, location) or parse(directory).holds(parse(location))
