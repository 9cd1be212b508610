"""Pending statistics: listed, published, rejected.

A publish is a write like any other: history, locks and events see it as such.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import structlog

from hmstats.errors import MetastoreError, NoSuchObject
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import COUNTS
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.parameters.statistics_keys import FINGERPRINT
from hmstats.model.pending.pending import Pending, PendingListed, PendingOfTable
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.statistics_locks import OF_TABLE
from hmstats.service.statistics.conditions import require_version
from hmstats.service.statistics.existing_tables import find_facts, lock_facts
from hmstats.service.statistics.locks import check_unlocked
from hmstats.service.statistics.writing.events import LoggedTable
from hmstats.service.statistics.writing.holding import written_at_once
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import pending, table_facts
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.unit.unit import Connection, Unit

_log = structlog.get_logger("hmstats.pending")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publish: tables and partitions written, and those whose counts and marks were left out since
    somebody has counted them anew in the meantime.
    """

    written: int
    recounted: int


class PendingStatistics:
    """The pending statistics of all tables."""

    def __init__(self, store: Store, writer: StatisticsWriter) -> None:
        self._store = store
        self._writer = writer

    def listed(self, catalog: str) -> list[PendingListed]:
        """The pending statistics of a catalog, by name."""
        with self._store.read() as connection:
            return pending.listed(connection, catalog)

    def tables(self) -> list[TableName]:
        """The tables with pending statistics, in all catalogs, by name."""
        with self._store.read() as connection:
            return pending.tables(connection)

    def of_table(self, name: TableName) -> PendingOfTable:
        """All pending statistics of a table. Raises NoSuchObject if the table does not exist."""
        with self._store.read() as connection:
            target = find_facts(connection, name)
            found = pending.read(connection, target.id)
            names = _names(connection, target.id, found)
            version = versions.read(connection, target.id)
        sets = [replace(each, partition=names[owner]) for owner, held in found.items() for each in held.sets]
        return PendingOfTable(sets, {names[owner]: held.change for owner, held in found.items()}, version)

    def publish(
        self, name: TableName, wanted: Sequence[str] | None, author: str | None, *, if_version: int | None = None
    ) -> Published:
        """Write the pending statistics of a table, or of these partitions, all or nothing.

        Raises NoSuchObject if the table or a partition does not exist, or if it has no pending statistics. InvalidInput
        if the table has another version than `if_version`. LockedStatistics if any of it is locked, by any kind of
        lock: pending statistics are not dropped.
        """

        def publish(unit: Unit) -> tuple[Published, list[LoggedTable | None]]:
            target, found = self._waiting(unit, name, wanted, if_version)
            return self.apply(unit, name, target, found, author)

        done, left = self._store.write_table(name, publish)
        for each in left:
            self._writer.remember(each)
        return done

    def reject(self, name: TableName, wanted: Sequence[str] | None, *, if_version: int | None = None) -> int:
        """Discard the pending statistics of a table, or of these partitions. Returns their number. Raises as `publish`.

        The next analysis of files that have not changed looks at them again.
        """

        def reject(unit: Unit) -> int:
            target, found = self._waiting(unit, name, wanted, if_version)
            pending.remove(unit, target.id, list(found))
            _forget_fingerprints(unit, target, found)
            versions.bump(unit, target.id)
            return len(found)

        return self._store.write_table(name, reject)

    def apply(
        self,
        unit: Unit,
        name: TableName,
        target: TableFacts,
        found: Mapping[int, Pending],
        author: str | None,
        *,
        past_locks: bool = False,
    ) -> tuple[Published, list[LoggedTable | None]]:
        """Write the pending statistics of a locked table, within a unit; with `past_locks` locked statistics too.

        Returns also what the writer remembers of it.
        """
        names = _names(unit.connection, target.id, found)
        if not past_locks:
            check_unlocked(name, target.locks, _columns(found), names)
        pending.remove(unit, target.id, list(found))
        versions.bump(unit, target.id)
        fresh, recounted = _current(unit, target, found)
        options = WriteOptions(author=author, publishes=True, past_locks=past_locks, replaces=True)
        left: list[LoggedTable | None] = []
        if OF_TABLE in fresh:
            own = fresh[OF_TABLE]
            first, *others = own.sets or [StatisticsSet(())]
            left.append(self._writer.put_table(unit, name, first, own.change, options))
            left += [self._writer.put_table(unit, name, each, None, options) for each in others]
        sets = [replace(each, partition=names[owner]) for owner, held in fresh.items() if owner for each in held.sets]
        changes = {names[owner] or "": held.change for owner, held in fresh.items() if owner}
        if sets or changes:
            left.append(self._writer.put_partitions(unit, name, sets, changes, options))
        _unmark(unit, target, fresh, recounted)
        return Published(len(fresh), len(recounted)), left

    def read_as_published(self, names: Sequence[TableName], read: Callable[[], Answer]) -> Answer:
        """Return what `read` returns if the pending statistics of these tables are published; then roll that back.

        Pending statistics that cannot be published are left out. On a server that only reads, `read` sees the stored
        ones.
        """
        with self._store.read() as connection:
            waiting = [] if self._store.read_only else pending.of_tables(connection, names)
        while waiting:
            failed: list[TableName] = []
            try:
                return self._store.try_change(partial(self._publish_to_try, waiting, failed), read)
            except MetastoreError as error:
                if not failed:
                    raise
                _log.info("pending_not_shown", object=str(failed[0]), reason=str(error))
            waiting = [each for each in waiting if each not in failed]
        return read()

    def _publish_to_try(self, waiting: Sequence[TableName], failed: list[TableName], unit: Unit) -> None:
        """Publish the pending statistics of these tables. Adds a table to `failed` before an error about it."""
        with versions.noting_reads():  # an answer is made from the versions that are stored, not from those in between
            for name in waiting:
                target = table_facts.lock(unit, name)
                if target is None:
                    continue
                try:
                    self.apply(unit, name, target, pending.read(unit.connection, target.id), None, past_locks=True)
                except MetastoreError:
                    failed.append(name)
                    raise
                versions.restore(unit, target.id, target.version)

    def _waiting(
        self, unit: Unit, name: TableName, wanted: Sequence[str] | None, if_version: int | None
    ) -> tuple[TableFacts, dict[int, Pending]]:
        target = lock_facts(unit, name)
        require_version(unit, name, target.id, if_version)
        if wanted is None:
            found = pending.read(unit.connection, target.id)
            if not found:
                raise NoSuchObject(f"no statistics of table {name} wait")
            return target, found
        stored = {each: normal_partition_name(each, target.keys) for each in wanted}
        ids = partitions.find_ids(unit.connection, target.id, sorted(set(stored.values())))
        found = pending.read(unit.connection, target.id, list(ids.values()))
        for each, normal in stored.items():
            if ids.get(normal) not in found:
                raise NoSuchObject(f"no statistics of partition {each} of table {name} wait")
        return target, found


