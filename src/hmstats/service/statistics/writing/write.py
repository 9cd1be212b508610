"""Writes and deletes column statistics.

A write is validated as a whole before anything is stored. It upserts by column and engine, and gets the server's
time. A write without a merge is idempotent.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hmstats.errors import InvalidObject, NoSuchObject
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import Column, Parameters, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.parameter_change import ParameterChange, as_asked
from hmstats.model.parameters.statistics_keys import FINGERPRINT
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import UNLOCKED
from hmstats.model.transactions.transactions import WriteState
from hmstats.service.statistics import details
from hmstats.service.statistics.errors import missing_table
from hmstats.service.statistics.existing_tables import lock_facts
from hmstats.service.statistics.locks import (
    drop_locked_from_delete,
    drop_locked_from_partitions,
    drop_locked_from_table,
)
from hmstats.service.statistics.merge import latest_of_each_column, merge_sets
from hmstats.service.statistics.transactional import check_deletable, put_marks
from hmstats.service.statistics.writing.events import LoggedTable, StatisticsRecorder, record_deleted
from hmstats.service.statistics.writing.holding import follow_at_once, hold_partitions, hold_table, written_at_once
from hmstats.service.statistics.writing.parameter_changes import change_partitions, change_table
from hmstats.service.statistics.writing.plain_writes import PlainWrites
from hmstats.service.statistics.writing.validate import check_sketches, checked_set
from hmstats.service.statistics.writing.write_options import DEFAULTS, WriteOptions
from hmstats.store.catalog import partition_locks
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import before_writes
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics, table_facts
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Unit


@dataclass(frozen=True, slots=True)
class _Job:
    """A write: its table, whether it merges with stored statistics or replaces them, and the writer's transaction."""

    name: TableName
    target: TableFacts
    merge: bool
    replaces: bool
    state: WriteState


