"""HMSTATS_PREFERENCE: how statistics of objects are made and kept, and what Hive's parameter says beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    case,
    cast,
    delete,
    func,
    literal_column,
    or_,
    select,
)

from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.pending.holding import HOLDING, Holding, holding_of
from hmstats.model.preferences.in_force import by_parameter
from hmstats.model.preferences.preference import EVERYTHING, SKIP, Preference, Subject
from hmstats.model.preferences.values import Level
from hmstats.store.schema import DATABASE_PARAMS, DBS, PARTITIONS, TABLE_PARAMS, TBLS
from hmstats.store.schema import HMSTATS_PREFERENCE as PREFERENCES
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics.statistics_locks import ObjectIds
from hmstats.store.unit.unit import Unit

OF_EVERYTHING = ObjectIds(0)
"""The place of preferences of everything."""
_KEY = ("TBL_ID", "DB_ID", "PART_ID", "COLUMN_NAME", "NAME")
KIND = "preference"
"""The kind of a preference's row among the parts of a table."""
_LEVELS = {"e": Level.EVERYTHING, "d": Level.DATABASE, "t": Level.TABLE}
_P = PREFERENCES.c


def holding_rows_of(table_id: ColumnElement[Any], *before: ColumnElement[Any]) -> Select[Any]:
    """The query for what writers of a table look at: rows of kind, 0, name and text, after `before`."""
    parent = select(TBLS.c.DB_ID).where(TBLS.c.TBL_ID == table_id).scalar_subquery()
    zero, slash = literal_column("0", BigInteger), literal_column("'/'", String)
    everything = and_(zero == _P.TBL_ID, zero == _P.DB_ID)
    in_database = and_(zero == _P.TBL_ID, _P.DB_ID == parent)
    own = and_(_P.TBL_ID == table_id, zero == _P.DB_ID, zero == _P.PART_ID)
    level = case((everything, literal_column("'e'")), (in_database, literal_column("'d'")), else_=literal_column("'t'"))
    text = cast(level, String) + _P.COLUMN_NAME + slash + _P.VALUE
    wanted = or_(*(_P.NAME == literal_column(f"'{name}'", String) for name in HOLDING))
    kind = literal_column(f"'{KIND}'", String)
    return select(*before, kind, zero, _P.NAME, text).where(or_(own, in_database, everything), wanted)


def holding(rows: Sequence[tuple[str, str]], *, has_pending: bool) -> Holding:
    """What writers must know, from the names and texts of `holding_rows_of`."""
    stated = []
    for name, text in rows:
        column, _, value = text[1:].rpartition("/")  # none of these values has a slash
        stated.append((_LEVELS[text[0]], column, name, value))
    return holding_of(stated, has_pending=has_pending)


def put(unit: Unit, place: ObjectIds, column: str | None, texts: Mapping[str, str], author: str | None) -> None:
    """Insert or replace preferences, by name, of a place, or of a column of a table."""
    rows = [
        {
            "TBL_ID": place.table_id,
            "DB_ID": place.database_id if place.table_id == 0 else 0,
            "PART_ID": place.part_id,
            "COLUMN_NAME": column or "",
            "NAME": name,
            "VALUE": text,
            "SET_BY": author,
            "SET_AT": unit.now_seconds,
        }
        for name, text in texts.items()
    ]
    upsert(unit, PREFERENCES, _KEY, rows, _replaced)


def _replaced(_old: Any, new: Any) -> Mapping[str, ColumnElement[Any]]:
    return {name: new[name] for name in ("VALUE", "SET_BY", "SET_AT")}


def remove(unit: Unit, place: ObjectIds, column: str | None, names: Sequence[str]) -> int:
    """Remove preferences of a place, or of a column of a table, by name. Returns the number removed."""
    here = and_(_here(place), _P.COLUMN_NAME == (column or ""), one_of(unit.connection, _P.NAME, names))
    return unit.connection.execute(delete(PREFERENCES).where(here)).rowcount


def remove_of_database(unit: Unit, database_id: int) -> None:
    """Remove the preferences of a database that is dropped."""
    if not unit.shape.lacks(PREFERENCES):
        unit.connection.execute(delete(PREFERENCES).where(_here(ObjectIds(database_id))))