def _columns(found: Mapping[int, Pending]) -> dict[int, list[str]]:
    return {owner: [each.column for one in held.sets for each in one.columns] for owner, held in found.items()}


def _names(connection: Connection, table_id: int, found: Mapping[int, Pending]) -> dict[int, str | None]:
    """The names of a table's partitions by id; None for the table itself."""
    ids = [each for each in found if each]
    return {OF_TABLE: None, **partitions.names_by_id(connection, table_id, ids)}


def _current(
    unit: Unit, target: TableFacts, found: Mapping[int, Pending]
) -> tuple[dict[int, Pending], dict[int, Pending]]:
    """The pending statistics that still fit the table, and those whose counts have changed since they were put aside.

    Of the latter the columns are written, but neither counts nor marks: those stored are newer.
    """
    types = {each.name.lower(): each.type for each in (*target.columns, *target.partition_keys)}
    counts = parameters.read(unit.connection, OF_PARTITIONS, [each for each in found if each], COUNTS)
    own = parameters.read(unit.connection, OF_TABLES, [target.id], COUNTS).get(target.id, {})
    fresh, recounted = {}, {}
    for owner, held in found.items():
        sets = [replace(each, columns=tuple(c for c in each.columns if _fits(types, c))) for each in held.sets]
        held = replace(held, sets=[each for each in sets if each.columns])  # noqa: PLW2901 - the part that fits
        if (own if owner == OF_TABLE else counts.get(owner, {})) != held.base:
            held = replace(held, change=written_at_once(held.change) or ParameterChange())  # noqa: PLW2901
            recounted[owner] = held
        fresh[owner] = held
    return fresh, recounted


def _fits(types: Mapping[str, str], column: object) -> bool:
    name, stated = getattr(column, "column", ""), getattr(column, "column_type", "")
    return name in types and kind_of(types[name]) is kind_of(stated)


def _unmark(unit: Unit, target: TableFacts, fresh: Mapping[int, Pending], recounted: Mapping[int, Pending]) -> None:
    """Take the marks of accuracy from columns whose rows have changed since they were looked at."""
    for of, owners in ((OF_TABLES, [OF_TABLE]), (OF_PARTITIONS, [each for each in recounted if each])):
        some = [each for each in owners if each in recounted]
        ids = {each: target.id if each == OF_TABLE else each for each in some}
        known = parameters.read(unit.connection, of, list(ids.values()), (PARAMETER,)) if ids else {}
        put = {}
        for owner, stored in ids.items():
            columns = [each.column for one in fresh[owner].sets for each in one.columns]
            if PARAMETER in known.get(stored, {}):
                marks = Accurate.parse(known[stored][PARAMETER]).without_columns(columns)
                put[stored] = {PARAMETER: marks.text()}
        parameters.put(unit, of, put)


def _forget_fingerprints(unit: Unit, target: TableFacts, found: Mapping[int, Pending]) -> None:
    if OF_TABLE in found:
        parameters.remove(unit, OF_TABLES, [target.id], [FINGERPRINT])
    parameters.remove(unit, OF_PARTITIONS, [each for each in found if each], [FINGERPRINT])