class StatisticsWriter:
    """Changes column statistics. With `keep_accuracy`, marks written columns in COLUMN_STATS_ACCURATE.

    `plain` writes statistics that need none of the rules here, in less time.
    """

    def __init__(self, store: Store, *, keep_accuracy: bool = True) -> None:
        self._store = store
        self._keep_accuracy = keep_accuracy
        self._events = StatisticsRecorder()
        store.on_older_database(self._events.forget)
        self.plain = PlainWrites(store, self._events, keep_accuracy=keep_accuracy)

    def update_table(
        self,
        name: TableName,
        statistics: StatisticsSet,
        options: WriteOptions = DEFAULTS,
        *,
        change: ParameterChange | None = None,
    ) -> None:
        """Write a table's column statistics; those of new rows are merged into the stored ones.

        A value that they do not know stays as it is stored, as in Hive, unless they replace what is stored.

        `change` of parameters is applied first, and its COLUMN_STATS_ACCURATE is not replaced. Locked columns are left
        out, unless they are written past locks. What must wait is put aside (holding.py); the guard looks at what an
        automatic run sends. Raises NoSuchObject if the table does not exist, MetaError for an unknown column,
        InvalidInput for invalid numbers, LockedStatistics.
        """

        def update(unit: Unit) -> LoggedTable | None:
            return self.put_table(unit, name, statistics, change, options)

        self._events.remember(self._store.write_table(name, update))

    def put_table(
        self,
        unit: Unit,
        name: TableName,
        statistics: StatisticsSet,
        change: ParameterChange | None,
        options: WriteOptions,
    ) -> LoggedTable | None:
        """Write a table's column statistics within a unit, as update_table does. Returns what `remember` takes."""
        target = _locked(unit, name, options)
        held = target is not None and hold_table(unit, name, target, statistics, change, options)
        if held and change is not None:
            change = written_at_once(change)
        made = (
            None
            if change is None
            else as_asked(change, change_table(unit, name, change, past_locks=options.past_locks))
        )
        if held or (made is not None and not statistics.columns):
            return None
        target = (_locked(unit, name, options) if made is not None else None) or target
        if target is None:
            raise missing_table(name)
        return self._put_table(unit, name, target, statistics, made, options)

    def _put_table(
        self,
        unit: Unit,
        name: TableName,
        target: TableFacts,
        statistics: StatisticsSet,
        made: ParameterChange | None,
        options: WriteOptions,
    ) -> LoggedTable | None:
        known = {} if options.merge else target.parameters
        given = checked_set(name, target.columns, statistics, known, unit.now_seconds)
        given = replace(given, partition=None)
        check_sketches(name, [given])
        free, target = drop_locked_from_table(unit, name, target, given)
        if given.columns and not free.columns:
            versions.bump_own(unit, target.id, partitioned=bool(target.partition_keys))
            return None
        if options.merge:
            stored = column_statistics.read_table(unit.connection, target.id, _names(free), free.engine)
            stored = details.of_table(unit, target.id, stored)
            given = merge_sets(name, free, stored)
        else:
            given = latest_of_each_column(free)
        columns = _names(given)
        before_writes.of_written(unit, OwnerKind.TABLES, name, target, [target.id], columns, given.engine)
        column_statistics.write_table(unit, target.id, name, given, replaces=options.replaces)
        details.write(unit, target.id, {OF_TABLE: given}, options.author)
        follow_at_once(unit, name, target, {OF_TABLE: free}, merge=options.merge)
        job = _Job(name, target, options.merge, options.replaces, options.state)
        marks = self._mark(unit, job, OF_TABLES, {target.id: target.parameters}, {target.id: given})
        marks = _put_writers_marks(unit, OF_TABLES, marks, {target.id: made})
        versions.bump_own(unit, target.id, partitioned=bool(target.partition_keys))
        return self._events.table(unit, name, target, [given], marks.get(target.id, {}))

    def update_partitions(
        self,
        name: TableName,
        statistics: Sequence[StatisticsSet],
        options: WriteOptions = DEFAULTS,
        *,
        changes: Mapping[str, ParameterChange] | None = None,
    ) -> None:
        """Write column statistics of partitions, all or none; two sets of one partition's column are merged.

        The `options`, and `changes` of parameters (by partition name), have the meaning they have in update_table.
        Raises InvalidObject if the table, NoSuchObject if a partition does not exist, else as update_table.
        """

        def update(unit: Unit) -> LoggedTable | None:
            return self.put_partitions(unit, name, statistics, changes or {}, options)

        self._events.remember(self._store.write_table(name, update))

    def put_partitions(
        self,
        unit: Unit,
        name: TableName,
        statistics: Sequence[StatisticsSet],
        changes: Mapping[str, ParameterChange],
        options: WriteOptions,
    ) -> LoggedTable | None:
        """Write column statistics of partitions within a unit, as update_partitions. Returns what `remember` takes."""
        left, touched = None, set[str]()
        target = _locked(unit, name, options)
        if target is None:
            raise InvalidObject(f"{name} table not found")
        said = {normal_partition_name(each, target.keys): change for each, change in changes.items()}
        statistics, said = hold_partitions(unit, name, target, statistics, said, options)
        if said:
            made = change_partitions(unit, name, said, past_locks=options.past_locks)
            said = {each: as_asked(said[each], change) for each, change in made.items()}
        if not statistics:
            return None
        target = (_locked(unit, name, options) if said else None) or target
        for engine in sorted({each.engine for each in statistics}):
            of_engine = [each for each in statistics if each.engine == engine]
            job = _Job(name, target, options.merge, options.replaces, options.state)
            given, marks = self._update_partitions(unit, job, of_engine)
            of_id = {each: said.get(found.partition or "") for each, found in given.items()}
            marks = _put_writers_marks(unit, OF_PARTITIONS, marks, of_id)
            details.write(unit, target.id, given, options.author)
            left = self._events.partitions(unit, name, target, given.items(), marks)
            touched.update(each.partition or "" for each in given.values())
        versions.bump(unit, target.id, None if target.locks else touched)
        return left

    def remember(self, left: LoggedTable | None) -> None:
        """Keep what a write has left, after its unit was committed, for the events of the next one."""
        self._events.remember(left)

    def _update_partitions(
        self, unit: Unit, job: _Job, statistics: Sequence[StatisticsSet]
    ) -> tuple[dict[int, StatisticsSet], Mapping[int, Parameters]]:
        """Write sets of one engine. Returns the stored sets and the parameters put, by partition id."""
        name, target, merge = job.name, job.target, job.merge
        # If one set has a column twice, the later statistics count; if two sets have it, both are merged, as in Hive 4.
        sets = statistics if merge else [latest_of_each_column(each) for each in statistics]
        by_id, known = _by_partition_id(unit, name, target, sets)
        # Hive's clients write statistics of partition keys too, to partitions only.
        columns = (*target.columns, *target.partition_keys)
        given = {
            each: checked_set(name, columns, found, {} if merge else known.get(each, {}), unit.now_seconds)
            for each, found in by_id.items()
        }
        check_sketches(name, given.values())
        free, known = drop_locked_from_partitions(unit, name, target, given, known)
        if not free:
            return {}, {}
        stored: Mapping[str, Sequence[StatisticsSet]] = {}
        if merge:
            stored = details.of_partitions(unit, target.id, _stored_sets(unit, target, free.values()))
        given = {each: merge_sets(name, new, stored.get(new.partition or "", ())) for each, new in free.items()}
        names, engine = sorted({each for found in given.values() for each in _names(found)}), sets[0].engine
        before_writes.of_written(unit, OwnerKind.PARTITIONS, name, target, list(given), names, engine)
        column_statistics.write_partitions(unit, name, given, replaces=job.replaces)
        follow_at_once(unit, name, target, free, merge=merge)
        return given, self._mark(unit, job, OF_PARTITIONS, known, given)

    def _mark(
        self,
        unit: Unit,
        job: _Job,
        of: ParameterTable,
        known: Mapping[int, Parameters],
        written: Mapping[int, StatisticsSet],
    ) -> Mapping[int, Parameters]:
        """Mark the written columns as accurate. Returns the parameters put, by owner id.

        Merged columns are not marked: the stored ones may have been inaccurate.
        """
        if not self._keep_accuracy:
            return {}
        if job.target.transactional:
            marks = dict.fromkeys(written) if job.merge else _accuracy_texts(known, written)
            put_marks(unit, job.name, of, known, marks, job.state)
        elif not job.merge:
            put = {each: {PARAMETER: mark} for each, mark in _accuracy_texts(known, written).items()}
            parameters.put(unit, of, put)
            return put
        return {}

    def delete_table(self, name: TableName, columns: Sequence[str] | None, engine: str | None) -> None:
        """Delete a table's statistics, if any, of these columns (None: all) and this engine (None: all).

        The next analysis of files that have not changed makes them again.

        Raises NoSuchObject if the table does not exist, MetaError if it is transactional.
        """

        def delete(unit: Unit) -> None:
            target = lock_facts(unit, name)
            check_deletable(target)
            there = _that_exist(target.columns, columns)
            if there == []:
                return
            for free in drop_locked_from_delete(unit, name, target, {None: OF_TABLE}, there):
                column_statistics.delete_tables(unit, [target.id], free, engine)
                parameters.put(unit, OF_TABLES, _unmarked({target.id: target.parameters}, free))
                parameters.remove(unit, OF_TABLES, [target.id], [FINGERPRINT])
                versions.bump_own(unit, target.id, partitioned=bool(target.partition_keys))
                record_deleted(unit, name, target, [None], free)

        self._store.write_table(name, delete)

    def delete_partitions(
        self, name: TableName, partition_names: Sequence[str] | None, columns: Sequence[str] | None, engine: str | None
    ) -> None:
        """Delete statistics of these partitions (None: all) as delete_table does; missing partitions are skipped.

        Raises InvalidObject if the table does not exist, MetaError if it is transactional.
        """

        def delete(unit: Unit) -> None:
            target = table_facts.lock(unit, name)
            if target is None:
                raise InvalidObject(f"{name} table not found")
            check_deletable(target)
            given = partitions.names(unit.connection, target.id) if partition_names is None else partition_names
            wanted = {normal_partition_name(each, target.keys) for each in set(given)}
            there = _that_exist((*target.columns, *target.partition_keys), columns)
            if there == []:
                return
            locked = partitions.lock(unit, target.id, sorted(wanted))
            names = {part_id: each for each, part_id in locked.items()}
            for free, ids in drop_locked_from_delete(unit, name, target, locked, there).items():
                column_statistics.delete_partitions(unit, ids, free, engine)
                known = parameters.read(unit.connection, OF_PARTITIONS, ids, (PARAMETER,))
                parameters.put(unit, OF_PARTITIONS, _unmarked(known, free))
                parameters.remove(unit, OF_PARTITIONS, ids, [FINGERPRINT])
                record_deleted(unit, name, target, [names[each] for each in ids], free)
            versions.bump(unit, target.id, locked)

        self._store.write_table(name, delete)


