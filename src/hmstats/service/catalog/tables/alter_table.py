"""Alters tables: properties, columns, name and location, with the effects on partitions and statistics.

A rename carries partitions, statistics and write ids. Statistics of columns that are dropped or change their type are
deleted, those of partitions too. As in Hive, partitions keep columns of their own unless the alter cascades.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hmstats.errors import AccessDenied, InvalidObject, InvalidOperation, MetaError
from hmstats.model.catalog.file_changes import Move
from hmstats.model.catalog.location import is_same_location, qualify
from hmstats.model.catalog.objects import LAST_DDL, Column, Table, TableName, is_view
from hmstats.model.events import TableAltered
from hmstats.model.parameters.accurate import PARAMETER, without_marks_of
from hmstats.model.parameters.basic_statistics import FileSizes, StatisticsSource
from hmstats.model.parameters.statistics_keys import FINGERPRINT
from hmstats.model.spark.spark_schema import data_columns, spark_columns
from hmstats.service.catalog.drops import check_unshared
from hmstats.service.catalog.tables.altered_statistics import differ_in_statistics_only
from hmstats.service.catalog.tables.basic_statistics import counts_files, of_altered_table, stated_source
from hmstats.service.catalog.tables.changed_partitions import Changed, changed_partitions, unmark, with_own_mark
from hmstats.service.catalog.tables.columns import kept_parameters, lost_columns
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.catalog.tables.locked_statistics import table_with_locked_values
from hmstats.service.catalog.tables.table_rules import check_buckets, check_table, owns_files, table_type
from hmstats.service.lookups import id_of
from hmstats.service.statistics.reading.sizes import TableSizes
from hmstats.service.statistics.spark.spark_statements import SparkStatements
from hmstats.service.statistics.spark.spark_view import SparkView
from hmstats.service.warehouse.file_listing import FileListing
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import databases, materialized_views, tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import before_writes
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.partitions import partition_columns, partitions
from hmstats.store.statistics import column_statistics, pending, statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.transactions import write_ids
from hmstats.store.unit.unit import Unit

_PATH = "path"
"""Storage parameter in which Spark stores the location of the files of a data source table."""


@dataclass(frozen=True, slots=True)
class AlterOptions:
    """Options of an alter beside the new table.

    `cascade` gives every partition the table's columns. `expected` is a parameter and the value that it must have, else
    nothing is changed: of two alters that expect the same value, one is refused. `new_keys` lets partition keys change
    names. `own` are parameters that the client sets itself and did not copy from an answer.
    `source` states the origin of row and file counts. With `statistics_only` nothing but statistics may differ.
    """

    cascade: bool = False
    expected: tuple[str, str] | None = None
    new_keys: bool = False
    own: frozenset[str] = frozenset()
    source: StatisticsSource = StatisticsSource.UNSAID
    statistics_only: bool = False


class _Counted(NamedTuple):
    """The file counts of a table (None: unknown), and the source of the statistics that the writer sent."""

    source: StatisticsSource
    sizes: FileSizes | None


class _Altered(NamedTuple):
    """A table altered in the database, with the move of its directory; None if it does not move."""

    move: Move | None


class TableAlterations:
    """Alters tables, and applies the statistics that Spark states in their parameters."""

    def __init__(
        self,
        store: Store,
        warehouse: Warehouse,
        spark: SparkStatements | None = None,
        sizes: TableSizes | None = None,
        listing: FileListing | None = None,
    ) -> None:
        self._store = store
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)
        self._listing = listing or FileListing()
        self._spark = spark or SparkStatements(SparkView(store))
        self._sizes = sizes

    def alter(self, name: TableName, table: Table, terms: AlterOptions | None = None) -> None:
        """Replace a table; statistics that still hold stay with the new name and columns.

        The directory of a managed table at its default location moves with its name. Raises InvalidOperation if the
        table is missing or malformed, its new name is taken, or its directory cannot be moved; MetaError if it is not
        as expected. Nothing is changed then.
        """
        try:
            check_table(table)
            check_buckets(table)
        except InvalidObject as error:
            raise InvalidOperation(str(error)) from error
        terms = terms or AlterOptions()
        counted = self._count_files(name, table, terms)
        source = stated_source(table.parameters, terms.source)
        changed = changed_partitions(self._store, self._listing, table, source) if table.name == name else {}

        self._files.move(lambda unit: self._change(unit, name, table, terms, counted, changed))

    def _count_files(self, name: TableName, table: Table, terms: AlterOptions) -> _Counted | None:
        """Count the files before the table is locked; None if the parameters are stored as they are."""
        source = stated_source(table.parameters, terms.source)
        if table.name != name or not counts_files(table, source):
            return None
        location = table.storage.location if table.storage else None
        return _Counted(source, self._listing.size(qualify(location)) if location else None)

    def _change(
        self,
        unit: Unit,
        name: TableName,
        table: Table,
        terms: AlterOptions,
        counted: _Counted | None,
        changed: Changed,
    ) -> _Altered:
        """Alter the table in the database, and its partitions whose files have `changed`."""
        table_id = tables.lock(unit, name)
        stored = None if table_id is None else tables.get(unit.connection, name)
        if table_id is None or stored is None:
            raise InvalidOperation(f"table {name} doesn't exist")
        _check_options(unit, stored, table, terms)
        if self._sizes:
            table = self._sizes.without_computed(unit.connection, stored, table, terms.own)
        lost = lost_columns(data_columns(stored), data_columns(table))
        altered = _altered(unit, stored, table, lost)
        if counted and counts_files(stored, counted.source):
            altered = replace(altered, parameters=of_altered_table(altered.parameters, *counted))
        altered = with_own_mark(stored, table, altered, stated_source(table.parameters, terms.source))
        move = self._move(unit, stored, altered)
        if move:
            partitions.relocate(unit, table_id, move.source, move.target)
        placed = _with_location(stored, altered, move)
        if move is None:
            self._check_location(stored, placed)
        _check_path(stored, placed)
        sizes_counted = counted is not None and counted.sizes is not None
        settled = self._spark.table_to_store(unit, stored, placed, sizes_counted=sizes_counted)
        settled = table_with_locked_values(unit, statistics_locks.of_table(unit, table_id), stored, settled)
        altered = settled.table
        if altered.name != stored.name:
            before_writes.of_names(unit, OwnerKind.TABLES, [table_id])
        tables.replace(unit, stored, altered)
        if lost:
            column_statistics.delete_tables(unit, [table_id], lost, None)
            pending.forget_columns(unit, table_id, lost)
        settled.write_statistics(unit, table_id)
        if stored.partition_keys and (lost or terms.cascade):
            _follow_columns(unit, table_id, stored, altered, cascade=terms.cascade)
        if table.name != name:
            column_statistics.rename_table(unit, table_id, table.name)
            write_ids.rename_table(unit, name, table.name)
            materialized_views.rename(unit, name, table.name)
        unmarked_names = unmark(unit, table_id, changed)
        _bump(unit, table_id, stored, altered, unmarked_names, cascade=terms.cascade)
        unit.record(TableAltered(stored, altered))
        return _Altered(move)

    def _move(self, unit: Unit, stored: Table, altered: Table) -> Move | None:
        """The move of a renamed table's directory; None if it does not move.

        It moves only from the default location of the old name. Iceberg's files never move: its metadata names them by
        absolute paths. Raises InvalidOperation if the old or the new location is outside of the warehouse roots,
        MetaError if the old one is shared with another object.
        """
        old = stored.storage.location if stored.storage else None
        wanted = altered.storage.location if altered.storage else None
        if altered.name == stored.name or not owns_files(stored) or not old:
            return None
        if altered.parameters.get("table_type", "").lower() == "iceberg" or not is_same_location(wanted or old, old):
            return None
        of_old, of_new = (self._default_place(unit, each.name) for each in (stored, altered))
        if not is_same_location(old, of_old):
            return None
        self._warehouse.check_move(f"table {stored.name}", old, of_new)
        check_unshared(unit, f"table {stored.name} cannot be renamed", [old], id_of(stored))
        return Move(f"table {stored.name}", old, of_new)

    def _check_location(self, stored: Table, altered: Table) -> None:
        """Raise MetaError if a table becomes the owner of files outside of the warehouse roots."""
        location = altered.storage.location if altered.storage else None
        before = stored.storage.location if stored.storage else None
        if owns_files(altered) and not (owns_files(stored) and is_same_location(before, location)):
            self._warehouse.check_inside(f"managed table {altered.name}", location)

    def _default_place(self, unit: Unit, name: TableName) -> str:
        parent = databases.get(unit.connection, name.parent)
        return self._warehouse.table_location(parent.location, name.table) if parent else ""


def _bump(unit: Unit, table_id: int, stored: Table, altered: Table, touched: Collection[str], *, cascade: bool) -> None:
    """Note what an alter has touched: no partition but `touched`, if the table kept its name and columns."""
    if not stored.partition_keys or cascade or _name_and_columns(stored) != _name_and_columns(altered):
        versions.bump(unit, table_id)
        return
    versions.bump(unit, table_id, touched, own=True)


def _name_and_columns(table: Table) -> tuple[TableName, Sequence[Column], Sequence[Column], Sequence[Column]]:
    """The table's name, its columns, those that Spark reads, and its partition keys."""
    return table.name, table.columns, data_columns(table), table.partition_keys