def listed(
    connection: Connection, catalog: str, databases: Sequence[str], tables: Sequence[str] | None
) -> list[Preference]:
    """The preferences of everything, of some databases of a catalog, and of tables in them (None: all), by name.

    What Hive's parameter says of databases and tables is among them, of partitions not.
    """
    return [
        *_of_everything(connection),
        *_stated(connection, catalog, databases, tables),
        *_by_parameter(connection, catalog, databases, tables),
    ]


def _of_everything(connection: Connection) -> list[Preference]:
    query = select(_P.NAME, _P.VALUE, _P.SET_BY, _P.SET_AT).where(_here(OF_EVERYTHING))
    rows = connection.execute(query.order_by(by_bytes(connection, _P.NAME)))
    return [Preference(EVERYTHING, *row) for row in rows]


def _stated(
    connection: Connection, catalog: str, databases: Sequence[str], tables: Sequence[str] | None
) -> list[Preference]:
    database = DBS.alias("own")
    parent = or_(
        and_(_P.TBL_ID == 0, database.c.DB_ID == _P.DB_ID),
        and_(_P.TBL_ID != 0, database.c.DB_ID == TBLS.c.DB_ID),
    )
    places = PREFERENCES.outerjoin(TBLS, TBLS.c.TBL_ID == _P.TBL_ID).outerjoin(
        PARTITIONS, PARTITIONS.c.PART_ID == _P.PART_ID
    )
    names = (database.c.NAME, TBLS.c.TBL_NAME, PARTITIONS.c.PART_NAME, _P.COLUMN_NAME)
    query = (
        select(*names, _P.NAME, _P.VALUE, _P.SET_BY, _P.SET_AT)
        .select_from(places.join(database, parent))
        .where(database.c.CTLG_NAME == catalog, one_of(connection, database.c.NAME, databases))
        .order_by(*(by_bytes(connection, func.coalesce(each, "")) for each in (*names, _P.NAME)))
    )
    if tables is not None:
        query = query.where(or_(_P.TBL_ID == 0, one_of(connection, TBLS.c.TBL_NAME, tables)))
    return [
        Preference(Subject(DatabaseName(catalog, name), table, partition, column or None), *rest)
        for name, table, partition, column, *rest in connection.execute(query)
    ]


def _by_parameter(
    connection: Connection, catalog: str, databases: Sequence[str], tables: Sequence[str] | None
) -> list[Preference]:
    wanted = and_(DBS.c.CTLG_NAME == catalog, one_of(connection, DBS.c.NAME, databases))
    d, t = DATABASE_PARAMS.c, TABLE_PARAMS.c
    of_databases = (
        select(DBS.c.NAME)
        .join_from(DBS, DATABASE_PARAMS, d.DB_ID == DBS.c.DB_ID)
        .where(wanted, d.PARAM_KEY == SKIP, func.lower(d.PARAM_VALUE) == "true")
        .order_by(by_bytes(connection, DBS.c.NAME))
    )
    of_tables = (
        select(DBS.c.NAME, TBLS.c.TBL_NAME)
        .select_from(DBS.join(TBLS, TBLS.c.DB_ID == DBS.c.DB_ID).join(TABLE_PARAMS, t.TBL_ID == TBLS.c.TBL_ID))
        .where(wanted, t.PARAM_KEY == SKIP, func.lower(t.PARAM_VALUE) == "true")
        .order_by(by_bytes(connection, DBS.c.NAME), by_bytes(connection, TBLS.c.TBL_NAME))
    )
    if tables is not None:
        of_tables = of_tables.where(one_of(connection, TBLS.c.TBL_NAME, tables))
    named = [(row.NAME, None) for row in connection.execute(of_databases)]
    named += [(row.NAME, row.TBL_NAME) for row in connection.execute(of_tables)]
    return [by_parameter(Subject(DatabaseName(catalog, database), table)) for database, table in named]


def _here(place: ObjectIds) -> ColumnElement[bool]:
    database_id = place.database_id if place.table_id == 0 else 0
    return and_(_P.TBL_ID == place.table_id, _P.DB_ID == database_id, _P.PART_ID == place.part_id)