def _locked(unit: Unit, name: TableName, options: WriteOptions) -> TableFacts | None:
    """The table, its row locked until the unit ends, with the locks of statistics that count for these options."""
    target = table_facts.lock(unit, name)
    if target is None or not (options.past_locks or options.brought):
        return target
    return replace(target, locks=UNLOCKED if options.past_locks else target.locks.without_refusals())


def _put_writers_marks(
    unit: Unit,
    of: ParameterTable,
    marks: Mapping[int, Parameters],
    changes: Mapping[int, ParameterChange | None],
) -> Mapping[int, Parameters]:
    """The parameters put; the writer's COLUMN_STATS_ACCURATE that names columns, or its removal, is the last word."""
    named = {
        owner: {PARAMETER: change.put[PARAMETER]}
        for owner, change in changes.items()
        if change is not None and Accurate.parse(change.put.get(PARAMETER)).columns
    }
    if named:
        parameters.put(unit, of, named)
    gone = {owner for owner, change in changes.items() if change is not None and PARAMETER in change.remove}
    if gone:
        parameters.remove(unit, of, sorted(gone), [PARAMETER])
    return {owner: put for owner, put in {**marks, **named}.items() if owner not in gone}


def _by_partition_id(
    unit: Unit, name: TableName, target: TableFacts, statistics: Sequence[StatisticsSet]
) -> tuple[dict[int, StatisticsSet], Mapping[int, Parameters]]:
    """The sets with stored partition names, and the partitions' parameters, both by partition id.

    Raises NoSuchObject if a partition does not exist.
    """
    merged: dict[str, StatisticsSet] = {}
    for each in statistics:
        partition = normal_partition_name(each.partition or "", target.keys)
        earlier = merged[partition].columns if partition in merged else ()
        merged[partition] = replace(each, partition=partition, columns=(*earlier, *each.columns))
    ids, known = partition_locks.lock(unit, target.id, list(merged))
    for partition in merged:
        if partition not in ids:
            raise NoSuchObject(f"Partition for which stats is gathered doesn't exist. {partition} of table {name}")
    return {ids[partition]: each for partition, each in merged.items()}, known


