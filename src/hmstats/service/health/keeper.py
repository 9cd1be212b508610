"""Keeps the health of statistics up to date by the notification log, so that writes pay nothing for it.

Every writer's events are followed: ours, those of a Hive on the same database, those of servers of the version before.
A table whose version says which partitions were touched has only these judged again. All servers and their processes
take turns, each with one snapshot of the database (store/health/changed_tables.py), so that no table is judged in part
before a write and in part after it. A server that writes no log compares the versions of all tables instead.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import structlog

from hmstats.model.health.health import Health, assess, merge_parts
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
        """Judge everything that changed before now, in small transactions."""
        for _ in self._steps():
            pass

    def walk(self) -> None:
        """Begin a walk through all tables, unless one is under way."""
        if self.keeps and not self._store.read_only:
            self._store.write(_begin_walk)

    def catch_up(self, patience_seconds: float = PATIENCE_SECONDS) -> bool:
        """Judge what changed before now, for so long at most. Returns whether health reflects all of it."""
        give_up = time.monotonic() + patience_seconds
        with self._store.outside_snapshot():
            return all(time.monotonic() <= give_up for _ in self._steps())

    def _steps(self) -> Iterator[None]:
        """Yield before each small transaction that judges some tables, until all that changed before the first are.

        What changes meanwhile is left to the next run: tables that are written all the time would be judged all the
        time.
        """
        if not self.keeps or self._store.read_only:
            return iter(())
        if not self._store.has_log and not self._store.shape.beside_hive:
            return self._compare()
        return self._follow()

    def _compare(self) -> Iterator[None]:
        """Judge tables whose version is not the one that they were judged at, in the order of their ids."""
        compared_to = 0
        while ids := self._other_versions(compared_to):
            yield
            self._store.write(partial(_judge_alone, table_ids=ids))
            compared_to = ids[-1]

    def _other_versions(self, after_id: int) -> Sequence[int]:
        with self._store.read() as connection:
            return changed_tables.other_versions(connection, after_id, _TABLES_AT_ONCE)

    def _follow(self) -> Iterator[None]:
        """Judge tables that the log names up to its last event."""
        with self._store.read() as connection:
            last = changed_tables.last_to_follow(connection)
        before, progress = None, None
        while last is not None and (progress is None or not progress.reaches(last)):
            yield
            before, progress = progress, self._store.write(self._follow_some)
            if progress == before:  # the log was reset, and has fewer events
                return

    def _follow_some(self, unit: Unit) -> Progress:
        """Judge tables of the next events. Returns how far the log has been followed."""
        progress = changed_tables.lock_progress(unit)
        if progress.walked_to is not None:
            return self._walk(unit, progress, progress.walked_to)
        changed = changed_tables.after(unit.connection, progress.event_id, _EVENTS_AT_ONCE)
        if not changed.complete:
            _log.info("health_walk", reason="events are missing", event_id=progress.event_id)
            return changed_tables.advance(unit, Progress(changed.event_id, 0))
        for start in range(0, len(changed.table_ids), _TABLES_AT_ONCE):
            judge(unit, changed.table_ids[start : start + _TABLES_AT_ONCE])
        return changed_tables.advance(unit, replace(progress, event_id=changed.event_id))

    def _walk(self, unit: Unit, progress: Progress, walked_to: int) -> Progress:
        """Judge the next tables of a walk through all of them, which began when the last event was the progress's."""
        ids = changed_tables.walk(unit.connection, walked_to, _TABLES_AT_ONCE)
        judge(unit, ids)
        if not ids:
            health_rows.forget_dropped(unit)
        return changed_tables.advance(unit, replace(progress, walked_to=ids[-1] if ids else None))


def _begin_walk(unit: Unit) -> None:
    progress = changed_tables.lock_progress(unit)
    if progress.walked_to is None:
        changed_tables.advance(unit, replace(progress, walked_to=0))


def _judge_alone(unit: Unit, table_ids: Sequence[int]) -> None:
    changed_tables.lock(unit)
    judge(unit, table_ids)


def judge(unit: Unit, table_ids: Sequence[int]) -> None:
    """Judge and store the health of these tables, and of their partitions that may have changed."""
    connection = unit.connection
    found = facts.tables(connection, table_ids)
    stored = health_rows.of_tables(connection, [each.id for each in found]) if found else {}
    news = [each for each in found if _is_news(unit, each, stored)]
    if not news:
        return
    plain, partitioned = [each for each in news if not each.partitioned], [each for each in news if each.partitioned]
    whole: dict[tuple[int, int], Health] = {}
    for table_id, known in facts.of_tables(connection, plain, _written(unit, plain, stored)).items():
        _, before = stored.get(table_id, (0, None))
        whole[table_id, OF_TABLE] = assess(before, known, unit.now_milliseconds)
    health_rows.put(unit, _of_partitions(unit, partitioned, stored), {})
    whole |= _of_partitioned(unit, [each.id for each in partitioned])
    health_rows.put(unit, whole, {each.id: each.version for each in news})


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
