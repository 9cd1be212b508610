"""Tables: TBLS with its parameters, partition keys and storage."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, String, cast, delete, insert, literal, null, select, union_all, update

from hmstats.errors import NoSuchObject
from hmstats.model.catalog import (
    DEFAULT_CATALOG,
    MATERIALIZED_VIEW,
    Column,
    DatabaseName,
    Table,
    TableName,
    TableSummary,
)
from hmstats.store import (
    column_statistics,
    constraint_columns,
    constraints,
    databases,
    ids,
    parameters,
    partitions,
    privileges,
    storage,
    versions,
)
from hmstats.store.ordering import by_bytes
from hmstats.store.parameters import OF_TABLES
from hmstats.store.schema import DBS, PARTITION_KEYS, TABLE_PARAMS, TBLS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit

_NAMED = TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
_VERSIONED = _NAMED.outerjoin(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)


def get(connection: Connection, name: TableName) -> Table | None:
    """The table, or None."""
    found = get_many(connection, name.parent, [name.table])
    return found[0] if found else None


def get_many(connection: Connection, database: DatabaseName, names: Sequence[str]) -> list[Table]:
    """Those of the named tables that exist, in name order, their versions noted; a constant number of statements."""
    query = select(TBLS, VERSIONS.c.VERSION).select_from(_VERSIONED)
    query = query.where(_inside(database), one_of(connection, TBLS.c.TBL_NAME, names))
    rows = connection.execute(query.order_by(by_bytes(connection, TBLS.c.TBL_NAME))).all()
    if not rows:
        return []
    for row in rows:
        versions.note(row.TBL_ID, row.VERSION)
    keys, values = _read_parts(connection, [row.TBL_ID for row in rows])
    storages = storage.read_many(connection, [row.SD_ID for row in rows if row.SD_ID is not None])
    return [
        Table(
            name=TableName(database.catalog, database.database, row.TBL_NAME),
            id=row.TBL_ID,
            owner=row.OWNER,
            owner_type=row.OWNER_TYPE,
            created_seconds=row.CREATE_TIME,
            last_access_seconds=row.LAST_ACCESS_TIME,
            retention=row.RETENTION,
            storage=storages.get(row.SD_ID),
            partition_keys=tuple(keys.get(row.TBL_ID, ())),
            parameters=values.get(row.TBL_ID, {}),
            view_original_text=row.VIEW_ORIGINAL_TEXT,
            view_expanded_text=row.VIEW_EXPANDED_TEXT,
            table_type=row.TBL_TYPE,
            rewrite_enabled=row.IS_REWRITE_ENABLED,
            write_id=row.WRITE_ID or 0,
        )
        for row in rows
    ]


def names(connection: Connection, database: DatabaseName, table_types: Sequence[str] | None = None) -> list[str]:
    """The names of a database's tables, of these types or of all, sorted."""
    query = select(TBLS.c.TBL_NAME).select_from(_NAMED).where(_inside(database))
    if table_types is not None:
        query = query.where(TBLS.c.TBL_TYPE.in_(table_types))
    return list(connection.execute(query.order_by(by_bytes(connection, TBLS.c.TBL_NAME))).scalars())


def rewriting(connection: Connection, database: DatabaseName | None) -> dict[DatabaseName, list[str]]:
    """By database the names of materialized views that queries may be rewritten to; None is the default catalog."""
    query = select(DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_NAMED)
    query = query.where(TBLS.c.TBL_TYPE == MATERIALIZED_VIEW, TBLS.c.IS_REWRITE_ENABLED)
    query = query.where(DBS.c.CTLG_NAME == DEFAULT_CATALOG if database is None else _inside(database))
    found: dict[DatabaseName, list[str]] = {}
    for catalog, parent, name in connection.execute(query.order_by(by_bytes(connection, TBLS.c.TBL_NAME))):
        found.setdefault(DatabaseName(catalog, parent), []).append(name)
    return found


def summaries(connection: Connection, catalog: str) -> list[TableSummary]:
    """A summary of every table of a catalog, by database and name."""
    p = TABLE_PARAMS.c
    comment = TABLE_PARAMS, (p.TBL_ID == TBLS.c.TBL_ID) & (p.PARAM_KEY == "comment")
    query = (
        select(DBS.c.NAME, TBLS.c.TBL_NAME, TBLS.c.TBL_TYPE, p.PARAM_VALUE, TBLS.c.OWNER, TBLS.c.OWNER_TYPE)
        .select_from(_NAMED.outerjoin(*comment))
        .where(DBS.c.CTLG_NAME == catalog)
        .order_by(by_bytes(connection, DBS.c.NAME), by_bytes(connection, TBLS.c.TBL_NAME))
    )
    return [
        TableSummary(TableName(catalog, database, name), table_type or "", text, owner, owner_type)
        for database, name, table_type, text, owner, owner_type in connection.execute(query)
    ]


def find_id(connection: Connection, name: TableName) -> int | None:
    """The table's id, or None."""
    return connection.execute(_id_query(name)).scalar_one_or_none()


def find_noted(connection: Connection, name: TableName) -> int | None:
    """The table's id, its version noted, or None."""
    query = select(TBLS.c.TBL_ID, VERSIONS.c.VERSION).select_from(_VERSIONED)
    row = connection.execute(query.where(_inside(name.parent), TBLS.c.TBL_NAME == name.table)).one_or_none()
    if row is None:
        return None
    table_id, version = row
    versions.note(table_id, version)
    return int(table_id)


def lock(unit: Unit, name: TableName) -> int | None:
    """The table's id, its row locked until the unit ends; None when there is no such table."""
    return unit.connection.execute(_id_query(name).with_for_update(of=TBLS)).scalar_one_or_none()


