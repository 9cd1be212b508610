"""Calls about constraints of tables."""

from typing import Any

from hmstats.model.catalog.constraints import ConstraintFilter, ConstraintKind
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.tables.constraints import Constraints
from hmstats.wire.catalog.constraints import constraints_from_thrift, constraints_to_thrift, lists_to_thrift
from hmstats.wire.idl import hive_metastore as api


class ConstraintCalls:
    """add, get and drop of constraints."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints

    def add_primary_key(self, session: Session, req: Any) -> None:
        """Add a table's primary key; a table can have one."""
        self._add(ConstraintKind.PRIMARY_KEY, req.primaryKeyCols)

    def add_foreign_key(self, session: Session, req: Any) -> None:
        """Add foreign keys, which refer to primary or unique keys."""
        self._add(ConstraintKind.FOREIGN_KEY, req.foreignKeyCols)

    def add_unique_constraint(self, session: Session, req: Any) -> None:
        """Add unique keys."""
        self._add(ConstraintKind.UNIQUE, req.uniqueConstraintCols)

    def add_not_null_constraint(self, session: Session, req: Any) -> None:
        """Add not-null constraints of columns."""
        self._add(ConstraintKind.NOT_NULL, req.notNullConstraintCols)

    def add_default_constraint(self, session: Session, req: Any) -> None:
        """Add defaults of columns."""
        self._add(ConstraintKind.DEFAULT, req.defaultConstraintCols)

    def add_check_constraint(self, session: Session, req: Any) -> None:
        """Add checks of columns or rows."""
        self._add(ConstraintKind.CHECK, req.checkConstraintCols)

    def get_primary_keys(self, session: Session, request: Any) -> Any:
        """A table's primary key, a struct for each column."""
        return api.PrimaryKeysResponse(primaryKeys=self._get(ConstraintKind.PRIMARY_KEY, request))

    def get_foreign_keys(self, session: Session, request: Any) -> Any:
        """The foreign keys of a table, or on one, or of one on another."""
        catalog = (request.catName or DEFAULT_CATALOG).lower()
        children = ConstraintFilter(catalog, _lower(request.foreign_db_name), _lower(request.foreign_tbl_name))
        parents = ConstraintFilter(catalog, _lower(request.parent_db_name), _lower(request.parent_tbl_name))
        found = self._constraints.foreign_keys(children, parents)
        return api.ForeignKeysResponse(foreignKeys=constraints_to_thrift(found))

    def get_unique_constraints(self, session: Session, request: Any) -> Any:
        """A table's unique keys, a struct for each column."""
        return api.UniqueConstraintsResponse(uniqueConstraints=self._get(ConstraintKind.UNIQUE, request))

    def get_not_null_constraints(self, session: Session, request: Any) -> Any:
        """The not-null constraints of a table's columns."""
        return api.NotNullConstraintsResponse(notNullConstraints=self._get(ConstraintKind.NOT_NULL, request))

    def get_default_constraints(self, session: Session, request: Any) -> Any:
        """The defaults of a table's columns."""
        return api.DefaultConstraintsResponse(defaultConstraints=self._get(ConstraintKind.DEFAULT, request))

    def get_check_constraints(self, session: Session, request: Any) -> Any:
        """A table's checks."""
        return api.CheckConstraintsResponse(checkConstraints=self._get(ConstraintKind.CHECK, request))

    def get_all_table_constraints(self, session: Session, request: Any) -> Any:
        """Every constraint of a table, by kind."""
        found = self._constraints.all(subject.table(request.dbName, request.tblName, request.catName))
        return api.AllTableConstraintsResponse(allTableConstraints=lists_to_thrift(found))

    def drop_constraint(self, session: Session, req: Any) -> None:
        """Drop a constraint of a table by its name."""
        name = subject.table(req.dbname, req.tablename, req.catName)
        self._constraints.drop(name, (req.constraintname or "").strip().lower())

    def _add(self, kind: ConstraintKind, structs: list[Any] | None) -> None:
        self._constraints.add(constraints_from_thrift(kind, structs))

    def _get(self, kind: ConstraintKind, request: Any) -> list[Any]:
        name = subject.table(request.db_name, request.tbl_name, request.catName)
        return constraints_to_thrift(self._constraints.of_kind(kind, name))


def _lower(text: str | None) -> str | None:
    return None if text is None else text.strip().lower()
