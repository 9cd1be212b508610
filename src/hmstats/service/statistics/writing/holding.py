"""Puts writes of statistics aside that must wait: by the preference `publish`, or because the guard finds a jump.

All that a write says of a table or a partition waits together: columns, and rows, files and bytes. Parameters that
hold no statistics are written at once, and the fingerprint of an analysis too: it says that the files were looked at.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import structlog
from prometheus_client import Counter

from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.basic_statistics import COUNTS
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.parameters.statistics_keys import FINGERPRINT, is_of_statistics
from hmstats.model.pending import guard
from hmstats.model.pending.pending import HeldBy, HoldReason, Pending
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import OF_TABLE
from hmstats.service.statistics import details
from hmstats.service.statistics.locks import drop_locked_from_partitions, drop_locked_from_table
from hmstats.service.statistics.merge import latest_of_each_column, merge_sets
from hmstats.service.statistics.writing.validate import check_sketches, checked_set
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.store.catalog import partition_locks
from hmstats.store.changes import versions
from hmstats.store.statistics import column_statistics, pending
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.unit.unit import Unit

_log = structlog.get_logger("hmstats.pending")
HELD = Counter("hmstats_held_writes", "Writes of statistics that were put aside, by why: preference or guard.", ("by",))
_NOTHING = ParameterChange()


def _may_wait(target: TableFacts, options: WriteOptions) -> bool:
    """Whether a write of a table's statistics may have to wait. Statistics of transactions never do."""
    holding = target.holding
    waits = not holding.publish or holding.guards(automatic=options.automatic)
    return waits and not options.publishes and not target.transactional


def written_at_once(change: ParameterChange) -> ParameterChange | None:
    """The part of a change that does not wait; None if all of it does."""
    part = ParameterChange(
        {key: value for key, value in change.put.items() if not waits(key)},
        frozenset(key for key in change.remove if not waits(key)),
    )
    return part if part != _NOTHING else None


def hold_table(
    unit: Unit,
    name: TableName,
    target: TableFacts,
    given: StatisticsSet,
    change: ParameterChange | None,
    options: WriteOptions,
) -> bool:
    """Put a write of a table's own statistics aside if it must wait; False if it must not. Raises as a write."""
    held = _held_part(change)
    if not _may_wait(target, options) or (not given.columns and held == _NOTHING):
        return False
    stated = held.of(target.parameters)
    one_each = _one_of_each(given, options)
    checked = checked_set(name, target.columns, one_each, {} if options.merge else stated, unit.now_seconds)
    check_sketches(name, [checked])
    before = column_statistics.read_table(unit.connection, target.id, _names(checked), given.engine)
    waiting = pending.read(unit.connection, target.id, [OF_TABLE]).get(OF_TABLE)
    new = _new(name, checked, details.of_table(unit, target.id, before), waiting, options)
    counts = parameters.read(unit.connection, OF_TABLES, [target.id], COUNTS).get(target.id, {})
    sentences = _sentences(target, counts, held, before, new, options)
    if not sentences:
        return False
    free, _ = drop_locked_from_table(unit, name, target, new)
    sets = [free] if free.columns else []
    if target.locks.of(OF_TABLE) is None:
        write = Pending(_reason(target, sentences), sets, held, counts, options.author)
        _put_aside(unit, name, target, {OF_TABLE: write})
    return True