def _check_options(unit: Unit, stored: Table, table: Table, terms: AlterOptions) -> None:
    if table.name != stored.name:
        _check_name(unit, stored.name, table.name)
    if terms.statistics_only and (terms.cascade or not differ_in_statistics_only(stored, table)):
        raise AccessDenied(f"table {stored.name} may be altered in its statistics only, found another change")
    if terms.expected:
        _check_expected(stored, table, *terms.expected)
    if not terms.new_keys and not is_view(stored):
        _check_keys(stored, table)


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
    """Raise MetaError unless the stored parameter has this value. Iceberg matches the texts, which are Hive's."""
    if key not in table.parameters:
        raise MetaError(f"New value for expected key {key} is not set")
    stored_value = stored.parameters.get(key)
    if stored_value != value:
        raise MetaError(
            f"The table has been modified. The parameter value for key '{key}' is '{stored_value}'. "
            f"The expected was value was '{value}'"
        )


def _check_keys(stored: Table, table: Table) -> None:
    old, new = ([key.name.lower() for key in each.partition_keys] for each in (stored, table))
    if old != new:
        raise InvalidOperation(f"partition keys can not be changed. Table {stored.name} has {old}, found {new}")


def _altered(unit: Unit, stored: Table, table: Table, lost: list[str]) -> Table:
    storage = table.storage
    if storage and storage.location:
        storage = replace(storage, location=qualify(storage.location))
    changed = kept_parameters(stored.parameters, table.parameters, lost)
    return replace(
        table,
        id=stored.id,
        storage=storage,
        created_seconds=stored.created_seconds,
        table_type=table_type(table),
        parameters={LAST_DDL: str(unit.now_seconds), **changed},
    )


