"""User-defined functions: FUNCS and their files in FUNC_RU."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, literal_column, select, update

from hmstats.model.catalog.functions import Function, FunctionKind, FunctionName, Resource, ResourceKind
from hmstats.model.catalog.objects import DatabaseName
from hmstats.store.schema import DBS, FUNC_RU, FUNCS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit import ids
from hmstats.store.unit.unit import Unit

_NAMED = FUNCS.join(DBS, DBS.c.DB_ID == FUNCS.c.DB_ID)
ANY = SingleRead(
    lambda _: (
        select(FUNCS.c.FUNC_ID)
        .select_from(_NAMED)
        .where(DBS.c.CTLG_NAME == bindparam("catalog"))
        .limit(literal_column("1"))
    )
)
"""The query for any function of a catalog: few have one, and every session of Hive asks for all."""


def get(connection: Connection, name: FunctionName) -> Function | None:
    """The function; None if it does not exist."""
    functions = _read(connection, _inside(name.parent), FUNCS.c.FUNC_NAME == name.function)
    return functions[0] if functions else None


def get_all(connection: Connection, catalog: str) -> list[Function]:
    """Every function of a catalog, by database and name."""
    return _read(connection, DBS.c.CTLG_NAME == catalog)


def get_many(connection: Connection, database: DatabaseName, names: Sequence[str]) -> list[Function]:
    """The named functions in name order; missing ones are skipped."""
    return _read(connection, _inside(database), one_of(connection, FUNCS.c.FUNC_NAME, names))


def names(connection: Connection, database: DatabaseName) -> list[str]:
    """The names of a database's functions, sorted."""
    query = select(FUNCS.c.FUNC_NAME).select_from(_NAMED).where(_inside(database))
    return list(connection.execute(query.order_by(by_bytes(connection, FUNCS.c.FUNC_NAME))).scalars())


def lock(unit: Unit, name: FunctionName) -> int | None:
    """The function's id, its row locked until the unit ends; None if it does not exist."""
    query = select(FUNCS.c.FUNC_ID).select_from(_NAMED).where(_inside(name.parent), FUNCS.c.FUNC_NAME == name.function)
    return unit.connection.execute(query.with_for_update(of=FUNCS)).scalar_one_or_none()


def insert_one(unit: Unit, database_id: int, function: Function) -> None:
    """Insert a function."""
    function_id = unit.ids(ids.Sequence.FUNCTION, 1)[0]
    row = {"FUNC_ID": function_id, "DB_ID": database_id, **_row(function)}
    unit.connection.execute(insert(FUNCS), row)
    _insert_resources(unit, function_id, function.resources)


def replace(unit: Unit, function_id: int, database_id: int, function: Function) -> None:
    """Replace a function, its database and its resources."""
    row = {"DB_ID": database_id, **_row(function)}
    unit.connection.execute(update(FUNCS).where(FUNCS.c.FUNC_ID == function_id).values(row))
    unit.connection.execute(delete(FUNC_RU).where(FUNC_RU.c.FUNC_ID == function_id))
    _insert_resources(unit, function_id, function.resources)


def remove(unit: Unit, function_id: int) -> None:
    """Remove a function."""
    unit.connection.execute(delete(FUNC_RU).where(FUNC_RU.c.FUNC_ID == function_id))
    unit.connection.execute(delete(FUNCS).where(FUNCS.c.FUNC_ID == function_id))


def remove_of_database(unit: Unit, database_id: int) -> None:
    """Remove every function of a database."""
    inside = select(FUNCS.c.FUNC_ID).where(FUNCS.c.DB_ID == database_id)
    unit.connection.execute(delete(FUNC_RU).where(FUNC_RU.c.FUNC_ID.in_(inside)))
    unit.connection.execute(delete(FUNCS).where(FUNCS.c.DB_ID == database_id))


def _inside(database: DatabaseName) -> Any:
    return (DBS.c.NAME == database.database) & (DBS.c.CTLG_NAME == database.catalog)


def _read(connection: Connection, *conditions: Any) -> list[Function]:
    query = select(FUNCS, DBS.c.NAME, DBS.c.CTLG_NAME).select_from(_NAMED).where(*conditions)
    order = (by_bytes(connection, each) for each in (DBS.c.NAME, FUNCS.c.FUNC_NAME))
    rows = connection.execute(query.order_by(*order)).all()
    resources = _resources(connection, [row.FUNC_ID for row in rows]) if rows else {}
    return [
        Function(
            name=FunctionName(row.CTLG_NAME, row.NAME, row.FUNC_NAME),
            class_name=row.CLASS_NAME,
            owner=row.OWNER_NAME,
            owner_type=row.OWNER_TYPE,
            created_seconds=row.CREATE_TIME,
            kind=FunctionKind(row.FUNC_TYPE),
            resources=tuple(resources.get(row.FUNC_ID, ())),
        )
        for row in rows
    ]


def _resources(connection: Connection, function_ids: Sequence[int]) -> dict[int, list[Resource]]:
    query = select(FUNC_RU).where(one_of(connection, FUNC_RU.c.FUNC_ID, function_ids)).order_by(FUNC_RU.c.INTEGER_IDX)
    resources: dict[int, list[Resource]] = {}
    for row in connection.execute(query):
        resource = Resource(ResourceKind(row.RESOURCE_TYPE), row.RESOURCE_URI or "")
        resources.setdefault(row.FUNC_ID, []).append(resource)
    return resources


def _row(function: Function) -> dict[str, Any]:
    return {
        "FUNC_NAME": function.name.function,
        "CLASS_NAME": function.class_name,
        "OWNER_NAME": function.owner,
        "OWNER_TYPE": function.owner_type,
        "CREATE_TIME": function.created_seconds,
        "FUNC_TYPE": function.kind.value,
    }


def _insert_resources(unit: Unit, function_id: int, resources: Sequence[Resource]) -> None:
    rows = [
        {"FUNC_ID": function_id, "RESOURCE_TYPE": each.kind.value, "RESOURCE_URI": each.uri, "INTEGER_IDX": index}
        for index, each in enumerate(resources)
    ]
    if rows:
        unit.connection.execute(insert(FUNC_RU), rows)
