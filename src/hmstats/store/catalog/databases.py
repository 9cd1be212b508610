"""Databases: DBS and DATABASE_PARAMS."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from hmstats.model.catalog.objects import Database, DatabaseName
from hmstats.store.access import privileges
from hmstats.store.catalog import functions
from hmstats.store.schema import DBS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics import preferences, statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_DATABASES
from hmstats.store.unit.ids import Sequence as IdSequence
from hmstats.store.unit.unit import Unit

_NATIVE, REMOTE = "NATIVE", "REMOTE"


def get(connection: Connection, name: DatabaseName) -> Database | None:
    """The database; None if it does not exist."""
    databases = get_many(connection, name.catalog, [name.database])
    return databases[0] if databases else None


def get_many(connection: Connection, catalog: str, names: Sequence[str]) -> list[Database]:
    """The databases of a catalog with these names, sorted by name; two statements, whatever their number."""
    query = select(DBS).where(DBS.c.CTLG_NAME == catalog, one_of(connection, DBS.c.NAME, names))
    rows = connection.execute(query.order_by(by_bytes(connection, DBS.c.NAME))).all()
    described = parameters.read(connection, OF_DATABASES, [row.DB_ID for row in rows]) if rows else {}
    return [_database(row, described.get(row.DB_ID, {})) for row in rows]


def _database(row: Any, described: Mapping[str, str]) -> Database:
    return Database(
        name=DatabaseName(row.CTLG_NAME, row.NAME),
        description=row.DESC,
        location=row.DB_LOCATION_URI,
        managed_location=row.DB_MANAGED_LOCATION_URI,
        parameters=described,
        owner=row.OWNER_NAME,
        owner_type=row.OWNER_TYPE,
        created_seconds=row.CREATE_TIME,
        remote=row.TYPE == REMOTE,
        connector=row.DATACONNECTOR_NAME,
        remote_name=row.REMOTE_DBNAME,
    )


def find_id(connection: Connection, name: DatabaseName) -> int | None:
    """The database's id; None if it does not exist."""
    return connection.execute(select(DBS.c.DB_ID).where(_is(name))).scalar_one_or_none()


def names(connection: Connection, catalog: str) -> list[str]:
    """The names of a catalog's databases, sorted."""
    query = select(DBS.c.NAME).where(DBS.c.CTLG_NAME == catalog).order_by(by_bytes(connection, DBS.c.NAME))
    return list(connection.execute(query).scalars())


def insert_one(unit: Unit, database: Database) -> int:
    """Insert a database. Returns its id."""
    database_id = unit.ids(IdSequence.DATABASE, 1)[0]
    unit.connection.execute(insert(DBS), {"DB_ID": database_id, **_row(database)})
    parameters.put(unit, OF_DATABASES, {database_id: database.parameters})
    return database_id


def replace(unit: Unit, database_id: int, database: Database) -> None:
    """Replace a database's properties and parameters."""
    unit.connection.execute(update(DBS).where(DBS.c.DB_ID == database_id).values(_row(database)))
    parameters.replace(unit, OF_DATABASES, {database_id: database.parameters})


def remove(unit: Unit, database_id: int) -> None:
    """Remove a database, which must have no tables, with its functions and privileges."""
    functions.remove_of_database(unit, database_id)
    privileges.remove_of_database(unit, database_id)
    statistics_locks.remove_of_database(unit, database_id)
    preferences.remove_of_database(unit, database_id)
    parameters.remove(unit, OF_DATABASES, [database_id])
    unit.connection.execute(delete(DBS).where(DBS.c.DB_ID == database_id))


def _is(name: DatabaseName) -> Any:
    return (DBS.c.NAME == name.database) & (DBS.c.CTLG_NAME == name.catalog)


def _row(database: Database) -> dict[str, Any]:
    return {
        "NAME": database.name.database,
        "CTLG_NAME": database.name.catalog,
        "DESC": database.description,
        "DB_LOCATION_URI": database.location,
        "DB_MANAGED_LOCATION_URI": database.managed_location,
        "OWNER_NAME": database.owner,
        "OWNER_TYPE": database.owner_type,
        "CREATE_TIME": database.created_seconds,
        "TYPE": REMOTE if database.remote else _NATIVE,
        "DATACONNECTOR_NAME": database.connector,
        "REMOTE_DBNAME": database.remote_name,
    }