def _follow_columns(unit: Unit, table_id: int, before: Table, table: Table, *, cascade: bool) -> None:
    """Delete partitions' statistics of columns that the table has lost; with `cascade` give them its columns."""
    for list_id, columns in partition_columns.lists(unit.connection, table_id).items():
        lost = lost_columns(spark_columns(columns, before.parameters), data_columns(table))
        if lost:
            partition_ids = partition_columns.partitions_with(unit.connection, table_id, list_id)
            column_statistics.delete_partitions(unit, partition_ids, lost, None)
            marked = parameters.read(unit.connection, OF_PARTITIONS, partition_ids, [PARAMETER])
            parameters.put(
                unit, OF_PARTITIONS, {each: without_marks_of(values, lost) for each, values in marked.items()}
            )
            parameters.remove(unit, OF_PARTITIONS, partition_ids, [FINGERPRINT])
    if cascade:
        partition_columns.share_of_table(unit, table_id)


def _with_location(stored: Table, altered: Table, move: Move | None) -> Table:
    """The altered table at its new location; a renamed table that names none stays at the old one."""
    if is_view(altered) or altered.storage is None:
        return altered
    stays = stored.storage.location if stored.storage and altered.name != stored.name else None
    location = move.target if move else altered.storage.location or stays
    if not location:
        raise MetaError(f"the storage of table {stored.name} must have a location, found none")
    return replace(altered, storage=replace(altered.storage, location=location))


def _check_path(stored: Table, altered: Table) -> None:
    """Raise InvalidOperation if Spark would look for a renamed table's files elsewhere, and read none of its rows.

    Spark reads the path in the storage's parameter, and updates it itself when a managed table moves with its name.
    """
    if altered.name == stored.name or not altered.storage or not stored.storage or not owns_files(altered):
        return
    before, after = (each.storage.serde.parameters.get(_PATH) for each in (stored, altered) if each.storage)
    if after and after != before and not is_same_location(after, altered.storage.location):
        raise InvalidOperation(
            f"table {stored.name} cannot be renamed: its storage would name the path {after}, but its files stay in "
            f"{altered.storage.location}"
        )
