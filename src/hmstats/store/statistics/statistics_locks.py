"""HMSTATS_STATISTICS_LOCK: which statistics are locked.

A change of a lock raises the versions of all tables that it covers. So a lock that was read with a table's version
holds as long as the version does, and writers read locks with the facts of their table (table_facts.py).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)

from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.statistics_locks import (
    ALL_COLUMNS,
    OF_TABLE,
    Cover,
    LockedObject,
    StatisticsLock,
    TableLocks,
)
from hmstats.store.beside_hive.present_tables import COMPLETE
from hmstats.store.changes import versions
from hmstats.store.schema import DBS, PARTITIONS, TBLS
from hmstats.store.schema import HMSTATS_STATISTICS_LOCK as LOCKS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

KIND = "lock"
"""The kind of a lock's row among the parts of a table."""
_KEY = ("TBL_ID", "DB_ID", "PART_ID", "COLUMN_NAME")
_L = LOCKS.c


class ObjectIds(NamedTuple):
    """The ids of a locked object: of a database `table_id` is 0, of a table `database_id`; `part_id` 0 means all."""

    database_id: int
    table_id: int = 0
    part_id: int = OF_TABLE


def rows_of(table_id: ColumnElement[Any], *before: ColumnElement[Any]) -> Select[Any]:
    """The query for the locks that cover a table: rows of kind, partition id, column and text, after `before`."""
    refuse = case((_L.REFUSE, literal_column("'1'")), else_=literal_column("'0'"))
    slash = literal_column("'/'", String)
    text = cast(_L.DB_ID, String) + slash + refuse + slash + func.coalesce(_L.REASON, literal_column("''"))
    zero = literal_column("0", BigInteger)
    own = and_(_L.TBL_ID == table_id, zero == _L.DB_ID)
    parent = select(TBLS.c.DB_ID).where(TBLS.c.TBL_ID == table_id).scalar_subquery()
    kind = literal_column(f"'{KIND}'", String)
    return select(*before, kind, _L.PART_ID, _L.COLUMN_NAME, text).where(
        or_(own, and_(zero == _L.TBL_ID, _L.DB_ID == parent))
    )


def parse_locks(table_id: int, rows: Iterable[Sequence[Any]]) -> TableLocks:
    """The locks in rows of partition id, column and text, as `rows_of` selects them."""
    covers = []
    for part_id, column, text in rows:
        database_id, refuse, reason = text.split("/", 2)
        in_database = int(database_id)
        of = OF_TABLE if in_database else table_id
        covers.append(Cover(in_database, of, part_id, column, refuse == "1", reason or None))
    return TableLocks(tuple(covers))


_OF_TABLE = SingleRead(lambda _: rows_of(bindparam("table_id", type_=BigInteger())))


def of_table(unit: Unit, table_id: int) -> TableLocks:
    """The locks that cover a table or something of it; the unit must have locked its row."""
    if unit.shape.lacks(LOCKS):
        return TableLocks()
    values = {"table_id": table_id}
    if unit.shape is COMPLETE:
        rows: Sequence[Any] = _OF_TABLE.rows_in_unit(unit, values)
    else:
        rows = unit.connection.execute(_OF_TABLE.query, values).all()
    return parse_locks(table_id, [row[1:] for row in rows])


def of_database(unit: Unit, database_id: int) -> TableLocks:
    """The locks that cover every table of a database, new ones too."""
    if unit.shape.lacks(LOCKS):
        return TableLocks()
    query = select(_L.COLUMN_NAME, _L.REFUSE, _L.REASON).where(_L.TBL_ID == 0, _L.DB_ID == database_id)
    rows = unit.connection.execute(query.execution_options(**PREPARED)).all()
    return TableLocks(tuple(Cover(database_id, OF_TABLE, OF_TABLE, *row) for row in rows))


def put(unit: Unit, objects: Sequence[ObjectIds], columns: Collection[str], lock: StatisticsLock) -> None:
    """Insert or replace the locks of some columns (empty: all) of these places."""
    rows = [
        {
            "TBL_ID": object_ids.table_id,
            "DB_ID": object_ids.database_id if object_ids.table_id == 0 else 0,
            "PART_ID": object_ids.part_id,
            "COLUMN_NAME": column,
            "REFUSE": lock.refuse,
            "REASON": lock.reason,
            "LOCKED_BY": lock.locked_by,
            "LOCKED_AT": unit.now_seconds,
            "DROPPED": 0,
        }
        for object_ids in objects
        for column in sorted(columns) or [ALL_COLUMNS]
    ]
    upsert(unit, LOCKS, _KEY, rows, _replaced)


