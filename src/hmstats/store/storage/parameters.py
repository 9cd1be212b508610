"""Parameters: keys and values of catalogs, databases, tables, partitions, storages and serdes, of many at once."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, select, update

from hmstats.store import schema
from hmstats.store.history import before_writes
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.statements import queued
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit


class ParameterTable(NamedTuple):
    """The table of parameters of one kind of owner, with the column of the owner's id."""

    table: Table
    owner: Column[Any]
    kept: OwnerKind | None = None
    """The kind of owners whose parameters of statistics have a history."""


def _of(table: Table, owner: str, kept: OwnerKind | None = None) -> ParameterTable:
    return ParameterTable(table, table.c[owner], kept)


OF_CATALOGS = _of(schema.CATALOG_PARAMS, "CTLG_ID")
OF_DATABASES = _of(schema.DATABASE_PARAMS, "DB_ID")
OF_TABLES = _of(schema.TABLE_PARAMS, "TBL_ID", OwnerKind.TABLES)
OF_PARTITIONS = _of(schema.PARTITION_PARAMS, "PART_ID", OwnerKind.PARTITIONS)
OF_STORAGES = _of(schema.SD_PARAMS, "SD_ID")
OF_SERDES = _of(schema.SERDE_PARAMS, "SERDE_ID")


def read(
    connection: Connection, of: ParameterTable, owners: Sequence[int], keys: Sequence[str] | None = None
) -> dict[int, dict[str, str]]:
    """The parameters by owner id, of these keys (None: of all); owners without any are absent."""
    query = select(of.owner, of.table.c.PARAM_KEY, of.table.c.PARAM_VALUE).where(one_of(connection, of.owner, owners))
    if keys is not None:
        query = query.where(of.table.c.PARAM_KEY.in_(keys))
    parameters: dict[int, dict[str, str]] = {}
    for owner, key, value in connection.execute(query):
        parameters.setdefault(owner, {})[key] = value or ""
    return parameters


def put(unit: Unit, of: ParameterTable, values: Mapping[int, Mapping[str, str]]) -> None:
    """Upsert these parameters of each owner; other keys do not change."""
    _copy_to_history(unit, of, list(values), {key for pairs in values.values() for key in pairs})
    key = [of.owner.name, "PARAM_KEY"]
    upsert(unit, of.table, key, _rows(of, values), _replaced)


def add(unit: Unit, of: ParameterTable, values: Mapping[int, Mapping[str, str]]) -> None:
    """Insert the parameters of new owners."""
    each = [(owner, key, value) for owner, pairs in values.items() for key, value in pairs.items()]
    if each:
        owners, keys, texts = zip(*each, strict=True)
        queued.insert(unit, of.table, {of.owner.name: owners, "PARAM_KEY": keys, "PARAM_VALUE": texts})


def _replaced(_old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    return {"PARAM_VALUE": new.PARAM_VALUE}


def replace(unit: Unit, of: ParameterTable, values: Mapping[int, Mapping[str, str]]) -> None:
    """Replace all parameters of each owner by these."""
    _copy_to_history(unit, of, list(values), None)
    queued.delete(unit, of.owner, list(values))
    add(unit, of, {owner: dict(sorted(values[owner].items())) for owner in sorted(values)})


def set_existing(unit: Unit, of: ParameterTable, owners: Sequence[int], keys: Sequence[str], value: str) -> None:
    """Set this value for those of the keys that an owner has already."""
    _copy_to_history(unit, of, owners, keys)
    here = one_of(unit.connection, of.owner, owners)
    statement = update(of.table).where(here, of.table.c.PARAM_KEY.in_(keys))
    unit.connection.execute(statement.values(PARAM_VALUE=value))


def remove(unit: Unit, of: ParameterTable, owners: Sequence[int], keys: Sequence[str] | None = None) -> None:
    """Remove these parameters (None: all) of the owners."""
    _copy_to_history(unit, of, owners, keys)
    _remove(unit, of, owners, keys)


def _copy_to_history(unit: Unit, of: ParameterTable, owners: Sequence[int], keys: Collection[str] | None) -> None:
    if of.kept is not None:
        before_writes.of_parameters(unit, of.kept, owners, keys)


def _remove(unit: Unit, of: ParameterTable, owners: Sequence[int], keys: Sequence[str] | None = None) -> None:
    statement = delete(of.table).where(one_of(unit.connection, of.owner, owners))
    unit.connection.execute(statement if keys is None else statement.where(of.table.c.PARAM_KEY.in_(keys)))


def _rows(of: ParameterTable, values: Mapping[int, Mapping[str, str]]) -> list[dict[str, Any]]:
    """The rows in a fixed order, so that two writers cannot deadlock."""
    return [
        {of.owner.name: owner, "PARAM_KEY": key, "PARAM_VALUE": value}
        for owner in sorted(values)
        for key, value in sorted(values[owner].items())
    ]
