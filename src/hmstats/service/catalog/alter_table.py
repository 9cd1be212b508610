"""Altering tables: what they say of themselves, their columns, name and place; with what that means for the rest.

A rename carries partitions, statistics and write ids. Statistics of columns that are dropped or of another type go, of
partitions too. As in Hive, partitions keep columns of their own unless the alter cascades.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from hmstats.errors import InvalidObject, InvalidOperation, MetaError
from hmstats.model.accurate import PARAMETER
from hmstats.model.catalog import Table, TableName
from hmstats.model.events import TableAltered
from hmstats.service.catalog.columns import kept_parameters, lost_columns, unmarked
from hmstats.service.catalog.table_rules import LAST_DDL, check_buckets, check_table, is_view, owns_files, table_type
from hmstats.service.statistics.spark_statements import SparkStatements
from hmstats.service.statistics.spark_view import SparkView
from hmstats.service.warehouse import Warehouse, qualified, same_place
from hmstats.store import (
    column_statistics,
    databases,
    materialized_views,
    parameters,
    partition_columns,
    partitions,
    tables,
    versions,
    write_ids,
)
from hmstats.store.engine import Store
from hmstats.store.parameters import OF_PARTITIONS
from hmstats.store.unit import Unit


@dataclass(frozen=True, slots=True)
class Terms:
    """What an alter brings beside the table.

    `cascade` gives every partition the table's columns. `expected` is a parameter and the value that it must have for
    anything to be changed: of two that expect the same, one is refused. `new_keys` lets partition keys have new names.
    """

    cascade: bool = False
    expected: tuple[str, str] | None = None
    new_keys: bool = False


class _Done(NamedTuple):
    """The table before and after, and from where to where its directory must go."""

    before: Table
    after: Table
    move: tuple[str, str] | None


class TableAlterations:
    """Alters tables; with what Spark says of them in their parameters."""

    def __init__(self, store: Store, warehouse: Warehouse, spark: SparkStatements | None = None) -> None:
        self._store = store
        self._warehouse = warehouse
        self._spark = spark or SparkStatements(SparkView(store))

    def alter(self, name: TableName, table: Table, terms: Terms | None = None) -> None:
        """Replace a table; its new name and columns carry the statistics that still hold.

        A managed table that lies where its name puts it moves with its name. Raises InvalidOperation when the table is
        missing or malformed, its new name is taken, or its directory cannot be moved; MetaError when it is not as
        expected. Nothing is changed then.
        """
        try:
            check_table(table)
            check_buckets(table)
        except InvalidObject as error:
            raise InvalidOperation(str(error)) from error
        done = self._store.write(lambda unit: self._change(unit, name, table, terms or Terms()))
        if done.move is None:
            return
        try:
            self._warehouse.move_directory(*done.move)
        except InvalidOperation:
            self._store.write(lambda unit: _put_back(unit, done))
            raise

    def _change(self, unit: Unit, name: TableName, table: Table, terms: Terms) -> _Done:
        """The work of an alter in the database."""
        table_id = tables.lock(unit, name)
        stored = None if table_id is None else tables.get(unit.connection, name)
        if table_id is None or stored is None:
            raise InvalidOperation(f"table {name} doesn't exist")
        if table.name != name:
            _check_name(unit, name, table.name)
        if terms.expected:
            _check_expected(stored, table, *terms.expected)
        if not terms.new_keys and not is_view(stored):
            _check_keys(stored, table)
        lost = lost_columns(stored.columns, table.columns)
        altered = _altered(unit, stored, table, lost)
        move = self._move(unit, stored, altered)
        if move:
            partitions.relocate(unit, table_id, *move)
        settled = self._spark.settled(unit, stored, _placed(stored, altered, move))
        altered = settled.table
        tables.replace(unit, table_id, altered)
        if lost:
            column_statistics.delete_tables(unit, [table_id], lost, None)
        settled.keep(unit, table_id)
        if stored.partition_keys:
            _follow_columns(unit, table_id, altered, cascade=terms.cascade)
        if table.name != name:
            column_statistics.rename_table(unit, table_id, table.name)
            write_ids.rename_table(unit, name, table.name)
            materialized_views.rename(unit, name, table.name)
        versions.bump(unit, table_id)
        unit.record(TableAltered(stored, altered))
        return _Done(stored, altered, move)

    def _move(self, unit: Unit, stored: Table, altered: Table) -> tuple[str, str] | None:
        """From where to where a renamed table's files go.

        They stay unless the old name gave them the old place, and where they are not the warehouse's to move. Those of
        Iceberg stay too: its metadata names files by their whole paths.
        """
        old = stored.storage.location if stored.storage else None
        wanted = altered.storage.location if altered.storage else None
        if altered.name == stored.name or not owns_files(stored) or not old:
            return None
        if altered.parameters.get("table_type", "").lower() == "iceberg" or not same_place(wanted or old, old):
            return None
        of_old, of_new = (self._default_place(unit, each.name) for each in (stored, altered))
        own = same_place(old, of_old) and self._warehouse.holds(old) and self._warehouse.holds(of_new)
        return (old, of_new) if own else None

    def _default_place(self, unit: Unit, name: TableName) -> str:
        parent = databases.get(unit.connection, name.parent)
        return self._warehouse.table_location(parent.location, name.table) if parent else ""


def _check_name(unit: Unit, old: TableName, new: TableName) -> None:
    if old.catalog != new.catalog:
        raise InvalidOperation(
            f"Tables cannot be moved between catalogs, old catalog {old.catalog}, new catalog {new.catalog}"
        )
    if databases.find_id(unit.connection, new.parent) is None:
        raise InvalidOperation(f"Unable to change table: database {new.parent} does not exist")
    if tables.find_id(unit.connection, new) is not None:
        raise InvalidOperation(f"new table {new} already exists")


def _check_expected(stored: Table, table: Table, key: str, value: str) -> None:
    """The sentences are Hive's: Iceberg looks for them."""
    if key not in table.parameters:
        raise MetaError(f"New value for expected key {key} is not set")
    found = stored.parameters.get(key)
    if found != value:
        raise MetaError(
            f"The table has been modified. The parameter value for key '{key}' is '{found}'. "
            f"The expected was value was '{value}'"
        )


