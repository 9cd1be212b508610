"""Locks on statistics: set, removed and listed."""

from collections.abc import Sequence

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.statistics_locks import LockedObject, StatisticsLock
from hmstats.service.catalog.patterns import matching
from hmstats.service.lookups import missing_database, missing_table
from hmstats.service.statistics.conditions import require_version
from hmstats.store.catalog import databases
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import statistics_locks, table_facts
from hmstats.store.statistics.statistics_locks import ObjectIds
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Unit


class StatisticsLocks:
    """The locks of all databases. With `refuse`, a lock that does not say otherwise refuses writes with an error."""

    def __init__(self, store: Store, *, refuse: bool = False) -> None:
        self._store = store
        self._refuse = refuse

    def lock(
        self,
        of: LockedObject,
        *,
        refuse: bool | None = None,
        reason: str | None,
        author: str | None,
        if_version: int | None = None,
    ) -> None:
        """Lock an object, or replace its lock. Writes that begin after this leave its statistics as they are.

        Raises NoSuchObject for a missing database, table or partition, InvalidInput for a missing column, or if the
        table has another version than `if_version`.
        """
        refuses = self._refuse if refuse is None else refuse
        lock = StatisticsLock(of, refuses, reason or None, author)
        self._store.write(lambda unit: statistics_locks.put(unit, [lock_place(unit, of, if_version)], of.columns, lock))

    def unlock(self, of: LockedObject, *, if_version: int | None = None) -> int:
        """Remove the locks of an object; without columns all of it, those of its columns too. Returns their number.

        Locks of what is inside of it, or around it, stay. Raises as `lock`.
        """
        columns = of.columns or None
        return self._store.write(lambda unit: statistics_locks.remove(unit, lock_place(unit, of, if_version), columns))

    def listed(self, catalog: str, of_databases: str | None, tables: str | None) -> list[StatisticsLock]:
        """The locks of the databases that match a pattern, and of the tables in them that match one (None: all).

        With a pattern of tables, the locks of their databases are listed too, since they cover them.
        """
        with self._store.read() as connection:
            names = matching(databases.names(connection, catalog), of_databases)
            listed = statistics_locks.listed(connection, catalog, names)
        matched = set(matching([each.object.table for each in listed if each.object.table], tables))
        return [each for each in listed if each.object.table is None or each.object.table in matched]


def lock_place(unit: Unit, of: LockedObject, if_version: int | None = None) -> ObjectIds:
    """The ids of an object, with its tables locked and their versions raised. Raises as `StatisticsLocks.lock`."""
    if of.table is None:
        if if_version is not None:
            raise InvalidInput(f"a version must be that of a table, found {of}")
        if of.partition is not None or of.columns:
            raise InvalidInput(f"a lock or preference of a partition or of columns must name its table, found {of}")
        database_id = statistics_locks.lock_database(unit, of.database)
        if database_id is None:
            raise missing_database(of.database)
        return ObjectIds(database_id)
    name = TableName(of.database.catalog, of.database.database, of.table)
    target = table_facts.lock(unit, name)
    if target is None:
        raise missing_table(name)
    require_version(unit, name, target.id, if_version)
    _check_columns(name, target, of.columns)
    part_id = 0 if of.partition is None else _partition_id(unit, name, target, of.partition)
    versions.bump(unit, target.id)
    return ObjectIds(0, target.id, part_id)


def _check_columns(name: TableName, target: TableFacts, columns: Sequence[str]) -> None:
    names = [each.name.lower() for each in (*target.columns, *target.partition_keys)]
    for each in columns:
        if each not in names:
            raise InvalidInput(f"table {name} has no column {each}, only {', '.join(names)}")


def _partition_id(unit: Unit, name: TableName, target: TableFacts, partition: str) -> int:
    stored = normal_partition_name(partition, target.keys)
    ids = partitions.find_ids(unit.connection, target.id, [stored])
    if stored not in ids:
        raise NoSuchObject(f"table {name} has no partition {partition}")
    return ids[stored]
