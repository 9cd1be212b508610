"""Keeps the health of statistics up to date by the notification log, so that writes pay nothing for it.

Every writer's events are followed: ours, those of a Hive on the same database, those of servers of the version before.
A table whose version says which partitions were touched has only these judged again. All servers and their processes
take turns at one row (store/health/changed_tables.py). A server that writes no log compares the versions of all tables
instead.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from hmstats.model.health.health import Health, assess, merge_parts
from hmstats.store.catalog import tables as stored_tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.health import changed_tables, facts, health_rows, rewritten
from hmstats.store.health.changed_tables import Progress
from hmstats.store.health.facts import HealthTable
from hmstats.store.health.rewritten import Rewritten
from hmstats.store.schema import HMSTATS_HEALTH, HMSTATS_HISTORY
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.unit.unit import Unit

_log = structlog.get_logger("hmstats.health")
_EVENTS_AT_ONCE = 1_000
_TABLES_AT_ONCE, _PARTITIONS_AT_ONCE = 200, 10_000
_LAST_WRITES = 100
"""How many writes of a table that is judged for the first time are looked at."""
PATIENCE_SECONDS = 2.0
"""For how long a question waits until health reflects all events."""


class HealthKeeper:
    """Judges what has changed. Safe to run on several servers at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def keeps(self) -> bool:
        """Whether the health of this database is kept."""
        return not self._store.shape.lacks(HMSTATS_HEALTH)

    def run(self) -> None:
        """Judge everything that has changed, in small transactions."""
        while self._step():
            pass

    def walk(self) -> None:
        """Begin a walk through all tables, unless one is under way."""
        if self.keeps and not self._store.read_only:
            self._store.write(_begin_walk)

    def catch_up(self, patience_seconds: float = PATIENCE_SECONDS) -> bool:
        """Judge what has changed, for so long at most. Returns whether health reflects all events."""
        give_up = time.monotonic() + patience_seconds
        with self._store.outside_picture():
            while self._step():
                if time.monotonic() > give_up:
                    return False
        return True

    def _step(self) -> bool:
        """Judge some tables. Returns whether there may be more."""
        if not self.keeps or self._store.read_only:
            return False
        if not self._store.has_log and not self._store.shape.beside_hive:
            return self._compare()
        with self._store.read() as connection:
            behind = changed_tables.is_behind(connection)
        return behind and self._store.write(self._follow)

    def _compare(self) -> bool:
        """Judge tables whose version is not the one that they were judged at."""
        with self._store.read() as connection:
            ids = changed_tables.other_versions(connection, _TABLES_AT_ONCE)
        if ids:
            self._store.write(lambda unit: judge(unit, ids))
        return bool(ids)

    def _follow(self, unit: Unit) -> bool:
        progress = changed_tables.lock(unit)
        if progress.walked_to is not None:
            return self._walk(unit, progress, progress.walked_to)
        changed = changed_tables.after(unit.connection, progress.event_id, _EVENTS_AT_ONCE)
        if not changed.complete:
            _log.info("health_walk", reason="events are missing", event_id=progress.event_id)
            changed_tables.advance(unit, Progress(changed.event_id, 0))
            return True
        for start in range(0, len(changed.table_ids), _TABLES_AT_ONCE):
            judge(unit, changed.table_ids[start : start + _TABLES_AT_ONCE])
        changed_tables.advance(unit, replace(progress, event_id=changed.event_id))
        return changed.event_id != progress.event_id

    def _walk(self, unit: Unit, progress: Progress, walked_to: int) -> bool:
        """Judge the next tables of a walk through all of them, which began when the last event was the progress's."""
        ids = changed_tables.walk(unit.connection, walked_to, _TABLES_AT_ONCE)
        judge(unit, ids)
        if not ids:
            health_rows.forget_dropped(unit)
        changed_tables.advance(unit, replace(progress, walked_to=ids[-1] if ids else None))
        return True


def _begin_walk(unit: Unit) -> None:
    progress = changed_tables.lock(unit)
    if progress.walked_to is None:
        changed_tables.advance(unit, replace(progress, walked_to=0))


