"""Databases: DBS and DATABASE_PARAMS."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from hmstats.model.catalog.objects import Database, DatabaseName
from hmstats.store.access import privileges
from hmstats.store.catalog import functions
from hmstats.store.schema import DATABASE_PARAMS, DBS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics import preferences, statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_DATABASES
from hmstats.store.unit.ids import Sequence as IdSequence
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_NATIVE, REMOTE = "NATIVE", "REMOTE"
ONE = SingleRead(
    lambda _: (
        select(DBS, DATABASE_PARAMS.c.PARAM_KEY, DATABASE_PARAMS.c.PARAM_VALUE)
        .outerjoin_from(DBS, DATABASE_PARAMS, DATABASE_PARAMS.c.DB_ID == DBS.c.DB_ID)
        .where(DBS.c.NAME == bindparam("database"), DBS.c.CTLG_NAME == bindparam("catalog"))
        .execution_options(**PREPARED)
    )
)
"""The query for a database with its parameters."""
NAMES = SingleRead(lambda _: select(DBS.c.NAME).where(DBS.c.CTLG_NAME == bindparam("catalog")))
"""The query for the names of a catalog's databases, in no order."""


def get(connection: Connection, name: DatabaseName) -> Database | None:
    """The database; None if it does not exist. One statement."""
    return of_rows(connection.execute(ONE.query, name_parameters(name)).all())


def of_rows(rows: Sequence[Sequence[Any]]) -> Database | None:
    """The database in the rows of ONE; None if there are none."""
    if not rows:
        return None
    described = {row[-2]: row[-1] or "" for row in rows if row[-2] is not None}
    return _database(dict(zip(DBS.c.keys(), rows[0], strict=False)), described)


def name_parameters(name: DatabaseName) -> dict[str, str]:
    """The parameters of a query for one database by its name, such as ONE."""
    return {"catalog": name.catalog, "database": name.database}


def get_many(connection: Connection, catalog: str, names: Sequence[str]) -> list[Database]:
    """The databases of a catalog with these names, sorted by name; two statements, whatever their number."""
    query = select(DBS).where(DBS.c.CTLG_NAME == catalog, one_of(connection, DBS.c.NAME, names))
    rows = connection.execute(query.order_by(by_bytes(connection, DBS.c.NAME))).all()
    described = parameters.read(connection, OF_DATABASES, [row.DB_ID for row in rows]) if rows else {}
    return [_database(row._mapping, described.get(row.DB_ID, {})) for row in rows]  # noqa: SLF001 - its public name


def _database(row: Mapping[Any, Any], described: Mapping[str, str]) -> Database:
    return Database(
        name=DatabaseName(row["CTLG_NAME"], row["NAME"]),
        description=row["DESC"],
        location=row["DB_LOCATION_URI"],
        managed_location=row["DB_MANAGED_LOCATION_URI"],
        parameters=described,
        owner=row["OWNER_NAME"],
        owner_type=row["OWNER_TYPE"],
        created_seconds=row["CREATE_TIME"],
        remote=row["TYPE"] == REMOTE,
        connector=row["DATACONNECTOR_NAME"],
        remote_name=row["REMOTE_DBNAME"],
    )


def find_id(connection: Connection, name: DatabaseName) -> int | None:
    """The database's id; None if it does not exist."""
    return connection.execute(select(DBS.c.DB_ID).where(_is(name))).scalar_one_or_none()


def lock(unit: Unit, name: DatabaseName) -> int | None:
    """The database's id, its row locked until the unit ends, so that it gets no table; None if it does not exist."""
    query = select(DBS.c.DB_ID).where(_is(name)).with_for_update()
    return unit.connection.execute(query).scalar_one_or_none()


def names(connection: Connection, catalog: str) -> list[str]:
    """The names of a catalog's databases, sorted."""
    return sorted(connection.execute(NAMES.query, {"catalog": catalog}).scalars())


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
