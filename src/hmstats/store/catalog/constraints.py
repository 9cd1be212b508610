"""Constraints: KEY_CONSTRAINTS, a row for each column.

A row belongs to its parent table. A foreign key's parent is the table that it refers to, its child the table that has
it. Columns are stored by column descriptor and index, partition keys by index alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, literal_column, select

from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintFilter, ConstraintKind, Reference
from hmstats.model.catalog.objects import Column, TableName
from hmstats.store.schema import COLUMNS_V2, DBS, KEY_CONSTRAINTS, PARTITION_KEYS, SDS, TBLS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.single_read import OneOf, SingleRead
from hmstats.store.statistics import table_facts
from hmstats.store.unit.unit import Unit

_ENABLED, _VALIDATED, _RELIED_ON = 4, 2, 1
_K, _C = KEY_CONSTRAINTS, KEY_CONSTRAINTS.c
_PARENT, _PARENT_DATABASE = TBLS.alias("parent"), DBS.alias("parent_database")
_CHILD, _CHILD_DATABASE = TBLS.alias("child"), DBS.alias("child_database")
_PARENT_COLUMN, _CHILD_COLUMN = COLUMNS_V2.alias("parent_column"), COLUMNS_V2.alias("child_column")
_PARENT_KEY, _CHILD_KEY = PARTITION_KEYS.alias("parent_key"), PARTITION_KEYS.alias("child_key")


def _any(_: OneOf) -> Select[Any]:
    table = select(TBLS.c.TBL_ID).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
    table = table.where(DBS.c.NAME == bindparam("database"), DBS.c.CTLG_NAME == bindparam("catalog"))
    mine = table.where(TBLS.c.TBL_NAME == bindparam("table")).scalar_subquery()
    return (
        select(_C.CONSTRAINT_NAME)
        .where((_C.PARENT_TBL_ID == mine) | (_C.CHILD_TBL_ID == mine))
        .limit(literal_column("1"))
    )


ANY = SingleRead(_any)
"""The query for any constraint that a table has or that refers to it: few tables have one, and planners ask for all."""


@dataclass(frozen=True, slots=True)
class ColumnIndex:
    """A constraint's column: its column descriptor, None for a partition key, and its index, -1 for no column."""

    descriptor: int | None
    index: int


NO_COLUMN = ColumnIndex(None, -1)


@dataclass(frozen=True, slots=True)
class ConstrainedTable:
    """A table for constraints, locked until the unit ends."""

    id: int
    descriptor: int | None
    columns: tuple[Column, ...]
    partition_keys: tuple[Column, ...]

    def find_column(self, column: str) -> ColumnIndex | None:
        """The column or partition key with a lower-case name; None if it does not exist."""
        for descriptor, columns in ((self.descriptor, self.columns), (None, self.partition_keys)):
            names = [each.name.lower() for each in columns]
            if column in names:
                return ColumnIndex(descriptor, names.index(column))
        return None


@dataclass(frozen=True, slots=True)
class ResolvedConstraint:
    """A constraint with the ids for its row; the child is set for a foreign key only."""

    constraint: ColumnConstraint
    parent_id: int
    parent: ColumnIndex
    child_id: int | None = None
    child: ColumnIndex | None = None


def of(name: TableName) -> ConstraintFilter:
    """The filter for one table."""
    return ConstraintFilter(name.catalog, name.database, name.table)


def lock(unit: Unit, name: TableName) -> ConstrainedTable | None:
    """The table, its row locked until the unit ends; None if it does not exist."""
    target = table_facts.lock(unit, name)
    if target is None:
        return None
    query = select(SDS.c.CD_ID).join(TBLS, TBLS.c.SD_ID == SDS.c.SD_ID).where(TBLS.c.TBL_ID == target.id)
    descriptor = unit.connection.execute(query).scalar_one_or_none()
    return ConstrainedTable(target.id, descriptor, target.stored_columns, target.partition_keys)


