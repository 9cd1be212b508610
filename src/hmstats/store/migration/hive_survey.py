"""A read-only survey of a Hive's database: its contents, and problems in them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, func, literal_column, or_, select, text

from hmstats.errors import SchemaError
from hmstats.model.catalog.objects import MANAGED_TABLE, MATERIALIZED_VIEW
from hmstats.store.beside_hive import present_tables as shapes
from hmstats.store.beside_hive.present_tables import LOGGING, OURS, Shape
from hmstats.store.catalog.roots import needed_roots
from hmstats.store.database.store import Store
from hmstats.store.migration import schema_revision
from hmstats.store.schema import (
    CTLGS,
    DATACONNECTORS,
    DBS,
    METADATA,
    NOTIFICATION_LOG,
    PART_COL_STATS,
    PARTITIONS,
    SERDES,
    TAB_COL_STATS,
    TABLE_PARAMS,
    TBLS,
)

MANAGED = (MANAGED_TABLE, MATERIALIZED_VIEW)
"""Types of tables whose directories are created, moved and removed with them."""
_SECONDS = 600.0
"""Timeout of a statement; reading every row of statistics takes long."""
_COUNTED = {
    "databases": DBS,
    "tables": TBLS,
    "partitions": PARTITIONS,
    "statistics of tables' columns": TAB_COL_STATS,
    "statistics of partitions' columns": PART_COL_STATS,
    "events in the notification log": NOTIFICATION_LOG,
}
_OWNERS = {"TAB_COL_STATS": "TBL_ID", "PART_COL_STATS": "PART_ID"}
_MAY = text("SELECT has_table_privilege(c.oid, :what) FROM pg_class c WHERE c.oid = to_regclass(:name)")
_MAY_CREATE = text("SELECT has_schema_privilege(current_schema(), 'CREATE')")


@dataclass(frozen=True, slots=True)
class Ability:
    """A feature that a server beside this Hive supports or not, and the reason."""

    name: str
    works: bool
    note: str


@dataclass(frozen=True, slots=True)
class Survey:
    """The result of a survey. `own_tables` is the revision of our tables, None if there are none.

    `duplicates` counts statistics by table, `impossible` by problem; `rights` are those of the
    database's user; `roots` are the prefixes that databases and managed tables outside the warehouse need.
    """

    database: str
    hive_schema: str
    own_tables: str | None
    rows: Mapping[str, int]
    duplicates: Mapping[str, int]
    impossible: Mapping[str, int]
    transactional_tables: int
    rights: Mapping[str, bool]
    abilities: tuple[Ability, ...]
    roots: tuple[str, ...] = ()


def survey(url: str, *, warehouse: str, hive_logs: bool = False) -> Survey:
    """Survey a database for a server with this warehouse; `hive_logs` is as in opening.open_store.

    Raises SchemaError if it does not belong to a supported Hive.
    """
    schema_revision.require_database(url)
    store = Store.open(url, pool_size=1, statement_seconds=_SECONDS, read_only=True)
    try:
        with store.read() as connection:
            found = shapes.read(connection)
        if not found.beside_hive:
            raise SchemaError(f"database {store.name} is not the database of a Hive Metastore")
        store.use_shape(found)
        with store.read() as connection:
            looked = _survey(connection, store.name, found, hive_logs=hive_logs)
            return replace(looked, roots=tuple(needed_roots(connection, warehouse, MANAGED)))
    finally:
        store.close()


def _survey(connection: Connection, name: str, shape: Shape, *, hive_logs: bool) -> Survey:
    return Survey(
        database=name,
        hive_schema=shape.hive or "",
        own_tables=schema_revision.revision_of(connection) if shape.adopted else None,
        rows={each: _count(connection, f'"{table.name}"') for each, table in _COUNTED.items()},
        duplicates={each: _duplicates(connection, METADATA.tables[each], shape) for each in _OWNERS},
        impossible=_impossible(connection),
        transactional_tables=_transactional(connection),
        rights=_rights(connection, shape),
        abilities=_abilities(shape, hive_logs=hive_logs),
    )


def _duplicates(connection: Connection, table: Table, shape: Shape) -> int:
    """The number of columns whose statistics have more than one row."""
    key = ", ".join(f'"{name}"' for name in shape.present(table, (_OWNERS[table.name], "COLUMN_NAME", "ENGINE")))
    twice = f'SELECT 1 FROM "{table.name}" GROUP BY {key} HAVING count(*) > 1'
    return _count(connection, f"({twice}) AS twice")


def _count(connection: Connection, rows: str) -> int:
    """The number of stored rows, also of those that readers do not see."""
    return int(connection.execute(text(f"SELECT count(*) FROM {rows}")).scalar_one())


def _impossible(connection: Connection) -> dict[str, int]:
    """The number of columns' statistics by problem, of tables and partitions together."""
    found: dict[str, int] = {}
    for table in (TAB_COL_STATS, PART_COL_STATS):
        wrong = _wrong(table.c)
        columns = [func.count().filter(each) for each in wrong.values()]
        numbers = connection.execute(select(*columns).select_from(table)).one()
        for what, number in zip(wrong, numbers, strict=True):
            found[what] = found.get(what, 0) + number
    return found


