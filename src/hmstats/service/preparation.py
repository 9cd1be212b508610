"""Prepares a server's database, once before it is served."""

from hmstats.model.catalog.file_changes import Kind
from hmstats.service.access.roles import Roles
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

_UNDONE_AT_START = (Kind.PLANNED, Kind.RENAME)
"""Changes that are undone before the first call: renames are fast; copies may take long, and no reader sees them."""


def prepare(store: Store, warehouse: Warehouse) -> None:
    """Create the default database and the first roles unless they exist, and recover directories.

    If a server was killed while it moved directories, they are afterwards where the catalog says.
    """
    if store.read_only:
        return
    FileChanges(store, warehouse).recover(_UNDONE_AT_START)
    Databases(store, warehouse).ensure_default()
    Roles(store).ensure_defaults()
