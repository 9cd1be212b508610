"""Mirrors that follow the tables and partitions of another metastore.

A mirror is made when its table is first asked for, and compared with the table at every later question. It is the same
table if its id there is the same, or before Hive 4, which has none, its time of creation. Otherwise the table was made
anew, and nothing of the old one is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from hmstats.model.catalog.location import is_same_location
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import (
    Catalog,
    Column,
    Database,
    DatabaseName,
    Parameters,
    Partition,
    Storage,
    Table,
    TableName,
)
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.store.catalog import catalogs, databases, tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.mirrors import calls, mirrored, seen
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics, pending
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.unit.unit import Unit

_ELSEWHERE = ""
"""The location of mirrored catalogs and databases: nothing is ever put there."""


@dataclass(frozen=True, slots=True)
class UpstreamTable:
    """A table as the other metastore has it; `id` is its id there, None before Hive 4."""

    table: Table
    id: int | None


class MirroredTables:
    """Makes mirrors, changes and removes them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep(self, found: UpstreamTable) -> int | None:
        """The id of the table's mirror, which is like the table from now on; None if a call is changing the table.

        Raises MetaError if the table cannot be stored.
        """
        name = found.table.name
        with self._store.read() as connection:
            if calls.is_changed(connection, name):
                return None
            stored = tables.get(connection, name)
            if stored is not None and stored.id is not None:
                upstream_id = mirrored.upstream_id(connection, stored.id)
                if _is_same(stored, upstream_id, found) and _facts(stored) == _facts(found.table):
                    return stored.id
        return self._store.write_table(name, partial(self._store_table, found=found))

    def keep_database(self, name: DatabaseName) -> None:
        """Have a mirror of a database, whether or not any of its tables has one."""
        with self._store.read() as connection:
            known = databases.find_id(connection, name) is not None
        if not known:
            self._store.write(lambda unit: _ensure_database(unit, name))

    def find(self, name: TableName) -> Table | None:
        """The mirror of a table as it was last seen; None if there is none, or if a call is changing the table."""
        with self._store.read() as connection:
            return None if calls.is_changed(connection, name) else tables.get(connection, name)

    def mirror(self, name: TableName) -> Table | None:
        """The mirror of a table, whatever is under way; None if there is none."""
        with self._store.read() as connection:
            return tables.get(connection, name)

    def names(self) -> list[TableName]:
        """The names of all tables that have mirrors."""
        with self._store.read() as connection:
            return mirrored.names(connection)

    def upstream_id(self, name: TableName) -> int | None:
        """The id that a mirrored table has in the other metastore; None if it is unknown."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            return None if table_id is None else mirrored.upstream_id(connection, table_id)

    def partition_names(self, name: TableName) -> list[str]:
        """The names of the partitions of a table that have mirrors."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            return [] if table_id is None else partitions.names(connection, table_id)

    def is_same(self, found: UpstreamTable) -> bool:
        """Whether the mirror of the table's name, if there is one, is that table's and not an earlier one's."""
        with self._store.read() as connection:
            stored = tables.get(connection, found.table.name)
            if stored is None or stored.id is None:
                return True
            return _is_same(stored, mirrored.upstream_id(connection, stored.id), found)

    def other_partitions(self, table_id: int, names: Sequence[str], found: Mapping[str, Partition]) -> list[str]:
        """The names of partitions that have been made anew, or dropped, since they were mirrored."""
        with self._store.read() as connection:
            stored = partitions.get_many(connection, table_id, names)
        return [
            name
            for name in names
            if name not in stored or name not in found or not _is_same_partition(stored[name], found[name])
        ]

    def have_statistics(
        self,
        name: TableName,
        *,
        own: bool,
        names: Sequence[str] | None,
        columns: Sequence[str] | None,
        engine: str,
    ) -> bool:
        """Whether the mirror of a table has statistics, of its own or of some partitions (None: of any)."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            if table_id is None:
                return False
            place = connection, table_id
            if own:
                return bool(column_statistics.read_table(*place, columns, engine, sketches=False))
            return bool(column_statistics.read_partitions(*place, names, columns, engine, sketches=False))

    def statistics(
        self, name: TableName, names: Sequence[str] | None, columns: Sequence[str], engine: str
    ) -> dict[str, StatisticsSet]:
        """The stored statistics of a mirror's partitions by name, or of its own (None) under ""; without sketches."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            if table_id is None:
                return {}
            place = connection, table_id
            if names is None:
                own = column_statistics.read_table(*place, columns, engine, sketches=False)
                return {"": own[0]} if own else {}
            by_name = column_statistics.read_partitions(*place, names, columns, engine, sketches=False)
            return {partition: sets[0] for partition, sets in by_name.items() if sets}

    def parameters(self, name: TableName, names: Sequence[str] | None) -> dict[str, Parameters]:
        """The parameters of a mirror's partitions by name, or its own (None) under ""."""
        with self._store.read() as connection:
            table = tables.get(connection, name)
            if table is None or table.id is None:
                return {}
            if names is None:
                return {"": table.parameters}
            found = partitions.get_many(connection, table.id, names)
            return {partition: each.parameters for partition, each in found.items()}

    def unmarked(self, name: TableName, places: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
        """Which of the columns are not marked as accurate, by partition; "" is the table itself."""
        mirror = self.find(name)
        if mirror is None:
            return {}
        keys = [each.name for each in mirror.partition_keys]
        names = [normal_partition_name(each, keys) for each in places if each]
        parameters = self.parameters(name, names) if names else {}
        if "" in places:
            parameters[""] = mirror.parameters
        marks = {place: Accurate.parse(each.get(PARAMETER)).columns for place, each in parameters.items()}
        found = {place: [each for each in columns if each not in marked] for place, marked in marks.items()}
        return {place: each for place, each in found.items() if each}

    def keep_partitions(
        self, table_id: int, name: TableName, asked: Sequence[str] | None, found: Mapping[str, Partition]
    ) -> bool:
        """Make the mirrors of the asked partitions (None: all) like those that were found.

        Returns False if the table's mirror is not the one of this id any more.
        """
        with self._store.read() as connection:
            table = tables.get(connection, name)
            if table is None or table.id != table_id:
                return False
            stored = partitions.get_many(connection, table_id, asked) if asked else {}
            stored = partitions.get_all(connection, table_id) if asked is None else stored
        if stored.keys() == found.keys() and all(_is_like(stored[each], found[each]) for each in stored):
            return True
        return self._store.write_table(name, lambda unit: _keep_partitions(unit, table_id, name, asked, found))

    def forget_table(self, unit: Unit, name: TableName) -> None:
        """Remove the mirror of a table, if there is one."""
        table_id = tables.lock(unit, name)
        if table_id is not None:
            _remove(unit, [table_id])

    def forget_statistics(self, unit: Unit, name: TableName) -> None:
        """Remove the statistics of a table and its partitions, pending ones too, and what was seen of them.

        Locks, preferences and the past stay, until the next question finds what is left of the table.
        """
        table_id = tables.lock(unit, name)
        if table_id is not None:
            _remove_statistics(unit, table_id)

    def forget_statistics_in(self, unit: Unit, name: DatabaseName) -> None:
        """Remove the statistics of all tables of a database, as `forget_statistics` does of one."""
        database_id = databases.find_id(unit.connection, name)
        for table_id in [] if database_id is None else tables.lock_in(unit, database_id):
            _remove_statistics(unit, table_id)

    def forget_database(self, unit: Unit, name: DatabaseName) -> None:
        """Remove the mirrors of a database and of all of its tables, with what is stated of them."""
        _remove(unit, tables.ids_in(unit.connection, name))
        database_id = databases.find_id(unit.connection, name)
        if database_id is not None:
            databases.remove(unit, database_id)

    def forget_partitions(self, unit: Unit, name: TableName, gone: Sequence[str]) -> None:
        """Remove the mirrors of partitions of a table."""
        table_id = tables.lock(unit, name)
        if table_id is not None and gone:
            _remove_partitions(unit, partitions.lock(unit, table_id, sorted(gone)))
            versions.bump(unit, table_id, sorted(gone))

    def rename_partition(self, unit: Unit, name: TableName, old: str, new: str, found: Partition | None) -> None:
        """Give the mirror of a partition the name, the values and the place that it has now; None: it is gone again."""
        table_id, table = tables.lock(unit, name), tables.get(unit.connection, name)
        if table_id is None or table is None or old == new:
            return
        ids = partitions.lock(unit, table_id, sorted((old, new)))
        stored = partitions.get_many(unit.connection, table_id, [old])
        _remove_partitions(unit, {each: ids[each] for each in ids if each == new or found is None})
        if found is not None and old in ids:
            partitions.replace_many(unit, table_id, table.columns, {ids[old]: stored[old]}, {ids[old]: found})
            _drop_other_columns(unit, table_id, stored, {old: found})
            partitions.rename(unit, ids[old], new, found.values)
        versions.bump(unit, table_id, sorted((old, new)))

    def empty(self, unit: Unit, name: TableName, names: Sequence[str] | None) -> None:
        """Remove the statistics of a truncated table with all its partitions (None), or of some; pending ones too.

        What the other metastore was last seen to say is kept: until it marks columns again, it may go on saying that,
        and means the old rows.
        """
        table_id = tables.lock(unit, name)
        if table_id is None:
            return
        gone = partitions.names(unit.connection, table_id) if names is None else names
        part_ids = list(partitions.find_ids(unit.connection, table_id, gone).values())
        column_statistics.delete_partitions(unit, part_ids, None, None)
        if names is None:
            column_statistics.delete_tables(unit, [table_id], None, None)
        owners = part_ids if names is not None else [OF_TABLE, *part_ids]
        pending.remove(unit, table_id, owners)
        stored = tables.get(unit.connection, name)
        # Of a partitioned table a Hive leaves the table's own marks, as if its statistics were of what is left.
        has_own_rows = names is None and stored is not None and not stored.partition_keys
        seen.note_emptied(unit, table_id, [OF_TABLE] if has_own_rows else part_ids)
        versions.bump(unit, table_id)

    def rename_table(self, unit: Unit, old: TableName, found: UpstreamTable) -> None:
        """Give the mirror of a table the name, and the place, that the table has now.

        Its partitions' directories may have moved too, so their mirrors get the new places at the next question.
        """
        new = found.table.name
        table_id = tables.lock(unit, old)
        if table_id is None or old == new:
            return
        self.forget_table(unit, new)
        stored = tables.get(unit.connection, old)
        assert stored is not None
        if stored.created_seconds != found.table.created_seconds:
            _remove(unit, [table_id])
            return
        _ensure_database(unit, new.parent)
        before, after = _location(stored.storage), _location(found.table.storage)
        tables.replace(unit, stored, replace(found.table, name=new))
        if before != after:
            partitions.relocate(unit, table_id, before, after)
        _drop_changed_columns(unit, table_id, stored, found.table)
        column_statistics.rename_table(unit, table_id, new)
        versions.bump(unit, table_id)

    def _store_table(self, unit: Unit, found: UpstreamTable) -> int | None:
        name = found.table.name
        if calls.is_changed(unit.connection, name):
            return None
        _ensure_database(unit, name.parent)
        table_id = tables.lock(unit, name)
        stored = tables.get(unit.connection, name) if table_id is not None else None
        if stored is not None and table_id is not None:
            if _is_same(stored, mirrored.upstream_id(unit.connection, table_id), found):
                _change(unit, table_id, stored, found.table)
                return table_id
            _remove(unit, [table_id])
        renamed = None if found.id is None else mirrored.of_upstream_id(unit.connection, found.id)
        old = None if renamed is None else tables.find_name(unit.connection, renamed)
        if renamed is not None and old is not None:
            self.rename_table(unit, old, found)
            return tables.lock(unit, name)
        made = tables.insert_one(unit, found.table)
        mirrored.add(unit, made, found.id)
        return made


def _is_same(stored: Table, upstream_id: int | None, found: UpstreamTable) -> bool:
    """Whether a mirror is of the table that was found, not of an earlier one of its name."""
    if _typed(stored.partition_keys) != _typed(found.table.partition_keys):
        return False
    if upstream_id is not None and found.id is not None:
        return upstream_id == found.id
    return _is_as_old(stored.created_seconds, found.table.created_seconds, stored.storage, found.table.storage)


def _facts(table: Table) -> object:
    """The facts of a table that its statistics depend on; if they are equal, the mirror needs no change."""
    parameters = dict(table.parameters)
    return (_typed(table.columns), parameters, table.table_type, _location(table.storage), table.created_seconds)


def _location(storage: Storage | None) -> str:
    return (storage.location if storage else None) or ""


def _typed(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(each.name.lower(), each.type.lower()) for each in columns]


def _change(unit: Unit, table_id: int, stored: Table, found: Table) -> None:
    """Make a mirror like its table; statistics of columns that are gone or have another type are removed."""
    if _facts(stored) == _facts(found):
        return
    tables.replace(unit, stored, found)
    _drop_changed_columns(unit, table_id, stored, found)
    if stored.columns == found.columns and data_columns(stored) == data_columns(found):
        versions.bump_own(unit, table_id, partitioned=bool(stored.partition_keys))
    else:
        versions.bump(unit, table_id)


def _drop_changed_columns(unit: Unit, table_id: int, stored: Table, found: Table) -> None:
    """Remove the table's own statistics of columns that it has no more, or with another type, and all that waits."""
    now = dict(_typed(found.columns))
    gone = [column for column, kind in _typed(stored.columns) if now.get(column) != kind]
    if gone:
        column_statistics.delete_tables(unit, [table_id], gone, None)
        pending.forget_columns(unit, table_id, gone)
        seen.forget_columns(unit, table_id, None, [OF_TABLE], gone)


def _keep_partitions(
    unit: Unit, table_id: int, name: TableName, asked: Sequence[str] | None, found: Mapping[str, Partition]
) -> bool:
    if tables.lock(unit, name) != table_id:
        return False
    table = tables.get(unit.connection, name)
    assert table is not None
    connection = unit.connection
    stored = partitions.get_all(connection, table_id) if asked is None else {}
    stored = partitions.get_many(connection, table_id, asked) if asked else stored
    anew = [each for each in stored if each not in found or not _is_same_partition(stored[each], found[each])]
    _remove_partitions(unit, {each: stored[each].id for each in anew})
    left = {each: partition for each, partition in stored.items() if each not in anew}
    partitions.insert_many(unit, table_id, table.columns, {each: found[each] for each in found if each not in left})
    before = {each.id: each for key, each in left.items() if each.id and not _is_like(each, found[key])}
    after = {each.id: found[key] for key, each in left.items() if each.id in before}
    partitions.replace_many(unit, table_id, table.columns, before, after)
    _drop_other_columns(unit, table_id, left, found)
    versions.bump(unit, table_id, sorted({*stored, *found}))
    return True


def _drop_other_columns(
    unit: Unit, table_id: int, left: Mapping[str, Partition], found: Mapping[str, Partition]
) -> None:
    """Remove statistics of columns that partitions have no more, or with another type."""
    by_columns: dict[tuple[str, ...], list[int]] = {}
    for key, each in left.items():
        now = dict(_typed(_columns(found[key])))
        gone = tuple(column for column, kind in _typed(_columns(each)) if now.get(column) != kind)
        if gone and each.id is not None:
            by_columns.setdefault(gone, []).append(each.id)
    for gone, ids in by_columns.items():
        column_statistics.delete_partitions(unit, ids, gone, None)
        seen.forget_columns(unit, table_id, None, ids, gone)


def _columns(partition: Partition) -> Sequence[Column]:
    return partition.storage.columns if partition.storage else ()


def _is_same_partition(stored: Partition, found: Partition) -> bool:
    return _is_as_old(stored.created_seconds, found.created_seconds, stored.storage, found.storage)


def _is_as_old(stored_seconds: int, found_seconds: int, stored: Storage | None, found: Storage | None) -> bool:
    """Whether two times of creation say that an object is the same; without one its location does."""
    if stored_seconds != found_seconds:
        return False
    return bool(found_seconds) or is_same_location(_location(stored), _location(found))


def _is_like(stored: Partition, found: Partition) -> bool:
    if not _is_same_partition(stored, found) or dict(stored.parameters) != dict(found.parameters):
        return False
    if not is_same_location(_location(stored.storage), _location(found.storage)):
        return False
    return _typed(_columns(stored)) == _typed(_columns(found))


def _remove(unit: Unit, table_ids: Sequence[int]) -> None:
    if table_ids:
        mirrored.remove(unit, table_ids)
        seen.remove_tables(unit, table_ids)
        tables.remove_many(unit, table_ids)


def _remove_statistics(unit: Unit, table_id: int) -> None:
    part_ids = partitions.find_ids(unit.connection, table_id, partitions.names(unit.connection, table_id))
    column_statistics.delete_tables(unit, [table_id], None, None)
    column_statistics.delete_partitions(unit, list(part_ids.values()), None, None)
    pending.remove(unit, table_id)
    seen.remove_tables(unit, [table_id])
    versions.bump(unit, table_id)


def _remove_partitions(unit: Unit, gone: Mapping[str, int | None]) -> None:
    ids = sorted(each for each in gone.values() if each is not None)
    if ids:
        seen.remove_partitions(unit, ids)
        partitions.remove_many(unit, ids)


def _ensure_database(unit: Unit, name: DatabaseName) -> None:
    if catalogs.get(unit.connection, name.catalog) is None:
        catalogs.insert_one(unit, Catalog(name.catalog, _ELSEWHERE))
    if databases.find_id(unit.connection, name) is None:
        databases.insert_one(unit, Database(name=name, location=_ELSEWHERE, created_seconds=unit.now_seconds))