def _replaced(_old: Any, new: Any) -> Mapping[str, ColumnElement[Any]]:
    return {name: new[name] for name in ("REFUSE", "REASON", "LOCKED_BY", "LOCKED_AT")}


def remove(unit: Unit, object_ids: ObjectIds, columns: Collection[str] | None) -> int:
    """Remove the locks of these columns (None: every lock) of a place. Returns their number."""
    here = _here(object_ids)
    if columns is not None:
        here = and_(here, one_of(unit.connection, _L.COLUMN_NAME, sorted(columns)))
    return unit.connection.execute(delete(LOCKS).where(here)).rowcount


def remove_of_database(unit: Unit, database_id: int) -> None:
    """Remove the locks of a database that is dropped."""
    if not unit.shape.lacks(LOCKS):
        unit.connection.execute(delete(LOCKS).where(_here(ObjectIds(database_id))))


def count_dropped(unit: Unit, covers: Collection[Cover]) -> None:
    """Count a dropped write for each of these locks."""
    for each in sorted(set(covers)):
        here = and_(_here(ObjectIds(each.database_id, each.table_id, each.part_id)), _L.COLUMN_NAME == each.column)
        unit.connection.execute(update(LOCKS).where(here).values(DROPPED=_L.DROPPED + 1))


def lock_database(unit: Unit, name: DatabaseName) -> int | None:
    """The id of a database, which gets no table, and whose tables get no writes, until the unit ends.

    Raises the versions of its tables. None if it does not exist.
    """
    query = select(DBS.c.DB_ID).where(DBS.c.NAME == name.database, DBS.c.CTLG_NAME == name.catalog)
    database_id: int | None = unit.connection.execute(query.with_for_update()).scalar_one_or_none()
    if database_id is None:
        return None
    inside = select(TBLS.c.TBL_ID).where(TBLS.c.DB_ID == database_id).order_by(TBLS.c.TBL_ID).with_for_update()
    versions.bump_all(unit, list(unit.connection.execute(inside).scalars()))
    return database_id


def listed(connection: Connection, catalog: str, databases: Sequence[str]) -> list[StatisticsLock]:
    """The locks in some databases of a catalog, by name; the columns of a place that are locked alike are one lock."""
    database, alike = DBS.alias("own"), (_L.REFUSE, _L.REASON, _L.LOCKED_BY, _L.LOCKED_AT, _L.DROPPED)
    parent = or_(
        and_(_L.TBL_ID == 0, database.c.DB_ID == _L.DB_ID),
        and_(_L.TBL_ID != 0, database.c.DB_ID == TBLS.c.DB_ID),
    )
    tables = LOCKS.outerjoin(TBLS, TBLS.c.TBL_ID == _L.TBL_ID).outerjoin(PARTITIONS, PARTITIONS.c.PART_ID == _L.PART_ID)
    names = (database.c.NAME, TBLS.c.TBL_NAME, PARTITIONS.c.PART_NAME)
    query = (
        select(*names, _L.COLUMN_NAME, *alike)
        .select_from(tables.join(database, parent))
        .where(database.c.CTLG_NAME == catalog, one_of(connection, database.c.NAME, databases))
        .order_by(*(by_bytes(connection, func.coalesce(each, "")) for each in (*names, _L.COLUMN_NAME)))
    )
    columns: dict[Any, list[str]] = {}
    for row in connection.execute(query):
        object_names, column, properties = tuple(row[:3]), row[3], tuple(row[4:])
        columns.setdefault((object_names, column == ALL_COLUMNS, properties), []).append(column)
    locks = []
    for ((name, table, partition), every_column, properties), locked in columns.items():
        of = LockedObject(DatabaseName(catalog, name), table, partition, () if every_column else tuple(locked))
        locks.append(StatisticsLock(of, *properties))
    return locks


def _here(object_ids: ObjectIds) -> ColumnElement[bool]:
    database_id = object_ids.database_id if object_ids.table_id == 0 else 0
    return and_(_L.TBL_ID == object_ids.table_id, _L.DB_ID == database_id, _L.PART_ID == object_ids.part_id)
