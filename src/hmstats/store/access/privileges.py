"""Privileges: a table for each kind of object, GLOBAL_PRIVS to PART_COL_PRIVS."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, or_, select, update

from hmstats.model.catalog.privileges import ROLE, Grant, Principal, Privilege, Secured, SecuredKind
from hmstats.store import schema
from hmstats.store.schema import DBS, PARTITION_KEY_VALS, PARTITIONS, TBLS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit import ids
from hmstats.store.unit.unit import Unit


@dataclass(frozen=True, slots=True)
class _PrivilegeTable:
    """The table of one kind of object, with the names of its columns for id, privilege and owner's id."""

    table: Table
    id: str
    privilege: str
    owner: str | None
    sequence: ids.Sequence

    @property
    def has_column(self) -> bool:
        return "COLUMN_NAME" in self.table.c


_TABLES = {
    SecuredKind.GLOBAL: _PrivilegeTable(
        schema.GLOBAL_PRIVS, "USER_GRANT_ID", "USER_PRIV", None, ids.Sequence.GLOBAL_PRIVILEGE
    ),
    SecuredKind.DATABASE: _PrivilegeTable(
        schema.DB_PRIVS, "DB_GRANT_ID", "DB_PRIV", "DB_ID", ids.Sequence.DATABASE_PRIVILEGE
    ),
    SecuredKind.TABLE: _PrivilegeTable(
        schema.TBL_PRIVS, "TBL_GRANT_ID", "TBL_PRIV", "TBL_ID", ids.Sequence.TABLE_PRIVILEGE
    ),
    SecuredKind.PARTITION: _PrivilegeTable(
        schema.PART_PRIVS, "PART_GRANT_ID", "PART_PRIV", "PART_ID", ids.Sequence.PARTITION_PRIVILEGE
    ),
    SecuredKind.TABLE_COLUMN: _PrivilegeTable(
        schema.TBL_COL_PRIVS, "TBL_COLUMN_GRANT_ID", "TBL_COL_PRIV", "TBL_ID", ids.Sequence.TABLE_COLUMN_PRIVILEGE
    ),
    SecuredKind.PARTITION_COLUMN: _PrivilegeTable(
        schema.PART_COL_PRIVS,
        "PART_COLUMN_GRANT_ID",
        "PART_COL_PRIV",
        "PART_ID",
        ids.Sequence.PARTITION_COLUMN_PRIVILEGE,
    ),
}
_OF_TABLES = (SecuredKind.TABLE, SecuredKind.TABLE_COLUMN)
_OF_PARTITIONS = (SecuredKind.PARTITION, SecuredKind.PARTITION_COLUMN)


@dataclass(frozen=True, slots=True)
class StoredPrivilege:
    """A privilege with its row's id."""

    id: int
    privilege: Privilege


def on_object(
    connection: Connection, kind: SecuredKind, owner_id: int | None, principals: Iterable[Principal] | None = None
) -> list[StoredPrivilege]:
    """The privileges on an object, of these principals (None: of all); for column kinds those on all of its columns.

    `owner_id` is the id of the database, table or partition, and None for the global privileges.
    """
    table = _TABLES[kind]
    conditions = [] if table.owner is None else [table.table.c[table.owner] == owner_id]
    if principals is not None:
        conditions.append(_are(connection, table.table, principals))
    return _read(connection, kind, conditions)


def of_principal(connection: Connection, kind: SecuredKind, principal: Principal) -> list[StoredPrivilege]:
    """The privileges that a principal has on all objects of a kind."""
    return _read(connection, kind, [_are(connection, _TABLES[kind].table, [principal])])


def insert_many(unit: Unit, kind: SecuredKind, owner_id: int | None, new: Sequence[Privilege]) -> None:
    """Insert privileges on one object or on its columns, granted at the unit's time."""
    if not new:
        return
    table = _TABLES[kind]
    row_ids = unit.ids(table.sequence, len(new))
    rows = [_row(table, each, row_id, owner_id, unit.now_seconds) for row_id, each in zip(row_ids, new, strict=True)]
    unit.connection.execute(insert(table.table), rows)


def remove(unit: Unit, kind: SecuredKind, row_ids: Collection[int]) -> None:
    """Remove privileges by their rows' ids."""
    table = _TABLES[kind]
    here = one_of(unit.connection, table.table.c[table.id], sorted(row_ids))
    unit.connection.execute(delete(table.table).where(here))


def revoke_grant_option(unit: Unit, kind: SecuredKind, row_ids: Collection[int]) -> None:
    """Revoke the grant option of privileges, but not the privileges."""
    table = _TABLES[kind]
    here = one_of(unit.connection, table.table.c[table.id], sorted(row_ids))
    unit.connection.execute(update(table.table).where(here).values(GRANT_OPTION=0))