def _wrong(c: Any) -> dict[str, ColumnElement[bool]]:
    nan: ColumnElement[float] = literal_column("'NaN'::float8")
    return {
        "a lowest value above the highest": or_(
            c.LONG_LOW_VALUE > c.LONG_HIGH_VALUE,
            and_(c.DOUBLE_LOW_VALUE > c.DOUBLE_HIGH_VALUE, c.DOUBLE_LOW_VALUE != nan),
        ),
        "a bound that is not a number": or_(c.DOUBLE_LOW_VALUE == nan, c.DOUBLE_HIGH_VALUE == nan),
        "a negative number of nulls (unknown)": c.NUM_NULLS < 0,
        "a negative number of distinct values": c.NUM_DISTINCTS < 0,
        "a longest value shorter than the average": c.MAX_COL_LEN < c.AVG_COL_LEN,
    }


def _transactional(connection: Connection) -> int:
    p = TABLE_PARAMS.c
    query = select(func.count()).select_from(TABLE_PARAMS)
    return connection.execute(
        query.where(p.PARAM_KEY == "transactional", func.lower(p.PARAM_VALUE) == "true")
    ).scalar_one()


def _rights(connection: Connection, shape: Shape) -> dict[str, bool]:
    """Whether the database's user may read and write all of Hive's tables, and create ours."""
    hives = [name for name in METADATA.tables if not name.startswith(OURS) and name not in shape.absent_tables]
    rights = {"SELECT": True, "INSERT": True, "UPDATE": True, "DELETE": True}
    for what in rights:
        sent = ({"what": what, "name": f'"{name}"'} for name in hives)
        rights[what] = all(connection.execute(_MAY, each).scalar_one() for each in sent)
    return {
        "read Hive's tables": rights["SELECT"],
        "write to Hive's tables": rights["INSERT"] and rights["UPDATE"] and rights["DELETE"],
        "make tables": bool(connection.execute(_MAY_CREATE).scalar_one()),
    }


def _abilities(shape: Shape, *, hive_logs: bool) -> tuple[Ability, ...]:
    columns = shape.absent(TAB_COL_STATS)
    return (
        Ability("statistics of tables, partitions and columns", True, "read and written"),
        Ability("bit vectors", "BIT_VECTOR" not in columns, "distinct values of partitions are merged by them"),
        Ability("histograms", "HISTOGRAM" not in columns, "quantiles are answered from them"),
        Ability("statistics by engine", "ENGINE" not in columns, "without, all engines share one"),
        Ability("catalogs", not shape.lacks(CTLGS), "without, there is one, named hive"),
        Ability("data connectors", not shape.lacks(DATACONNECTORS), "remote databases"),
        Ability(
            "descriptions of serdes", "DESCRIPTION" not in shape.absent(SERDES), "used by the schema registry alone"
        ),
        Ability("transactional statistics", "WRITE_ID" not in shape.absent(TBLS), "write ids of tables and partitions"),
        Ability("locks and transactions", False, "Hive manages them: connect to it for these"),
        _kept_answers(shape, hive_logs=hive_logs),
    )


def _kept_answers(shape: Shape, *, hive_logs: bool) -> Ability:
    name = "kept answers"
    if shape.hive not in LOGGING:
        return Ability(name, False, "the log of this Hive is not known to tell of all changes: every answer is read")
    if not hive_logs:
        return Ability(name, False, "every answer is read: no --hive-site has DbNotificationListener in transactions")
    return Ability(name, True, "an answer is true as long as Hive's notification log tells of no change")