def _stored_sets(unit: Unit, target: TableFacts, given: Collection[StatisticsSet]) -> dict[str, list[StatisticsSet]]:
    """The stored statistics of the same partitions, columns and engine, by partition name; one statement."""
    names = [each.partition or "" for each in given]
    columns = sorted({column for each in given for column in _names(each)})
    engine = next((each.engine for each in given), None)
    return column_statistics.read_partitions(unit.connection, target.id, names, columns, engine)


def _accuracy_texts(known: Mapping[int, Parameters], written: Mapping[int, StatisticsSet]) -> dict[int, str]:
    """COLUMN_STATS_ACCURATE of each table or partition with the written columns added."""
    return {
        each: Accurate.parse(known.get(each, {}).get(PARAMETER)).with_columns(_names(given)).text()
        for each, given in written.items()
    }


def _unmarked(known: Mapping[int, Parameters], columns: Sequence[str] | None) -> dict[int, dict[str, str]]:
    """COLUMN_STATS_ACCURATE without these columns (None: all), of owners that have the parameter."""
    return {
        each: {PARAMETER: Accurate.parse(found[PARAMETER]).without_columns(columns).text()}
        for each, found in known.items()
        if PARAMETER in found
    }


def _that_exist(columns: Sequence[Column], wanted: Sequence[str] | None) -> list[str] | None:
    """The wanted names that are columns, without duplicates, in order; None if all are wanted.

    A request may name any number, and each name costs an event and a value in several statements.
    """
    if wanted is None:
        return None
    names = {column.name.lower() for column in columns}
    return [each for each in dict.fromkeys(wanted) if each in names]


def _names(statistics: StatisticsSet) -> list[str]:
    return [column.column for column in statistics.columns]