def remove_of_database(unit: Unit, database_id: int) -> None:
    """Remove the privileges on a database."""
    table = schema.DB_PRIVS
    unit.connection.execute(delete(table).where(table.c.DB_ID == database_id))


def remove_of_role(unit: Unit, role: str) -> None:
    """Remove every privilege of a role."""
    for table in _TABLES.values():
        here = (table.table.c.PRINCIPAL_TYPE == ROLE) & (table.table.c.PRINCIPAL_NAME == role)
        unit.connection.execute(delete(table.table).where(here))


def _are(connection: Connection, table: Table, principals: Iterable[Principal]) -> Any:
    by_type: dict[str, list[str]] = {}
    for each in principals:
        by_type.setdefault(each.type, []).append(each.name)
    conditions = [
        (table.c.PRINCIPAL_TYPE == kind) & one_of(connection, table.c.PRINCIPAL_NAME, names)
        for kind, names in by_type.items()
    ]
    return or_(False, *conditions)


def _read(connection: Connection, kind: SecuredKind, conditions: Sequence[Any]) -> list[StoredPrivilege]:
    """The privileges that match the conditions, in the order of their grants."""
    table = _TABLES[kind]
    source, named = _with_names(table)
    query = select(table.table, *named).select_from(source).where(*conditions).order_by(table.table.c[table.id])
    rows = connection.execute(query).mappings().all()
    values = _values(connection, sorted({row["PART_ID"] for row in rows})) if kind in _OF_PARTITIONS and rows else {}
    return [StoredPrivilege(row[table.id], _privilege(kind, table, row, values)) for row in rows]


def _with_names(table: _PrivilegeTable) -> tuple[Any, list[Any]]:
    """The table joined with the tables of its objects' names, and the columns of the names."""
    source: Any = table.table
    named: list[Any] = []
    if table.owner == "PART_ID":
        source = source.join(PARTITIONS, PARTITIONS.c.PART_ID == table.table.c.PART_ID)
        source = source.join(TBLS, TBLS.c.TBL_ID == PARTITIONS.c.TBL_ID)
    if table.owner == "TBL_ID":
        source = source.join(TBLS, TBLS.c.TBL_ID == table.table.c.TBL_ID)
    if table.owner in ("PART_ID", "TBL_ID"):
        source = source.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        named = [TBLS.c.TBL_NAME]
    if table.owner == "DB_ID":
        source = source.join(DBS, DBS.c.DB_ID == table.table.c.DB_ID)
    return source, named if table.owner is None else [*named, DBS.c.NAME, DBS.c.CTLG_NAME]


def _values(connection: Connection, partition_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    v = PARTITION_KEY_VALS.c
    query = select(v.PART_ID, v.PART_KEY_VAL).where(one_of(connection, v.PART_ID, partition_ids))
    values: dict[int, tuple[str, ...]] = {}
    for partition_id, value in connection.execute(query.order_by(v.PART_ID, v.INTEGER_IDX)):
        values[partition_id] = (*values.get(partition_id, ()), value)
    return values


def _privilege(kind: SecuredKind, table: _PrivilegeTable, row: Any, values: dict[int, tuple[str, ...]]) -> Privilege:
    on = Secured(
        kind,
        row.get("CTLG_NAME", ""),
        row.get("NAME"),
        row.get("TBL_NAME"),
        values.get(row.get("PART_ID", 0)),
        row.get("COLUMN_NAME"),
    )
    grant = Grant(
        privilege=row[table.privilege],
        grantor=row["GRANTOR"],
        grantor_type=row["GRANTOR_TYPE"],
        grant_option=bool(row["GRANT_OPTION"]),
        created_seconds=row["CREATE_TIME"],
    )
    return Privilege(on, Principal(row["PRINCIPAL_NAME"], row["PRINCIPAL_TYPE"]), grant, row["AUTHORIZER"])


def _row(
    table: _PrivilegeTable, privilege: Privilege, row_id: int, owner_id: int | None, now_seconds: int
) -> dict[str, Any]:
    grant = privilege.grant
    row = {
        table.id: row_id,
        "CREATE_TIME": now_seconds,
        "GRANT_OPTION": int(grant.grant_option),
        "GRANTOR": grant.grantor,
        "GRANTOR_TYPE": grant.grantor_type,
        "PRINCIPAL_NAME": privilege.principal.name,
        "PRINCIPAL_TYPE": privilege.principal.type,
        table.privilege: grant.privilege,
        "AUTHORIZER": privilege.authorizer,
    }
    if table.owner is not None:
        row[table.owner] = owner_id
    if table.has_column:
        row["COLUMN_NAME"] = privilege.on.column
    return row
