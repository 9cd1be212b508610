"""Locked statistics in writes and deletes: what is locked is left out, or refuses the whole call.

A write that is left out takes the marks of its columns from COLUMN_STATS_ACCURATE, since its sender has seen other
rows: planners keep their numbers, but Hive answers no query from them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import structlog
from prometheus_client import Counter

from hmstats.errors import LockedStatistics
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.parameters.statistics_keys import is_of_statistics
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import ALL_COLUMNS, OF_TABLE, Cover, TableLocks
from hmstats.store.statistics import statistics_locks
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.unit.unit import Unit

_log = structlog.get_logger("hmstats.locks")
WRITES = Counter(
    "hmstats_locked_writes", "Writes and deletes of locked statistics, by outcome: dropped or refused.", ("outcome",)
)


Names: TypeAlias = Mapping[int, str | None]


class UnlockedSets(NamedTuple):
    """The statistics that may be written: sets without locked columns by partition id, and known parameters of each."""

    given: dict[int, StatisticsSet]
    known: Mapping[int, Parameters]


def drop_locked_from_table(
    unit: Unit, name: TableName, target: TableFacts, given: StatisticsSet
) -> tuple[StatisticsSet, TableFacts]:
    """The set without locked columns, and the table as it is then. Raises LockedStatistics if a lock refuses."""
    locked = target.locks.locked_columns(OF_TABLE, [each.column for each in given.columns])
    if not locked:
        return given, target
    refuse_or_drop(unit, name, {None: locked})
    columns = tuple(each for each in given.columns if each.column not in locked)
    unmarked = _unmarked(target.parameters, locked)
    if unmarked:
        parameters.put(unit, OF_TABLES, {target.id: unmarked})
        target = replace(target, parameters={**target.parameters, **unmarked})
    return replace(given, columns=columns), target


def drop_locked_from_partitions(
    unit: Unit, name: TableName, target: TableFacts, given: dict[int, StatisticsSet], known: Mapping[int, Parameters]
) -> UnlockedSets:
    """The sets of partitions, by id, without locked columns. Raises LockedStatistics if a lock refuses."""
    if not target.locks:
        return UnlockedSets(given, known)
    by_id = {
        each: target.locks.locked_columns(each, [column.column for column in found.columns])
        for each, found in given.items()
    }
    locked = {each: found for each, found in by_id.items() if found}
    refuse_or_drop(unit, name, {given[each].partition: found for each, found in locked.items()})
    unmarked = {each: mark for each, found in locked.items() if (mark := _unmarked(known.get(each, {}), found))}
    parameters.put(unit, OF_PARTITIONS, unmarked)
    unlocked = {
        each: replace(found, columns=tuple(column for column in found.columns if column.column not in by_id[each]))
        for each, found in given.items()
    }
    parameters_now = {each: {**known.get(each, {}), **unmarked.get(each, {})} for each in given}
    return UnlockedSets({each: found for each, found in unlocked.items() if found.columns}, parameters_now)


def drop_locked_from_delete(
    unit: Unit,
    name: TableName,
    target: TableFacts,
    ids: Mapping[str, int] | Mapping[None, int],
    columns: Sequence[str] | None,
) -> dict[tuple[str, ...] | None, list[int]]:
    """The ids of partitions (OF_TABLE: the table) whose statistics may be deleted, by columns (None: all).

    `ids` are by partition name (None: the table). Raises LockedStatistics if a lock refuses.
    """
    wanted = None if columns is None else tuple(columns)
    if not target.locks:
        return {wanted: list(ids.values())}
    named = wanted or tuple(each.name.lower() for each in (*target.columns, *target.partition_keys))
    locked = {partition: target.locks.locked_columns(part_id, named) for partition, part_id in ids.items()}
    refuse_or_drop(unit, name, {partition: found for partition, found in locked.items() if found})
    free: dict[tuple[str, ...] | None, list[int]] = {}
    for partition, part_id in ids.items():
        some = tuple(each for each in named if each not in locked[partition]) if locked[partition] else wanted
        if some != ():
            free.setdefault(some, []).append(part_id)
    return free


def drop_locked_from_change(
    unit: Unit,
    name: TableName,
    locks: TableLocks,
    changes: Mapping[int, ParameterChange],
    names: Callable[[int], str | None],
) -> dict[int, ParameterChange]:
    """The changes of parameters, by partition id (OF_TABLE: the table), without those of locked statistics.

    `names` is the partition's name by id. Raises LockedStatistics if a lock refuses; not for a change that withdraws
    the marks of accuracy, which says that the data has changed.
    """
    locked = {
        each: cover._replace(refuse=cover.refuse and PARAMETER not in change.remove)
        for each, change in changes.items()
        if (cover := locks.of(each)) is not None and _touches_statistics(change)
    }
    refuse_or_drop(unit, name, {names(each): {ALL_COLUMNS: cover} for each, cover in locked.items()})
    return {
        each: _without_statistics(change) if each in locked else _without_marks(locks, each, change)
        for each, change in changes.items()
    }


def check_unlocked(name: TableName, locks: TableLocks, columns: Mapping[int, Collection[str]], names: Names) -> None:
    """Raise LockedStatistics if any lock covers one of these places and columns, whether it drops writes or refuses.

    `columns` are by partition id (OF_TABLE: the table); without any, its rows, files and bytes. `names` is by id.
    """
    for part_id, some in columns.items():
        for column, cover in (locks.locked_columns(part_id, some) or _object_cover(locks, part_id)).items():
            WRITES.labels("refused").inc()
            raise LockedStatistics(_sentence(name, names[part_id], column, cover))


def _object_cover(locks: TableLocks, part_id: int) -> dict[str, Cover]:
    cover = locks.of(part_id)
    return {} if cover is None else {ALL_COLUMNS: cover}


def refuse_or_drop(unit: Unit, name: TableName, locked: Mapping[str | None, Mapping[str, Cover]]) -> None:
    """Refuse a write of locked statistics, or count it as dropped: by partition name (None: the table) and column.

    Raises LockedStatistics if a lock refuses.
    """
    if not locked:
        return
    for partition, found in locked.items():
        for column, cover in found.items():
            if cover.refuse:
                WRITES.labels("refused").inc()
                raise LockedStatistics(_sentence(name, partition, column, cover))
    statistics_locks.count_dropped(unit, {cover for found in locked.values() for cover in found.values()})
    WRITES.labels("dropped").inc()
    _log.info("locked_statistics_dropped", object=str(name), partitions=len([each for each in locked if each]))


def _sentence(name: TableName, partition: str | None, column: str, cover: Cover) -> str:
    of = f"table {name.typed}" if partition is None else f"partition {partition} of table {name.typed}"
    subject = f"column {column} of {of}" if column != ALL_COLUMNS else of
    by = (
        f"the lock of database {name.parent.typed}" if cover.table_id == OF_TABLE else f"the lock of table {name.typed}"
    )
    if cover.part_id != OF_TABLE:
        by = f"the lock of partition {partition}"
    if cover.column != ALL_COLUMNS:
        by += f", column {cover.column}"
    reason = f" ({cover.reason})" if cover.reason else ""
    return f"statistics of {subject} are not written: {by} refuses it{reason}; hmstats unlock removes a lock"


def _unmarked(known: Parameters, columns: Collection[str]) -> dict[str, str]:
    """COLUMN_STATS_ACCURATE without these columns; empty if it has none of them."""
    accurate = Accurate.parse(known.get(PARAMETER))
    if accurate.columns.isdisjoint(columns):
        return {}
    return {PARAMETER: accurate.without_columns(columns).text()}


def _touches_statistics(change: ParameterChange) -> bool:
    return any(map(is_of_statistics, (*change.put, *change.remove)))


def _without_statistics(change: ParameterChange) -> ParameterChange:
    """The change without parameters of statistics; it takes the marks of accuracy, since its sender saw other rows."""
    put = {key: value for key, value in change.put.items() if not is_of_statistics(key)}
    return ParameterChange(put, frozenset(each for each in change.remove if not is_of_statistics(each)) | {PARAMETER})


def _without_marks(locks: TableLocks, part_id: int, change: ParameterChange) -> ParameterChange:
    """The change without marks of locked columns."""
    text = change.put.get(PARAMETER)
    if text is None or not locks:
        return change
    marks = Accurate.parse(text)
    locked = locks.locked_columns(part_id, marks.columns)
    if not locked:
        return change
    return replace(change, put={**change.put, PARAMETER: marks.without_columns(locked).text()})
