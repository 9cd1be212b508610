"""Tables and views: made, read and dropped, with what that means for their statistics."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from hmstats.errors import AlreadyExists, InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog import MATERIALIZED_VIEW, DatabaseName, Table, TableName, TableSummary
from hmstats.model.constraints import ColumnConstraint
from hmstats.model.events import TableCreated, TableDropped
from hmstats.model.privileges import Privilege, SecuredKind
from hmstats.service.catalog.columns import without_orders
from hmstats.service.catalog.constraints import add as add_constraints
from hmstats.service.catalog.materialized_views import check_unused, with_creation
from hmstats.service.catalog.patterns import matching
from hmstats.service.catalog.table_rules import LAST_DDL, check_table, drops_files, is_view, table_type
from hmstats.service.statistics.spark_statements import SparkStatements
from hmstats.service.statistics.spark_view import SparkView
from hmstats.service.warehouse import Warehouse, qualified
from hmstats.store import databases, materialized_views, places, tables, write_ids
from hmstats.store.engine import Store
from hmstats.store.privileges import insert_many as insert_privileges
from hmstats.store.unit import Unit

_WILDCARDS = frozenset("*|")


class Tables:
    """The tables of every database."""

    def __init__(self, store: Store, warehouse: Warehouse, spark: SparkStatements | None = None) -> None:
        self._store = store
        self._warehouse = warehouse
        self._spark = spark or SparkStatements(SparkView(store))

    def get(self, name: TableName) -> Table:
        """The table. Raises NoSuchObject."""
        with self._store.read() as connection:
            found = tables.get_many(connection, name.parent, [name.table])
            if not found:
                raise missing_table(name)
            return with_creation(connection, found)[0]

    def get_many(self, database: DatabaseName, names: Sequence[str]) -> list[Table]:
        """Those of the named tables that exist. Raises NoSuchObject without the database."""
        if not database.database:
            raise NoSuchObject("DB name is null or empty")
        with self._store.read() as connection:
            if databases.find_id(connection, database) is None:
                raise NoSuchObject(f"Could not find database {database}")
            return with_creation(connection, tables.get_many(connection, database, [name.lower() for name in names]))

    def get_matching(self, database: DatabaseName, pattern: str) -> list[Table]:
        """The tables that the pattern matches; the database may be a pattern too. Raises NoSuchObject for a name."""
        if _WILDCARDS.isdisjoint(database.database):
            return self.get_many(database, self.names(database, pattern))
        with self._store.read() as connection:
            inside = matching(databases.names(connection, database.catalog), database.database)
        parents = [DatabaseName(database.catalog, each) for each in inside]
        return [table for parent in parents for table in self.get_many(parent, self.names(parent, pattern))]

    def names(self, database: DatabaseName, pattern: str | None, table_type: str | None = None) -> list[str]:
        """The names of a database's tables that the pattern matches, sorted. An empty pattern matches none."""
        if pattern == "":
            return []
        with self._store.read() as connection:
            types = None if table_type is None else [table_type]
            return matching(tables.names(connection, database, types), pattern)

    def summaries(
        self, catalog: str, databases: str | None, names: str | None, table_types: Sequence[str]
    ) -> list[TableSummary]:
        """Summaries of the tables whose database and name match the patterns, of these types or, when empty, of all."""
        with self._store.read() as connection:
            found = tables.summaries(connection, catalog)
        wanted_databases = set(matching({each.name.database for each in found}, databases))
        wanted_names = set(matching({each.name.table for each in found}, names))
        return [
            each
            for each in found
            if each.name.database in wanted_databases
            and each.name.table in wanted_names
            and (not table_types or each.table_type in table_types)
        ]

    def create(
        self, table: Table, constraints: Sequence[ColumnConstraint] = (), privileges: Sequence[Privilege] = ()
    ) -> None:
        """Make a table with its constraints and the privileges on it, and its directory.

        Raises AlreadyExists, InvalidObject without the database and when a name, a column or a constraint is malformed,
        MetaError for a key that cannot be, and in a remote database.
        """
        check_table(table)

        def insert(unit: Unit) -> Table:
            spot = tables.find_spot(unit.connection, table.name)
            if spot is None:
                raise InvalidObject(f"Database {table.name.parent} doesn't exist")
            if spot.remote:
                raise MetaError(f"Create table in REMOTE database {table.name.database} is not allowed")
            if spot.taken:
                raise AlreadyExists(f"Table {table.name} already exists")
            settled = self._spark.settled(unit, None, self._completed(table, spot.location, unit.now_seconds))
            new = settled.table
            table_id = tables.insert_one(unit, new, spot.database_id)
            unit.record(TableCreated(replace(new, id=table_id)))
            settled.keep(unit, table_id)
            if new.creation is not None:
                materialized_views.put(unit, new.name, new.creation)
            add_constraints(unit, constraints)
            insert_privileges(unit, SecuredKind.TABLE, table_id, privileges)
            return new

        made = self._store.write(insert)
        if made.storage and not is_view(made):
            self._warehouse.make_directory(made.storage.location)

    def drop(self, name: TableName, *, delete_data: bool) -> None:
        """Drop a table with its partitions and statistics; directories that are its own go when `delete_data`.

        Raises NoSuchObject, and MetaError when a materialized view was made of it.
        """

        def delete(unit: Unit) -> list[str]:
            table_id = tables.lock(unit, name)
            stored = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or stored is None:
                raise missing_table(name)
            check_unused(unit.connection, [table_id])
            if stored.table_type == MATERIALIZED_VIEW:
                materialized_views.remove(unit, name)
            own = places.of_tables(unit.connection, [table_id], [stored.table_type]) if drops_files(stored) else []
            tables.remove_many(unit, [table_id])
            unit.record(TableDropped(stored))
            write_ids.forget_table(unit, name)
            return own

        own = self._store.write(delete)
        for location in own if delete_data else ():
            self._warehouse.remove_directory(location)

    def planned(self, table: Table) -> Table:
        """The table that `create` would make; nothing is made. Raises as it does, but for a name that is taken."""
        check_table(table)
        with self._store.read() as connection:
            database = databases.get(connection, table.name.parent)
        if database is None:
            raise InvalidObject(f"Database {table.name.parent} doesn't exist")
        return self._completed(table, database.location, 0)

    def rewriting(self, database: DatabaseName | None) -> list[Table]:
        """The materialized views, of a database or of the default catalog, that planners may rewrite queries to."""
        with self._store.read() as connection:
            found = tables.rewriting(connection, database)
            views = [each for parent, names in found.items() for each in tables.get_many(connection, parent, names)]
            return with_creation(connection, views)

    def _completed(self, table: Table, parent: str, now_seconds: int) -> Table:
        """The table as it is made in a database at `parent`."""
        storage = table.storage
        if storage and not is_view(table):
            location = storage.location or self._warehouse.table_location(parent, table.name.table)
            storage = replace(storage, location=qualified(location))
            if urlsplit(location).path in ("", "/"):
                raise InvalidObject(f"{table.name.table} location must not be root path")
        parameters = {LAST_DDL: str(now_seconds), **without_orders(table.parameters)}
        return replace(
            table,
            storage=storage,
            parameters=parameters,
            table_type=table_type(table),
            created_seconds=now_seconds,
        )


def missing_table(name: TableName) -> NoSuchObject:
    """The error for a table that is not there."""
    return NoSuchObject(f"{name} table not found")