def hold_partitions(
    unit: Unit,
    name: TableName,
    target: TableFacts,
    sets: Sequence[StatisticsSet],
    changes: Mapping[str, ParameterChange],
    options: WriteOptions,
) -> tuple[list[StatisticsSet], dict[str, ParameterChange]]:
    """Put the part of a write of partitions aside that must wait. Returns the other part. Raises as a write."""
    if not _may_wait(target, options):
        return list(sets), dict(changes)
    normalized = [
        replace(_one_of_each(each, options), partition=normal_partition_name(each.partition or "", target.keys))
        for each in sets
    ]
    names = sorted({*changes, *(each.partition or "" for each in normalized)})
    ids, marks = partition_locks.lock(unit, target.id, names)
    counts = parameters.read(unit.connection, OF_PARTITIONS, list(ids.values()), COUNTS)
    waiting = pending.read(unit.connection, target.id, list(ids.values()))
    names_of = {part_id: each for each, part_id in ids.items()}
    stated = {each: _held_part(changes.get(names_of[each])).of(marks.get(each, {})) for each in names_of}
    columns = (*target.columns, *target.partition_keys)
    held = {part_id: _held_part(changes.get(each)) for part_id, each in names_of.items()}
    new_sets: dict[int, list[StatisticsSet]] = {each: [] for each in names_of}
    sentences: dict[int, list[str]] = {each: [] for each in names_of}
    for engine in sorted({each.engine for each in normalized}) or [""]:
        of_engine = _of_engine(normalized, ids, engine)
        given = {
            each: checked_set(name, columns, one, {} if options.merge else stated[each], unit.now_seconds)
            for each, one in of_engine.items()
        }
        check_sketches(name, given.values())
        before = _before(unit, target, given.values(), engine)
        for part_id, part_name in names_of.items():
            own = given.get(part_id, StatisticsSet((), part_name, engine))
            if not own.columns and held[part_id] == _NOTHING:
                continue
            stored = before.get(part_name, ())
            new = _new(name, own, stored, waiting.get(part_id), options)
            new_sets[part_id] += [new] if new.columns else []
            sentences[part_id] += _sentences(target, counts.get(part_id, {}), held[part_id], stored, new, options)
    held_writes = {
        each: Pending(
            _reason(target, sentences[each]), new_sets[each], held[each], counts.get(each, {}), options.author
        )
        for each in names_of
        if sentences[each]
    }
    if not held_writes:
        return list(sets), dict(changes)
    held_names = {names_of[each] for each in held_writes}
    _put_aside(unit, name, target, _without_locked(unit, name, target, held_writes))
    rest = [each for each, at in zip(sets, normalized, strict=True) if at.partition not in held_names]
    at_once = {each: written_at_once(change) if each in held_names else change for each, change in changes.items()}
    return rest, {each: change for each, change in at_once.items() if change is not None}


def follow_at_once(
    unit: Unit, name: TableName, target: TableFacts, written: Mapping[int, StatisticsSet], *, merge: bool
) -> None:
    """Update pending statistics after a write of one engine that did not wait, by partition id (OF_TABLE: the table).

    Statistics of new rows are merged into it, as into what is stored; others are newer, and remove it.
    """
    if not target.holding.has_pending:
        return
    if not merge:
        engine = next((each.engine for each in written.values()), "")
        pending.supersede(unit, target.id, {owner: _names(each) for owner, each in written.items()}, engine)
        return
    waiting = pending.read(unit.connection, target.id, list(written))
    merged = {owner: _with_new_rows(name, held, written[owner]) for owner, held in waiting.items()}
    pending.put(unit, target.id, {owner: each for owner, each in merged.items() if each.sets})


def _with_new_rows(name: TableName, held: Pending, new: StatisticsSet) -> Pending:
    """The pending statistics of the columns of new rows, with these merged into them."""
    sets = []
    for found in held.sets:
        there = _names(found) if found.engine == new.engine else []
        columns = tuple(each for each in new.columns if each.column in there)
        sets += [merge_sets(name, replace(new, columns=columns), [found])] if columns else []
    return replace(held, sets=sets)


def _put_aside(unit: Unit, name: TableName, target: TableFacts, writes: Mapping[int, Pending]) -> None:
    nonempty = {owner: each for owner, each in writes.items() if each.sets or each.change != _NOTHING}
    pending.put(unit, target.id, nonempty)
    versions.bump(unit, target.id)
    for each in nonempty.values():
        HELD.labels(each.reason.held_by.value).inc()
    reasons = sorted({each.reason.text for each in nonempty.values()})
    _log.info("statistics_held", object=str(name), owners=len(nonempty), reasons=reasons[:10])