def judge(unit: Unit, table_ids: Sequence[int]) -> None:
    """Judge and store the health of these tables, and of their partitions that may have changed.

    Several statements read a table. If it was written between them, it is read again, the last time while writers wait:
    what is judged in part before a write and in part behind it stays wrong.
    """
    left = table_ids
    for again in (True, True, False):
        if not again:
            stored_tables.lock_out_writers(unit, left)
        left = _judge(unit, left, again=again)
        if not left:
            return


def _judge(unit: Unit, table_ids: Sequence[int], *, again: bool) -> Sequence[int]:
    """Judge tables as judge() does. Returns those that are to be judged `again`, since they were written meanwhile."""
    connection = unit.connection
    found = facts.tables(connection, table_ids)
    stored = health_rows.of_tables(connection, [each.id for each in found]) if found else {}
    news = [each for each in found if _is_news(unit, each, stored)]
    if not news:
        return ()
    plain, partitioned = [each for each in news if not each.partitioned], [each for each in news if each.partitioned]
    whole: dict[tuple[int, int], Health] = {}
    for table_id, known in facts.of_tables(connection, plain, _written(unit, plain, stored)).items():
        _, before = stored.get(table_id, (0, None))
        whole[table_id, OF_TABLE] = assess(before, known, unit.now_milliseconds)
    parts = _of_partitions(unit, partitioned, stored)
    now = versions.read_many(connection, [each.id for each in news]) if again else {}
    written = {each.id for each in news if now.get(each.id, each.version) != each.version}
    health_rows.put(unit, {key: each for key, each in parts.items() if key[0] not in written}, {})
    whole |= _of_partitioned(unit, [each.id for each in partitioned if each.id not in written])
    judged = {each.id: each.version for each in news if each.id not in written}
    health_rows.put(unit, {key: each for key, each in whole.items() if key[0] in judged}, judged)
    return sorted(written)


def _is_news(unit: Unit, table: HealthTable, stored: Mapping[int, tuple[int, Health]]) -> bool:
    """Whether a table may have changed since it was judged; a Hive on the same database raises no version."""
    return unit.shape.beside_hive or table.id not in stored or stored[table.id][0] != table.version


def _written(
    unit: Unit, tables: Sequence[HealthTable], stored: Mapping[int, tuple[int, Health]]
) -> Mapping[tuple[int, int], Rewritten]:
    """The statistics that were written since these tables were judged, or by the last writes of new ones."""
    if unit.shape.lacks(HMSTATS_HISTORY):
        return {}
    since = {
        each.id: stored[each.id][0] if each.id in stored else max(each.version - _LAST_WRITES, 0) for each in tables
    }
    now = {} if unit.shape.beside_hive else {each.id: each.version for each in tables}
    found = rewritten.since(unit.connection, since)
    return {key: replace(each, untouched=each.version == now.get(key[0])) for key, each in found.items()}


def _of_partitions(
    unit: Unit, tables: Sequence[HealthTable], stored: Mapping[int, tuple[int, Health]]
) -> dict[tuple[int, int], Health]:
    """The health of partitions of these tables where it is not what is stored."""
    if not tables:
        return {}
    known = {each.id: (stored[each.id][0], each.version) for each in tables if each.id in stored}
    touched = {} if unit.shape.beside_hive else changed_tables.touched(unit.connection, known)
    named = {each: sorted(names) for each in tables if (names := touched.get(each.id)) is not None}
    whole = [each for each in tables if each not in named]
    parts = facts.partitions(unit.connection, whole, named)
    written = _written(unit, tables, stored)
    fresh = {}
    for start in range(0, len(parts), _PARTITIONS_AT_ONCE):
        some = parts[start : start + _PARTITIONS_AT_ONCE]
        tables_of = {each.id: each.table.id for each in some}
        before = health_rows.of_partitions(unit.connection, tables_of)
        for part_id, known_now in facts.of_partitions(unit.connection, some, written).items():
            key = (tables_of[part_id], part_id)
            now = assess(before.get(key), known_now, unit.now_milliseconds)
            if now != before.get(key):
                fresh[key] = now
    return fresh


def _of_partitioned(unit: Unit, ids: Sequence[int]) -> dict[tuple[int, int], Health]:
    """The health of tables with partitions, by that of their partitions, which is stored."""
    if not ids:
        return {}
    health_rows.forget_gone(unit, ids)
    sums = health_rows.sums(unit.connection, ids)
    return {(each, OF_TABLE): merge_parts(sums.get(each, ())) for each in ids}
