"""Calls about tables."""

from collections.abc import Mapping
from typing import Any

from hmstats.errors import InvalidOperation
from hmstats.model.names import split_database
from hmstats.server.rpc import subject
from hmstats.server.session import Session
from hmstats.service.catalog.tables import Tables
from hmstats.wire.catalog import columns_to_thrift, summary_to_thrift, table_from_thrift, table_to_thrift
from hmstats.wire.idl import hive_metastore


class TableCalls:
    """create, get, list, alter and drop of tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def create_table(self, session: Session, tbl: Any) -> None:
        """Make a table."""
        self._tables.create(table_from_thrift(tbl))

    def create_table_with_environment_context(self, session: Session, tbl: Any, environment_context: Any) -> None:
        """Make a table; no statistics are invented, whatever the context says."""
        self.create_table(session, tbl)

    def get_table(self, session: Session, dbname: str, tbl_name: str) -> Any:
        """The table."""
        return table_to_thrift(self._tables.get(subject.table(dbname, tbl_name)))

    def get_table_req(self, session: Session, req: Any) -> Any:
        """The table."""
        found = self._tables.get(subject.table(req.dbName, req.tblName, req.catName))
        return hive_metastore.GetTableResult(table=table_to_thrift(found))

    def get_table_objects_by_name(self, session: Session, dbname: str, tbl_names: list[str] | None) -> list[Any]:
        """Those of the named tables that exist."""
        return [table_to_thrift(each) for each in self._tables.get_many(subject.database(dbname), tbl_names or [])]

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
        catalog, databases = split_database(db_patterns or "")
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

    def get_schema(self, session: Session, db_name: str, table_name: str) -> list[Any]:
        """The data columns, then the partition keys."""
        found = self._tables.get(subject.table(db_name, table_name))
        return columns_to_thrift((*found.columns, *found.partition_keys))

    def get_schema_with_environment_context(
        self, session: Session, db_name: str, table_name: str, environment_context: Any
    ) -> list[Any]:
        """The data columns, then the partition keys."""
        return self.get_schema(session, db_name, table_name)

    def alter_table(self, session: Session, dbname: str, tbl_name: str, new_tbl: Any) -> None:
        """Replace a table."""
        self._tables.alter(subject.table(dbname, tbl_name), table_from_thrift(new_tbl))

    def alter_table_with_environment_context(
        self, session: Session, dbname: str, tbl_name: str, new_tbl: Any, environment_context: Any
    ) -> None:
        """Replace a table."""
        if properties(environment_context).get("expected_parameter_key"):
            raise InvalidOperation("a conditional alter (expected_parameter_key) is not supported yet")
        self.alter_table(session, dbname, tbl_name, new_tbl)

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
        """Drop a table; there is no trash, so `ifPurge` changes nothing."""
        self.drop_table(session, dbname, name, deleteData)


def properties(environment_context: Any) -> Mapping[str, str]:
    """The properties of an environment context, which may be null."""
    return (environment_context.properties or {}) if environment_context else {}