def without_foreign_keys(
    connection: Connection, kinds: Collection[ConstraintKind], tables: ConstraintFilter
) -> list[ColumnConstraint]:
    """The constraints of these kinds other than foreign keys, by table, name and position."""
    query = select(
        _K,
        _PARENT_DATABASE.c.CTLG_NAME,
        _PARENT_DATABASE.c.NAME,
        _PARENT.c.TBL_NAME,
        func.coalesce(_PARENT_COLUMN.c.COLUMN_NAME, _PARENT_KEY.c.PKEY_NAME).label("COLUMN_NAME"),
    ).select_from(_with_parent(_K))
    query = query.where(_C.CONSTRAINT_TYPE.in_(kinds), *_are(_PARENT_DATABASE, _PARENT, tables))
    ordered = _in_order(connection, query, _PARENT_DATABASE, _PARENT)
    return [_constraint(row, None) for row in connection.execute(ordered)]


def foreign_keys(
    connection: Connection, children: ConstraintFilter, parents: ConstraintFilter
) -> list[ColumnConstraint]:
    """The foreign keys of the child tables that refer to the parent tables, by child table, name and position.

    The key of a reference is the primary key that has the column, None if it refers to a unique key.
    """
    key = KEY_CONSTRAINTS.alias("primary_key")
    primary = select(func.min(key.c.CONSTRAINT_NAME)).where(
        key.c.PARENT_TBL_ID == _C.PARENT_TBL_ID,
        key.c.CONSTRAINT_TYPE == ConstraintKind.PRIMARY_KEY,
        key.c.PARENT_INTEGER_IDX == _C.PARENT_INTEGER_IDX,
        key.c.PARENT_CD_ID.is_not_distinct_from(_C.PARENT_CD_ID),
    )
    query = select(
        _K,
        _CHILD_DATABASE.c.CTLG_NAME,
        _CHILD_DATABASE.c.NAME,
        _CHILD.c.TBL_NAME,
        func.coalesce(_CHILD_COLUMN.c.COLUMN_NAME, _CHILD_KEY.c.PKEY_NAME).label("COLUMN_NAME"),
        _PARENT_DATABASE.c.CTLG_NAME.label("PARENT_CATALOG"),
        _PARENT_DATABASE.c.NAME.label("PARENT_DATABASE"),
        _PARENT.c.TBL_NAME.label("PARENT_TABLE"),
        func.coalesce(_PARENT_COLUMN.c.COLUMN_NAME, _PARENT_KEY.c.PKEY_NAME).label("PARENT_COLUMN"),
        primary.scalar_subquery().label("PRIMARY_KEY"),
    ).select_from(_with_child(_with_parent(_K)))
    query = query.where(
        _C.CONSTRAINT_TYPE == ConstraintKind.FOREIGN_KEY,
        *_are(_CHILD_DATABASE, _CHILD, children),
        *_are(_PARENT_DATABASE, _PARENT, parents),
    )
    ordered = _in_order(connection, query, _CHILD_DATABASE, _CHILD)
    return [_constraint(row, _reference(row)) for row in connection.execute(ordered)]


def _in_order(connection: Connection, query: Select[Any], database: Any, table: Any) -> Select[Any]:
    """The query of constraints, ordered by table, name and position."""
    names = (database.c.NAME, table.c.TBL_NAME, _C.CONSTRAINT_NAME)
    return query.order_by(*(by_bytes(connection, each) for each in names), _C.POSITION)


def names(connection: Connection, table_id: int) -> set[str]:
    """The names of the constraints whose parent is this table."""
    return set(connection.execute(select(_C.CONSTRAINT_NAME).where(_C.PARENT_TBL_ID == table_id)).scalars())


def insert_many(unit: Unit, constraints: Sequence[ResolvedConstraint]) -> None:
    """Insert constraints."""
    if constraints:
        unit.connection.execute(insert(_K), [_row(each) for each in constraints])


def remove(unit: Unit, table_id: int, name: str) -> bool:
    """Remove a constraint whose parent or child is this table. Returns False if it does not exist."""
    here = (_C.PARENT_TBL_ID == table_id) | (_C.CHILD_TBL_ID == table_id)
    return unit.connection.execute(delete(_K).where(here, _C.CONSTRAINT_NAME == name)).rowcount > 0


