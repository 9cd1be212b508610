"""Calls about tables."""

from collections.abc import Sequence
from typing import Any

from hmstats.errors import InvalidOperation
from hmstats.model.catalog.constraints import ColumnConstraint
from hmstats.model.catalog.names import split_database
from hmstats.model.catalog.objects import DEFAULT_CATALOG, Table
from hmstats.model.catalog.privileges import Secured, SecuredKind
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.contexts import PURGE, is_true, statistics_source
from hmstats.server.rpc.statistics.brought_statistics import BroughtStatistics
from hmstats.service.catalog.tables.tables import NewTableOptions, Tables
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.spark.spark_view import SparkView
from hmstats.service.statistics.transactional import are_counts_visible
from hmstats.service.transactions.acid import check_readable
from hmstats.wire.catalog.constraints import lists_from_thrift
from hmstats.wire.catalog.objects import (
    columns_to_thrift,
    empty_columns,
    summary_to_thrift,
    table_from_thrift,
    table_to_thrift,
)
from hmstats.wire.catalog.projection import project
from hmstats.wire.idl import hive_metastore
from hmstats.wire.privileges import set_from_thrift
from hmstats.wire.statistics.column_statistics import reads_timestamp_statistics, set_to_thrift


class TableCalls:
    """create, get, list and drop of tables.

    With `spark`, Spark sees its own parameters on a single table; with `to_all`, every caller does.
    """

    def __init__(
        self,
        tables: Tables,
        statistics: StatisticsReader,
        brought: BroughtStatistics,
        spark: SparkView | None = None,
        *,
        to_all: bool = False,
    ) -> None:
        self._tables = tables
        self._statistics = statistics
        self._brought = brought
        self._spark = spark
        self._to_all = to_all

    def create_table(self, session: Session, tbl: Any) -> None:
        """Make a table, with the privileges on it and the statistics that it brings."""
        self._create(session, tbl, ())

    def create_table_with_environment_context(self, session: Session, tbl: Any, environment_context: Any) -> None:
        """Make a table; the context may say how its rows, files and bytes were counted."""
        self._create(session, tbl, (), environment_context)

    def create_table_req(self, session: Session, request: Any) -> None:
        """Make a table with its constraints."""
        self._create(session, request.table, lists_from_thrift(request, request.table.catName), request.envContext)

    def create_table_with_constraints(
        self,
        session: Session,
        tbl: Any,
        primaryKeys: list[Any] | None,
        foreignKeys: list[Any] | None,
        uniqueConstraints: list[Any] | None,
        notNullConstraints: list[Any] | None,
        defaultConstraints: list[Any] | None,
        checkConstraints: list[Any] | None,
    ) -> None:
        """Make a table with its constraints."""
        request = hive_metastore.CreateTableRequest(
            table=tbl,
            primaryKeys=primaryKeys,
            foreignKeys=foreignKeys,
            uniqueConstraints=uniqueConstraints,
            notNullConstraints=notNullConstraints,
            defaultConstraints=defaultConstraints,
            checkConstraints=checkConstraints,
        )
        self.create_table_req(session, request)

    def _create(
        self, session: Session, struct: Any, constraints: Sequence[ColumnConstraint], environment_context: Any = None
    ) -> None:
        table = table_from_thrift(struct)
        on = Secured(SecuredKind.TABLE, table.name.catalog, table.name.database, table.name.table)
        also = self._brought.of_table(session, table.name, struct)
        birth = NewTableOptions(statistics_source(environment_context), empty_columns(struct), also)
        self._tables.create(table, constraints, set_from_thrift(struct.privileges, on), birth)

    def get_table(self, session: Session, dbname: str, tbl_name: str) -> Any:
        """The table; refused if it is insert-only, which callers of this call cannot read."""
        found = self._tables.get(subject.table(dbname, tbl_name))
        check_readable(found, ())
        return table_to_thrift(self._for_client(session, found))

    def get_table_req(self, session: Session, req: Any) -> Any:
        """The table, with its column statistics when the request says so."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        found_table = self._tables.get(name)
        check_readable(found_table, req.capabilities.values if req.capabilities else ())
        struct = table_to_thrift(self._for_client(session, found_table))
        struct.isStatsCompliant = are_counts_visible(found_table, req.validWriteIdList)
        if struct.isStatsCompliant is False:
            struct.parameters.pop(PARAMETER, None)
        if req.getColumnStats:
            engine = req.engine or DEFAULT_ENGINE
            found = self._statistics.table(name, None, engine, valid=req.validWriteIdList)
            hive4 = reads_timestamp_statistics(engine)
            struct.colStats = None if found is None else set_to_thrift(name, found, hive4=hive4)
        return hive_metastore.GetTableResult(table=struct)

    def get_table_objects_by_name(self, session: Session, dbname: str, tbl_names: list[str] | None) -> list[Any]:
        """The named tables; a name without a table is skipped."""
        database = subject.database(dbname)
        if tbl_names is None:
            raise InvalidOperation(f"{database} cannot find null tables")
        return self._structs(self._tables.get_many(database, tbl_names))

    def get_table_objects_by_name_req(self, session: Session, req: Any) -> Any:
        """The named tables that match the pattern, if there is one, or all that do; with the requested fields only."""
        database = subject.database(req.dbName, req.catName)
        names, pattern = req.tblNames, req.tablesPattern
        if names is None and pattern is None:
            raise InvalidOperation(f"{database} cannot find null tables")
        if names is not None and pattern is not None:
            matching = set(self._tables.names(database, pattern))
            names = [each for each in names if each.lower() in matching]
        found = (
            self._tables.get_matching(database, pattern) if names is None else self._tables.get_many(database, names)
        )
        structs = [project(each, req.projectionSpec) for each in self._structs(found)]
        return hive_metastore.GetTablesResult(tables=structs)

    def _for_client(self, session: Session, found: Table) -> Table:
        """The table as this client sees it."""
        (table,) = self._statistics.with_sizes([found])
        shown = self._spark is not None and (self._to_all or session.is_spark)
        return self._spark.with_parameters(table) if self._spark and shown else table

    def _structs(self, tables: Sequence[Table]) -> list[Any]:
        return [table_to_thrift(each) for each in self._statistics.with_sizes(tables)]

    def get_tables(self, session: Session, db_name: str, pattern: str | None) -> list[str]:
        """The names that match the pattern."""
        return self._tables.names(subject.database(db_name), pattern)

    def get_tables_by_type(
        self,
        session: Session,
        db_name: str,
        pattern: str | None,
        tableType: str | None,
    ) -> list[str]:
        """The names of tables of one type that match the pattern."""
        return self._tables.names(subject.database(db_name), pattern, tableType)

    def get_all_tables(self, session: Session, db_name: str) -> list[str]:
        """The names of a database's tables."""
        return self._tables.names(subject.database(db_name), None)

    def get_table_meta(
        self, session: Session, db_patterns: str | None, tbl_patterns: str | None, tbl_types: list[str] | None
    ) -> list[Any]:
        """A summary of each table whose database and name match the patterns."""
        catalog, databases = split_database(f"@{DEFAULT_CATALOG}#" if db_patterns is None else db_patterns)
        if "" in (databases, tbl_patterns):
            return []
        found = self._tables.summaries(catalog, databases, tbl_patterns, tbl_types or [])
        return [summary_to_thrift(each) for each in found]

    def get_fields(self, session: Session, db_name: str, table_name: str) -> list[Any]:
        """The data columns, without the partition keys."""
        return columns_to_thrift(self._tables.get(subject.table(db_name, table_name)).columns)

    def get_fields_with_environment_context(
        self, session: Session, db_name: str, table_name: str, environment_context: Any
    ) -> list[Any]:
        """The data columns, without the partition keys."""
        return self.get_fields(session, db_name, table_name)

    def get_fields_req(self, session: Session, req: Any) -> Any:
        """The data columns, without the partition keys."""
        found = self._tables.get(subject.table(req.dbName, req.tblName, req.catName))
        return hive_metastore.GetFieldsResponse(fields=columns_to_thrift(found.columns))

    def get_schema_req(self, session: Session, req: Any) -> Any:
        """The data columns, then the partition keys."""
        found = self._tables.get(subject.table(req.dbName, req.tblName, req.catName))
        return hive_metastore.GetSchemaResponse(fields=columns_to_thrift((*found.columns, *found.partition_keys)))

    def get_schema(self, session: Session, db_name: str, table_name: str) -> list[Any]:
        """The data columns, then the partition keys."""
        found = self._tables.get(subject.table(db_name, table_name))
        return columns_to_thrift((*found.columns, *found.partition_keys))

    def get_schema_with_environment_context(
        self, session: Session, db_name: str, table_name: str, environment_context: Any
    ) -> list[Any]:
        """The data columns, then the partition keys."""
        return self.get_schema(session, db_name, table_name)

    def drop_table_req(self, session: Session, dropTableReq: Any) -> None:
        """Drop a table."""
        name = subject.table(dropTableReq.dbName, dropTableReq.tableName, dropTableReq.catalogName)
        purge = is_true(dropTableReq.envContext, PURGE)
        self._tables.drop(name, delete_data=bool(dropTableReq.deleteData), purge=purge)

    def drop_table(self, session: Session, dbname: str, name: str, deleteData: bool) -> None:
        """Drop a table."""
        self._tables.drop(subject.table(dbname, name), delete_data=bool(deleteData))

    def drop_table_with_environment_context(
        self,
        session: Session,
        dbname: str,
        name: str,
        deleteData: bool,
        environment_context: Any,
    ) -> None:
        """Drop a table; with `ifPurge` its files skip the trash."""
        purge = is_true(environment_context, PURGE)
        self._tables.drop(subject.table(dbname, name), delete_data=bool(deleteData), purge=purge)
