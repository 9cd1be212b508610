"""A database of another metastore becomes one of hmstats' own: its rows as the other metastore told them.

Nothing is made or moved in directories, no event is logged and no parameter is changed. A table is replaced as a whole,
so a copy that was interrupted may be made again.
"""

from collections.abc import Mapping, Sequence

from hmstats.model.catalog.constraints import ColumnConstraint
from hmstats.model.catalog.functions import Function
from hmstats.model.catalog.objects import Catalog, Database, DatabaseName, Partition, Table, TableName
from hmstats.service.catalog.tables import constraints
from hmstats.store.catalog import catalogs, databases, functions, tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.unit.unit import Unit


class MovedDatabases:
    """Writes databases as they were elsewhere."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_database(self, catalog: Catalog, database: Database, found: Sequence[Function]) -> None:
        """Make a database, or replace the one of its name, with these functions."""

        def put(unit: Unit) -> None:
            if catalogs.get(unit.connection, catalog.name) is None:
                catalogs.insert_one(unit, catalog)
            database_id = databases.find_id(unit.connection, database.name)
            if database_id is None:
                database_id = databases.insert_one(unit, database)
            else:
                databases.replace(unit, database_id, database)
            functions.remove_of_database(unit, database_id)
            for each in found:
                functions.insert_one(unit, database_id, each)

        self._store.write(put)

    def put_table(self, table: Table, found: Mapping[str, Partition]) -> None:
        """Make a table with its partitions, in place of the one of its name."""

        def put(unit: Unit) -> None:
            table_id = tables.lock(unit, table.name)
            if table_id is not None:
                tables.remove_many(unit, [table_id])
            made = tables.insert_one(unit, table)
            partitions.insert_many(unit, made, table.columns, found)

        self._store.write_table(table.name, put)

    def put_constraints(self, found: Sequence[ColumnConstraint]) -> None:
        """Add constraints of new tables. Raises InvalidConstraint, MetaError."""
        self._store.write(lambda unit: constraints.add(unit, found))

    def remove_other_tables(self, name: DatabaseName, wanted: Sequence[str]) -> None:
        """Remove the tables of a database that are not wanted."""

        def remove(unit: Unit) -> None:
            others = sorted(set(tables.names(unit.connection, name)) - set(wanted))
            locked = [tables.lock(unit, TableName(name.catalog, name.database, each)) for each in others]
            gone = [each for each in locked if each is not None]
            if gone:
                tables.remove_many(unit, gone)

        self._store.write(remove)
