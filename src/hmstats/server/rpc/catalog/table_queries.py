"""Calls that find tables by filters, and materialized views."""

from typing import Any

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.names import split_database
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.tables.materialized_views import MaterializedViews
from hmstats.service.catalog.tables.table_filters import TableFilters
from hmstats.service.catalog.tables.tables import Tables
from hmstats.wire.catalog.objects import creation_from_thrift, table_from_thrift, table_to_thrift
from hmstats.wire.idl import hive_metastore

_ACCESS_TYPE = 1
"""The bit of GetTablesExtRequestFields that asks for a table's access type; the answer is 0, as in Hive."""


class TableQueryCalls:
    """Tables by filter, materialized views, and dry runs of table creation."""

    def __init__(self, tables: Tables, filters: TableFilters, views: MaterializedViews) -> None:
        self._tables = tables
        self._filters = filters
        self._views = views

    def get_table_names_by_filter(
        self, session: Session, dbname: str | None, filter: str | None, max_tables: int
    ) -> list[str]:
        """The names of the tables that match a filter over name, type, owner, last access and parameters."""
        if not dbname or not split_database(dbname)[1]:
            raise NoSuchObject("DB name is null or empty")
        return self._filters.names(subject.database(dbname), filter, max_tables)

    def get_tables_ext(self, session: Session, req: Any) -> list[Any]:
        """The names that match the pattern, with the access type when the request says so."""
        names = self._tables.names(subject.database(req.database, req.catalog), req.tableNamePattern)
        limit = req.limit if req.limit is not None and req.limit >= 0 else None
        access = 0 if (req.requestedFields or 0) & _ACCESS_TYPE else None
        return [hive_metastore.ExtendedTableInfo(tblName=each, accessType=access) for each in names[:limit]]

    def get_materialized_views_for_rewriting(self, session: Session, db_name: str) -> list[str]:
        """The names of a database's materialized views that queries may be rewritten to."""
        return [each.name.table for each in self._tables.for_rewriting(subject.database(db_name))]

    def get_all_materialized_view_objects_for_rewriting(self, session: Session) -> list[Any]:
        """The materialized views of the default catalog that queries may be rewritten to."""
        return [table_to_thrift(each) for each in self._tables.for_rewriting(None)]

    def update_creation_metadata(
        self,
        session: Session,
        catName: str | None,
        dbname: str | None,
        tbl_name: str | None,
        creation_metadata: Any,
    ) -> None:
        """Replace the creation metadata of a materialized view; its time is now."""
        name = subject.table(dbname, tbl_name, catName)
        self._views.update(name, creation_from_thrift(creation_metadata, catName))

    def get_materialization_invalidation_info(
        self, session: Session, creation_metadata: Any, validTxnList: str | None
    ) -> Any:
        """Always the answer that no source table was updated, deleted from or compacted.

        Only transactional tables can be.
        """
        return hive_metastore.Materialization(sourceTablesUpdateDeleteModified=False, sourceTablesCompacted=False)

    def translate_table_dryrun(self, session: Session, request: Any) -> Any:
        """The table that `create_table_req` would make."""
        return table_to_thrift(self._tables.plan(table_from_thrift(request.table)))