def ids_in(connection: Connection, database: DatabaseName) -> list[int]:
    """The ids of a database's tables."""
    return list(connection.execute(select(TBLS.c.TBL_ID).select_from(_NAMED).where(_inside(database))).scalars())


def insert_one(unit: Unit, table: Table) -> int:
    """Write a new table; its id. Raises NoSuchObject when its database is not there."""
    table_id = unit.ids(ids.Sequence.TABLE, 1)[0]
    storage_id = storage.insert_many(unit, [table.storage])[0] if table.storage else None
    row = {"TBL_ID": table_id, "SD_ID": storage_id, **_row(unit.connection, table)}
    unit.connection.execute(insert(TBLS), row)
    _insert_keys(unit, table_id, table.partition_keys)
    parameters.put(unit, OF_TABLES, {table_id: table.parameters})
    versions.bump(unit, table_id)
    return table_id


def replace(unit: Unit, table_id: int, table: Table) -> None:
    """Replace all that a table is; partitions and statistics stay. Raises NoSuchObject without its new database."""
    connection = unit.connection
    old_storage = connection.execute(select(TBLS.c.SD_ID).where(TBLS.c.TBL_ID == table_id)).scalar_one()
    storage_id = storage.replace(unit, old_storage, table.storage)
    row = {"SD_ID": storage_id, **_row(connection, table)}
    connection.execute(update(TBLS).where(TBLS.c.TBL_ID == table_id).values(row))
    if old_storage is not None and storage_id != old_storage:
        constraint_columns.follow(unit, table_id, storage_id)
        storage.remove_many(unit, [old_storage])
    connection.execute(delete(PARTITION_KEYS).where(PARTITION_KEYS.c.TBL_ID == table_id))
    _insert_keys(unit, table_id, table.partition_keys)
    parameters.replace(unit, OF_TABLES, {table_id: table.parameters})


def remove_many(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove tables with their partitions, statistics and all that hangs on them."""
    connection = unit.connection
    partitions.remove_of_tables(unit, table_ids)
    constraints.remove_of_tables(unit, table_ids)
    privileges.remove_of_tables(unit, table_ids)
    column_statistics.delete_tables(unit, table_ids, None, None)
    parameters.remove(unit, OF_TABLES, table_ids)
    connection.execute(delete(PARTITION_KEYS).where(one_of(connection, PARTITION_KEYS.c.TBL_ID, table_ids)))
    here = one_of(connection, TBLS.c.TBL_ID, table_ids)
    storage_ids = list(connection.execute(select(TBLS.c.SD_ID).where(here, TBLS.c.SD_ID.is_not(None))).scalars())
    connection.execute(delete(TBLS).where(here))
    storage.remove_many(unit, storage_ids)
    versions.forget(unit, table_ids)


def _inside(database: DatabaseName) -> Any:
    return (DBS.c.NAME == database.database) & (DBS.c.CTLG_NAME == database.catalog)


def _id_query(name: TableName) -> Any:
    return select(TBLS.c.TBL_ID).select_from(_NAMED).where(_inside(name.parent), TBLS.c.TBL_NAME == name.table)


def _read_parts(
    connection: Connection, table_ids: Sequence[int]
) -> tuple[dict[int, list[Column]], dict[int, dict[str, str]]]:
    """Partition keys and parameters by table, in one statement."""
    k, p = PARTITION_KEYS.c, TABLE_PARAMS.c
    query = union_all(
        select(k.TBL_ID, k.INTEGER_IDX, k.PKEY_NAME, k.PKEY_TYPE, k.PKEY_COMMENT).where(
            one_of(connection, k.TBL_ID, table_ids)
        ),
        select(p.TBL_ID, literal(-1), p.PARAM_KEY, p.PARAM_VALUE, cast(null(), String)).where(
            one_of(connection, p.TBL_ID, table_ids)
        ),
    )
    keys: dict[int, list[Column]] = {}
    values: dict[int, dict[str, str]] = {}
    for table_id, index, name, text, comment in sorted(connection.execute(query), key=lambda row: row[1]):
        if index < 0:
            values.setdefault(table_id, {})[name] = text or ""
        else:
            keys.setdefault(table_id, []).append(Column(name, text, comment))
    return keys, values


def _insert_keys(unit: Unit, table_id: int, keys: Sequence[Column]) -> None:
    rows = [
        {"TBL_ID": table_id, "PKEY_NAME": k.name, "PKEY_TYPE": k.type, "PKEY_COMMENT": k.comment, "INTEGER_IDX": index}
        for index, k in enumerate(keys)
    ]
    if rows:
        unit.connection.execute(insert(PARTITION_KEYS), rows)


def _row(connection: Connection, table: Table) -> dict[str, Any]:
    database_id = databases.find_id(connection, table.name.parent)
    if database_id is None:
        raise NoSuchObject(f"database {table.name.parent} of table {table.name.table} not found")
    return {
        "DB_ID": database_id,
        "TBL_NAME": table.name.table,
        "OWNER": table.owner,
        "OWNER_TYPE": table.owner_type,
        "CREATE_TIME": table.created_seconds,
        "LAST_ACCESS_TIME": table.last_access_seconds,
        "RETENTION": table.retention,
        "TBL_TYPE": table.table_type,
        "VIEW_ORIGINAL_TEXT": table.view_original_text,
        "VIEW_EXPANDED_TEXT": table.view_expanded_text,
        "IS_REWRITE_ENABLED": table.rewrite_enabled,
        "WRITE_ID": table.write_id,
    }