def _check_keys(stored: Table, table: Table) -> None:
    old, new = ([key.name.lower() for key in each.partition_keys] for each in (stored, table))
    if old != new:
        raise InvalidOperation(f"partition keys can not be changed. Table {stored.name} has {old}, found {new}")


def _altered(unit: Unit, stored: Table, table: Table, lost: list[str]) -> Table:
    storage = table.storage
    if storage and storage.location:
        storage = replace(storage, location=qualified(storage.location))
    changed = kept_parameters(stored.parameters, table.parameters, lost)
    return replace(
        table,
        id=stored.id,
        storage=storage,
        table_type=table_type(table),
        parameters={LAST_DDL: str(unit.now_seconds), **changed},
    )


def _follow_columns(unit: Unit, table_id: int, table: Table, *, cascade: bool) -> None:
    """Take from partitions the statistics of columns that the table has no more, and give them its columns."""
    for list_id, columns in partition_columns.lists(unit.connection, table_id).items():
        lost = lost_columns(columns, table.columns)
        if lost:
            having = partition_columns.having(unit.connection, table_id, list_id)
            column_statistics.delete_partitions(unit, having, lost, None)
            marked = parameters.read(unit.connection, OF_PARTITIONS, having, [PARAMETER])
            parameters.put(unit, OF_PARTITIONS, {each: unmarked(values, lost) for each, values in marked.items()})
    if cascade:
        partition_columns.share(unit, table_id)


def _placed(stored: Table, altered: Table, move: tuple[str, str] | None) -> Table:
    """The altered table at its new place; a renamed one that names no place stays where it is."""
    if is_view(altered) or altered.storage is None:
        return altered
    stays = stored.storage.location if stored.storage and altered.name != stored.name else None
    location = move[1] if move else altered.storage.location or stays
    if not location:
        raise MetaError(f"the storage of table {stored.name} must have a location, found none")
    return replace(altered, storage=replace(altered.storage, location=location))


def _put_back(unit: Unit, done: _Done) -> None:
    """Undo a rename whose directory could not be moved."""
    before, after, move = done
    table_id = tables.lock(unit, after.name)
    if table_id is None or move is None:
        return
    tables.replace(unit, table_id, before)
    column_statistics.rename_table(unit, table_id, before.name)
    write_ids.rename_table(unit, after.name, before.name)
    materialized_views.rename(unit, after.name, before.name)
    partitions.relocate(unit, table_id, move[1], move[0])
    versions.bump(unit, table_id)
    unit.record(TableAltered(after, before))