def _with_parent(constraints: Any) -> Any:
    c, k = _PARENT_COLUMN.c, _PARENT_KEY.c
    column = (c.CD_ID == _C.PARENT_CD_ID) & (c.INTEGER_IDX == _C.PARENT_INTEGER_IDX)
    key = _C.PARENT_CD_ID.is_(None) & (k.TBL_ID == _C.PARENT_TBL_ID) & (k.INTEGER_IDX == _C.PARENT_INTEGER_IDX)
    return (
        constraints.join(_PARENT, _PARENT.c.TBL_ID == _C.PARENT_TBL_ID)
        .join(_PARENT_DATABASE, _PARENT_DATABASE.c.DB_ID == _PARENT.c.DB_ID)
        .outerjoin(_PARENT_COLUMN, column)
        .outerjoin(_PARENT_KEY, key)
    )


def _with_child(constraints: Any) -> Any:
    c, k = _CHILD_COLUMN.c, _CHILD_KEY.c
    column = (c.CD_ID == _C.CHILD_CD_ID) & (c.INTEGER_IDX == _C.CHILD_INTEGER_IDX)
    key = _C.CHILD_CD_ID.is_(None) & (k.TBL_ID == _C.CHILD_TBL_ID) & (k.INTEGER_IDX == _C.CHILD_INTEGER_IDX)
    return (
        constraints.join(_CHILD, _CHILD.c.TBL_ID == _C.CHILD_TBL_ID)
        .join(_CHILD_DATABASE, _CHILD_DATABASE.c.DB_ID == _CHILD.c.DB_ID)
        .outerjoin(_CHILD_COLUMN, column)
        .outerjoin(_CHILD_KEY, key)
    )


def _are(databases: Any, tables: Any, wanted: ConstraintFilter) -> list[Any]:
    conditions = [databases.c.CTLG_NAME == wanted.catalog]
    if wanted.database is not None:
        conditions.append(databases.c.NAME == wanted.database)
    if wanted.table is not None:
        conditions.append(tables.c.TBL_NAME == wanted.table)
    return conditions


def _constraint(row: Any, reference: Reference | None) -> ColumnConstraint:
    flags = row.ENABLE_VALIDATE_RELY
    return ColumnConstraint(
        kind=ConstraintKind(row.CONSTRAINT_TYPE),
        table=TableName(row.CTLG_NAME, row.NAME, row.TBL_NAME),
        name=row.CONSTRAINT_NAME,
        column=row.COLUMN_NAME,
        position=row.POSITION,
        value=row.DEFAULT_VALUE,
        reference=reference,
        enabled=bool(flags & _ENABLED),
        validated=bool(flags & _VALIDATED),
        relied_on=bool(flags & _RELIED_ON),
    )


def _reference(row: Any) -> Reference:
    table = TableName(row.PARENT_CATALOG, row.PARENT_DATABASE, row.PARENT_TABLE)
    return Reference(table, row.PARENT_COLUMN, row.PRIMARY_KEY, row.UPDATE_RULE or 0, row.DELETE_RULE or 0)


def _row(resolved: ResolvedConstraint) -> dict[str, Any]:
    constraint, reference, child = resolved.constraint, resolved.constraint.reference, resolved.child
    return {
        "CHILD_CD_ID": child.descriptor if child else None,
        "CHILD_INTEGER_IDX": child.index if child else None,
        "CHILD_TBL_ID": resolved.child_id,
        "PARENT_CD_ID": resolved.parent.descriptor,
        "PARENT_INTEGER_IDX": resolved.parent.index,
        "PARENT_TBL_ID": resolved.parent_id,
        "POSITION": constraint.position,
        "CONSTRAINT_NAME": constraint.name,
        "CONSTRAINT_TYPE": constraint.kind.value,
        "UPDATE_RULE": reference.update_rule if reference else None,
        "DELETE_RULE": reference.delete_rule if reference else None,
        "ENABLE_VALIDATE_RELY": _ENABLED * constraint.enabled
        + _VALIDATED * constraint.validated
        + _RELIED_ON * constraint.relied_on,
        "DEFAULT_VALUE": constraint.value,
    }
