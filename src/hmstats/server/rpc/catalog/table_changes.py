"""Calls that change tables."""

from dataclasses import replace
from typing import Any

from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.computed import OWN
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.contexts import is_true, properties, statistics_source
from hmstats.service.catalog.tables.alter_table import AlterOptions, TableAlterations
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.wire.catalog.objects import table_from_thrift
from hmstats.wire.idl import hive_metastore

_EXPECTED_KEY, _EXPECTED_VALUE = "expected_parameter_key", "expected_parameter_value"


class TableChangeCalls:
    """alter and truncate of tables."""

    def __init__(self, alterations: TableAlterations, truncation: Truncation) -> None:
        self._alterations = alterations
        self._truncation = truncation

    def alter_table(self, session: Session, dbname: str, tbl_name: str, new_tbl: Any) -> None:
        """Replace a table."""
        self._alter(session, subject.table(dbname, tbl_name), new_tbl, AlterOptions())

    def alter_table_with_cascade(
        self, session: Session, dbname: str, tbl_name: str, new_tbl: Any, cascade: bool | None
    ) -> None:
        """Replace a table; its partitions get its columns when the call says so."""
        self._alter(session, subject.table(dbname, tbl_name), new_tbl, AlterOptions(cascade=bool(cascade)))

    def alter_table_with_environment_context(
        self, session: Session, dbname: str, tbl_name: str, new_tbl: Any, environment_context: Any
    ) -> None:
        """Replace a table; the context may say CASCADE, and a parameter's value that the table must have."""
        self._alter(session, subject.table(dbname, tbl_name), new_tbl, _terms(environment_context))

    def alter_table_req(self, session: Session, req: Any) -> Any:
        """Replace a table; the request or its context may say CASCADE, and a value that the table must have."""
        name = subject.table(req.dbName, req.tableName, req.catName)
        terms = _terms(req.environmentContext, req.expectedParameterKey, req.expectedParameterValue)
        self._alter(session, name, req.table, terms)
        return hive_metastore.AlterTableResponse()

    def _alter(self, session: Session, name: TableName, struct: Any, terms: AlterOptions) -> None:
        if not struct.catName:
            struct.catName = name.catalog
        terms = replace(terms, statistics_only=session.statistics_only)
        self._alterations.alter(name, table_from_thrift(struct), terms)

    def truncate_table(self, session: Session, dbName: str, tableName: str, partNames: list[str] | None) -> None:
        """Make a table, or the named partitions, empty; column statistics go."""
        self._truncation.truncate(subject.table(dbName, tableName), partNames)

    def truncate_table_req(self, session: Session, req: Any) -> Any:
        """Make a table, or the named partitions, empty; column statistics go."""
        delete_data = not is_true(req.environmentContext, "truncateSkipDataDeletion")
        self._truncation.truncate(subject.table(req.dbName, req.tableName), req.partNames, delete_data=delete_data)
        return hive_metastore.TruncateTableResponse()


def _terms(environment_context: Any, key: str | None = None, value: str | None = None) -> AlterOptions:
    given = properties(environment_context)
    key, value = key or given.get(_EXPECTED_KEY), value if value is not None else given.get(_EXPECTED_VALUE)
    return AlterOptions(
        cascade=is_true(environment_context, "CASCADE"),
        expected=None if key is None or value is None else (key, value),
        new_keys=is_true(environment_context, "allow_partition_key_change"),
        own=frozenset(given.get(OWN, "").split(",")),
        source=statistics_source(environment_context),
    )