def _without_locked(
    unit: Unit, name: TableName, target: TableFacts, found: Mapping[int, Pending]
) -> dict[int, Pending]:
    """The waiting part of a write of partitions. Without locked ones, which never wait. Raises
    LockedStatistics.
    """
    if not target.locks:
        return dict(found)
    engines = sorted({each.engine for held in found.values() for each in held.sets})
    free: dict[int, list[StatisticsSet]] = {part_id: [] for part_id in found}
    for engine in engines:
        of_engine = {part_id: each for part_id, held in found.items() for each in held.sets if each.engine == engine}
        for part_id, each in drop_locked_from_partitions(unit, name, target, of_engine, {}).given.items():
            free[part_id].append(each)
    return {
        part_id: replace(held, sets=free[part_id])
        for part_id, held in found.items()
        if target.locks.of(part_id) is None
    }


def _sentences(
    target: TableFacts,
    counts: Parameters,
    change: ParameterChange,
    before: Collection[StatisticsSet],
    new: StatisticsSet,
    options: WriteOptions,
) -> list[str]:
    """The reasons why a write waits; none if it does not. `counts` are the stored ones, `change` the change of them."""
    holding = target.holding
    if not holding.publish:
        return ["the preference publish is false"]
    if not holding.guards(automatic=options.automatic):
        return []
    rows = (known_rows(counts), known_rows(change.put) if change != _NOTHING else None)
    stored = {each.column: each for found in before if found.engine == new.engine for each in found.columns}
    return guard.jumps(rows, stored, new.columns, holding.factor, holding.factor_of)


def _reason(target: TableFacts, sentences: Sequence[str]) -> HoldReason:
    held_by = HeldBy.GUARD if target.holding.publish else HeldBy.PREFERENCE
    return HoldReason(held_by, "; ".join(dict.fromkeys(sentences)))


def _new(
    name: TableName,
    given: StatisticsSet,
    stored: Sequence[StatisticsSet],
    waiting: Pending | None,
    options: WriteOptions,
) -> StatisticsSet:
    """The whole new statistics; those of new rows are merged with the pending statistics, else with the stored ones.

    If a column is there twice, from two sets of a partition, both are merged, as write.py does it.
    """
    if not options.merge:
        return merge_sets(name, given, ())
    first = {each.column: each for found in stored if found.engine == given.engine for each in found.columns}
    for found in waiting.sets if waiting else ():
        if found.engine == given.engine:
            first |= {each.column: each for each in found.columns}
    return merge_sets(name, given, [replace(given, columns=tuple(first.values()))])


def _one_of_each(given: StatisticsSet, options: WriteOptions) -> StatisticsSet:
    """A set with one entry for each column, the later of two, unless all entries are of new rows."""
    return given if options.merge else latest_of_each_column(given)


def _of_engine(placed: Sequence[StatisticsSet], ids: Mapping[str, int], engine: str) -> dict[int, StatisticsSet]:
    """The sets of an engine by partition id; several of one partition as one."""
    by_id: dict[int, StatisticsSet] = {}
    for each in placed:
        part_id = ids.get(each.partition or "")
        if each.engine == engine and part_id is not None:
            earlier = by_id[part_id].columns if part_id in by_id else ()
            by_id[part_id] = replace(each, columns=(*earlier, *each.columns))
    return by_id


def _before(
    unit: Unit, target: TableFacts, given: Collection[StatisticsSet], engine: str
) -> dict[str, list[StatisticsSet]]:
    names = [each.partition or "" for each in given]
    columns = sorted({column for each in given for column in _names(each)})
    if not names or not columns:
        return {}
    stored = column_statistics.read_partitions(unit.connection, target.id, names, columns, engine)
    return details.of_partitions(unit, target.id, stored)


def _held_part(change: ParameterChange | None) -> ParameterChange:
    """The part of a change that waits."""
    if change is None:
        return _NOTHING
    return ParameterChange(
        {key: value for key, value in change.put.items() if waits(key)},
        frozenset(key for key in change.remove if waits(key)),
    )


def waits(key: str) -> bool:
    """Whether a parameter waits with the statistics that come with it."""
    return is_of_statistics(key) and key != FINGERPRINT


def _names(statistics: StatisticsSet) -> list[str]:
    return [each.column for each in statistics.columns]
