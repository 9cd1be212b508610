"""Tables and views: created, read and dropped, with their statistics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hmstats.errors import AlreadyExists, InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.constraints import ColumnConstraint
from hmstats.model.catalog.file_changes import Removal
from hmstats.model.catalog.location import parse, qualify
from hmstats.model.catalog.objects import (
    LAST_DDL,
    MATERIALIZED_VIEW,
    DatabaseName,
    Table,
    TableName,
    TableSummary,
    is_view,
)
from hmstats.model.catalog.privileges import Privilege, SecuredKind
from hmstats.model.events import TableCreated, TableDropped
from hmstats.model.parameters.basic_statistics import FileSizes, StatisticsSource
from hmstats.service.catalog.drops import divide, without_inner
from hmstats.service.catalog.patterns import known_parts, matching
from hmstats.service.catalog.tables.basic_statistics import (
    counts_files,
    emptied,
    is_counted_when_new,
    of_new,
    stated_source,
)
from hmstats.service.catalog.tables.columns import without_orders
from hmstats.service.catalog.tables.constraints import add as add_constraints
from hmstats.service.catalog.tables.file_changes import DroppedDirectories, FileChanges
from hmstats.service.catalog.tables.locked_statistics import table_with_locked_values
from hmstats.service.catalog.tables.materialized_views import check_unused, with_creation
from hmstats.service.catalog.tables.table_rules import (
    check_skew,
    check_table,
    drops_files,
    is_purged,
    owns_files,
    table_type,
)
from hmstats.service.lookups import missing_table
from hmstats.service.statistics.spark.spark_statements import SparkStatements
from hmstats.service.statistics.spark.spark_view import SparkView
from hmstats.service.warehouse.file_listing import FileListing
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.access.privileges import insert_many as insert_privileges
from hmstats.store.catalog import databases, materialized_views, tables
from hmstats.store.database.store import Store
from hmstats.store.statistics import statistics_locks
from hmstats.store.storage import drop_locations, file_changes
from hmstats.store.transactions import write_ids
from hmstats.store.unit.unit import Unit

_WILDCARDS = frozenset("*|")


@dataclass(frozen=True, slots=True)
class NewTableOptions:
    """Options of a new table: the source of its counts, whether it is empty, and what else is written with it.

    `empty_columns` are the columns whose statistics are accurate while the table is empty; None if unset.
    """

    source: StatisticsSource = StatisticsSource.UNSAID
    empty_columns: tuple[str, ...] | None = None
    also: Callable[[Unit], object] | None = None


_PLAIN = NewTableOptions()


class Tables:
    """The tables of every database."""

    def __init__(
        self,
        store: Store,
        warehouse: Warehouse,
        spark: SparkStatements | None = None,
        listing: FileListing | None = None,
    ) -> None:
        self._store = store
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)
        self._listing = listing or FileListing()
        self._spark = spark or SparkStatements(SparkView(store))

    def get(self, name: TableName) -> Table:
        """The table. Raises NoSuchObject if it does not exist."""
        found = self._store.table(name)
        if found is None:
            raise missing_table(name)
        if found.table_type != MATERIALIZED_VIEW:
            return found
        with self._store.read() as connection:
            return with_creation(connection, [found])[0]

    def get_many(self, database: DatabaseName, names: Sequence[str]) -> list[Table]:
        """The named tables; missing ones are skipped. Raises NoSuchObject if the database does not exist."""
        if not database.database:
            raise NoSuchObject("DB name is null or empty")
        with self._store.read() as connection:
            if databases.find_id(connection, database) is None:
                raise NoSuchObject(f"Could not find database {database}")
            return with_creation(connection, tables.get_many(connection, database, [name.lower() for name in names]))

    def get_matching(self, database: DatabaseName, pattern: str) -> list[Table]:
        """The tables that the pattern matches; the database may be a pattern too.

        Raises NoSuchObject if the database is no pattern and does not exist.
        """
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
        here = databases.name_parameters(database)
        if table_type is None:
            rows = self._store.rows(tables.NAMES, here)
        else:
            rows = self._store.rows(tables.NAMES_OF_TYPE, {**here, "table_type": table_type})
        return matching(sorted(name for (name,) in rows), pattern)

    def summaries(
        self, catalog: str, of_databases: str | None, names: str | None, table_types: Sequence[str]
    ) -> list[TableSummary]:
        """Summaries of the tables whose database and name match the patterns, of these types (empty: of all)."""
        with self._store.read() as connection:
            parents = matching(databases.names(connection, catalog), of_databases)
            summaries = tables.summaries(connection, catalog, parents, known_parts(names), table_types)
        matched = set(matching({each.name.table for each in summaries}, names))
        return [each for each in summaries if each.name.table in matched]

    def create(
        self,
        table: Table,
        constraints: Sequence[ColumnConstraint] = (),
        privileges: Sequence[Privilege] = (),
        birth: NewTableOptions = _PLAIN,
    ) -> None:
        """Create a table with its constraints, privileges and directory.

        Counts files that are at its location already.

        Raises AlreadyExists, InvalidObject if the database is missing or a name, a column or a constraint is malformed,
        MetaError for an invalid key, for a remote database, if a managed table is outside of the warehouse roots, and
        if the directory cannot be created.
        """
        check_table(table)
        check_skew(table)
        counted = self._with_counts(table, birth)

        def insert(unit: Unit) -> None:
            placement = tables.find_placement(unit.connection, table.name)
            if placement is None:
                raise InvalidObject(f"Database {table.name.parent} doesn't exist")
            if placement.remote:
                raise MetaError(f"Create table in REMOTE database {table.name.database} is not allowed")
            if placement.table_exists:
                raise AlreadyExists(f"Table {table.name} already exists")
            completed = self._with_defaults(counted, placement.location, unit.now_seconds)
            if placement.files_busy and completed.storage and completed.storage.location:
                file_changes.check_free(unit.connection, [completed.storage.location])
            if owns_files(completed) and completed.storage:
                self._warehouse.check_inside(f"managed table {table.name}", completed.storage.location)
            settled = self._spark.table_to_store(unit, None, completed)
            settled = table_with_locked_values(
                unit, statistics_locks.of_database(unit, placement.database_id), None, settled
            )
            new = settled.table
            table_id = tables.insert_one(unit, new, placement.database_id)
            unit.record(TableCreated(replace(new, id=table_id)))
            settled.write_statistics(unit, table_id)
            if new.creation is not None:
                materialized_views.replace(unit, new.name, new.creation)
            add_constraints(unit, constraints)
            insert_privileges(unit, SecuredKind.TABLE, table_id, privileges)
            if birth.also is not None:
                birth.also(unit)
            if new.storage and not is_view(new):
                # An external table may be one file.
                self._warehouse.make_directory(new.storage.location, may_be_files=not owns_files(new))

        self._files.retry_while_busy(lambda: self._store.write(insert))

    def _with_counts(self, table: Table, birth: NewTableOptions) -> Table:
        """The table with its initial row and file counts in its parameters."""
        if birth.empty_columns is not None and not is_view(table):
            sizes = self._sizes(self.plan(table))
            if sizes is not None and sizes.files == 0:
                return replace(table, parameters=emptied(table.parameters, birth.empty_columns))
        source = stated_source(table.parameters, birth.source)
        if not counts_files(table, source) or not is_counted_when_new(table.parameters, source):
            return table
        return replace(table, parameters=of_new(table.parameters, source, self._sizes(self.plan(table))))

    def _sizes(self, table: Table) -> FileSizes | None:
        location = table.storage.location if table.storage else None
        return self._listing.size(qualify(location)) if location else None

    def drop(self, name: TableName, *, delete_data: bool, purge: bool = False) -> None:
        """Drop a table with its partitions and statistics; with `delete_data` also the directories that are its own.

        The directories move to the trash, if there is one, unless the caller or the table asks for a `purge`.
        Raises NoSuchObject, and MetaError if a materialized view reads the table.
        """

        def delete(unit: Unit) -> tuple[None, DroppedDirectories | None]:
            table_id = tables.lock(unit, name)
            stored = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or stored is None:
                raise missing_table(name)
            check_unused(unit.connection, [table_id])
            if stored.table_type == MATERIALIZED_VIEW:
                materialized_views.remove(unit, name)
            own = drop_locations.of_tables(unit.connection, [table_id]) if drops_files(stored) else []
            tables.remove_many(unit, [table_id])
            unit.record(TableDropped(stored))
            write_ids.remove_of_table(unit, name)
            if not delete_data:
                return None, None
            own, shared = divide(unit, without_inner(own))
            return None, DroppedDirectories(
                f"table {name}", Removal(tuple(own), purge=purge or is_purged(stored)), shared
            )

        self._files.drop(delete)

    def plan(self, table: Table) -> Table:
        """The table that `create` would create; changes nothing. Raises as `create`, except if the name is taken."""
        check_table(table)
        check_skew(table)
        with self._store.read() as connection:
            database = databases.get(connection, table.name.parent)
        if database is None:
            raise InvalidObject(f"Database {table.name.parent} doesn't exist")
        return self._with_defaults(table, database.location, 0)

    def for_rewriting(self, database: DatabaseName | None) -> list[Table]:
        """The materialized views of a database (None: of the default catalog) that planners may rewrite queries to."""
        with self._store.read() as connection:
            by_database = tables.names_for_rewriting(connection, database)
            views = [
                each for parent, names in by_database.items() for each in tables.get_many(connection, parent, names)
            ]
            return with_creation(connection, views)

    def _with_defaults(self, table: Table, parent: str, now_seconds: int) -> Table:
        """The table with its location, type, times and parameters, in a database at the location `parent`."""
        storage = table.storage
        if storage and not is_view(table):
            location = storage.location or self._warehouse.table_location(parent, table.name.table)
            storage = replace(storage, location=qualify(location))
            if parse(location).is_root:
                raise InvalidObject(f"{table.name.table} location must not be root path")
        parameters = {LAST_DDL: str(now_seconds), **without_orders(table.parameters)}
        return replace(
            table,
            storage=storage,
            parameters=parameters,
            table_type=table_type(table),
            created_seconds=now_seconds,
        )
