"""Writing and deleting column statistics.

A write is checked whole before anything is stored, is an upsert by column and engine, and is stamped with the
server's time. Doing it twice is the same as once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hmstats.errors import InvalidObject, NoSuchObject
from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Column, Parameters, TableName
from hmstats.model.column_statistics import StatisticsSet
from hmstats.model.names import normal_partition_name
from hmstats.model.transactions import NO_TRANSACTION, WriteState
from hmstats.service.statistics import details
from hmstats.service.statistics.events import Left, StatisticsRecorder, record_deleted
from hmstats.service.statistics.merge import latest, merged
from hmstats.service.statistics.missing import missing_table
from hmstats.service.statistics.plain_writes import PlainWrites
from hmstats.service.statistics.transactional import check_deletable, put_marks
from hmstats.service.statistics.validate import check_sketches, checked, exact_rows
from hmstats.store import column_statistics, parameters, partition_locks, partitions, targets, versions
from hmstats.store.details import OF_TABLE
from hmstats.store.engine import Store
from hmstats.store.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.targets import Target
from hmstats.store.unit import Unit


@dataclass(frozen=True, slots=True)
class _Job:
    """A write: to which table, whether into what is stored, and what the writer says of its transaction."""

    name: TableName
    target: Target
    merge: bool
    state: WriteState


class StatisticsWriter:
    """Changes column statistics. `keep_accuracy`: written columns are marked in COLUMN_STATS_ACCURATE.

    `plain` writes what needs none of the rules here, in less time.
    """

    def __init__(self, store: Store, *, keep_accuracy: bool = True) -> None:
        self._store = store
        self._keep_accuracy = keep_accuracy
        self._events = StatisticsRecorder()
        self.plain = PlainWrites(store, self._events, keep_accuracy=keep_accuracy)

    def update_table(
        self,
        name: TableName,
        statistics: StatisticsSet,
        *,
        merge: bool = False,
        author: str | None = None,
        state: WriteState = NO_TRANSACTION,
    ) -> None:
        """Write a table's column statistics; with `merge` those of new rows, into what is stored (merge.py).

        `author` is who sends them, `state` what it says of its transaction (transactional.py).
        Raises NoSuchObject without the table, MetaError for an unknown column, InvalidInput for impossible numbers.
        """

        def update(unit: Unit) -> Left | None:
            target = targets.lock(unit, name)
            if target is None:
                raise missing_table(name)
            given = _checked_set(unit, name, target.columns, statistics, {} if merge else target.parameters)
            given = replace(given, partition=None)
            check_sketches(name, [given])
            if merge:
                stored = column_statistics.read_table(unit.connection, target.id, _names(given), given.engine)
                stored = details.of_table(unit, target.id, stored)
            given = merged(name, given, stored) if merge else latest(given)
            column_statistics.write_table(unit, target.id, name, given)
            details.keep(unit, target.id, {OF_TABLE: given}, author)
            job = _Job(name, target, merge, state)
            marks = self._mark(unit, job, OF_TABLES, {target.id: target.parameters}, {target.id: given})
            versions.bump(unit, target.id)
            return self._events.table(unit, name, target, [given], marks.get(target.id, {}))

        self._events.remember(self._store.write_table(name, update))

    def update_partitions(
        self,
        name: TableName,
        statistics: Sequence[StatisticsSet],
        *,
        merge: bool = False,
        author: str | None = None,
        state: WriteState = NO_TRANSACTION,
    ) -> None:
        """Write column statistics of partitions, all or none; of two of one column the later wins.

        With `merge` they are those of new rows, and go into what is stored (merge.py); `author` and `state` as there.

        Raises InvalidObject without the table, NoSuchObject without a partition, else as update_table does.
        """

        def update(unit: Unit) -> Left | None:
            left, touched = None, set[str]()
            target = targets.lock(unit, name)
            if target is None:
                raise InvalidObject(f"{name} table not found")
            for engine in sorted({each.engine for each in statistics}):
                of_engine = [each for each in statistics if each.engine == engine]
                given, marks = self._update_partitions(unit, _Job(name, target, merge, state), of_engine)
                details.keep(unit, target.id, given, author)
                left = self._events.partitions(unit, name, target, given.items(), marks)
                touched.update(each.partition or "" for each in given.values())
            versions.bump(unit, target.id, touched)
            return left

        self._events.remember(self._store.write_table(name, update))

    def _update_partitions(
        self, unit: Unit, job: _Job, statistics: Sequence[StatisticsSet]
    ) -> tuple[dict[int, StatisticsSet], Mapping[int, Parameters]]:
        """What was written, all of one engine, and which parameters were put, by partition id."""
        name, target, merge = job.name, job.target, job.merge
        by_id, known = _placed(unit, name, target, statistics)
        # Hive's clients write statistics of partition keys too, to partitions only.
        columns = (*target.columns, *target.partition_keys)
        given = {
            each: _checked_set(unit, name, columns, found, {} if merge else known.get(each, {}))
            for each, found in by_id.items()
        }
        check_sketches(name, given.values())
        if merge:
            stored = details.of_partitions(unit, target.id, _stored(unit, target, given.values()))
            given = {each: merged(name, new, stored.get(new.partition or "", ())) for each, new in given.items()}
        else:
            given = {each: latest(new) for each, new in given.items()}
        column_statistics.write_partitions(unit, name, given)
        return given, self._mark(unit, job, OF_PARTITIONS, known, given)

    def _mark(
        self,
        unit: Unit,
        job: _Job,
        of: ParameterTable,
        known: Mapping[int, Parameters],
        written: Mapping[int, StatisticsSet],
    ) -> Mapping[int, Parameters]:
        """Mark the written columns as accurate; which parameters were put.

        Merged ones are not: what they were merged into may not have been.
        """
        if not self._keep_accuracy:
            return {}
        if job.target.transactional:
            marks = dict.fromkeys(written) if job.merge else _marked(known, written)
            put_marks(unit, job.name, of, known, marks, job.state)
        elif not job.merge:
            put = {each: {PARAMETER: mark} for each, mark in _marked(known, written).items()}
            parameters.put(unit, of, put)
            return put
        return {}

    def delete_table(self, name: TableName, columns: Sequence[str] | None, engine: str | None) -> None:
        """Delete statistics of these columns (None: all) and this engine (None: all) of a table; there may be none.

        Raises NoSuchObject without the table, MetaError for a transactional one.
        """

        def delete(unit: Unit) -> None:
            target = targets.lock(unit, name)
            if target is None:
                raise missing_table(name)
            check_deletable(target)
            column_statistics.delete_tables(unit, [target.id], columns, engine)
            parameters.put(unit, OF_TABLES, _unmarked({target.id: target.parameters}, columns))
            versions.bump(unit, target.id)
            record_deleted(unit, name, target, [None], columns)

        self._store.write_table(name, delete)

    def delete_partitions(
        self, name: TableName, partition_names: Sequence[str] | None, columns: Sequence[str] | None, engine: str | None
    ) -> None:
        """Delete statistics of these partitions (None: all) as delete_table does; one that is not there has none.

        Raises InvalidObject without the table, MetaError for a transactional one.
        """

        def delete(unit: Unit) -> None:
            target = targets.lock(unit, name)
            if target is None:
                raise InvalidObject(f"{name} table not found")
            check_deletable(target)
            given = partitions.names(unit.connection, target.id) if partition_names is None else partition_names
            wanted = [normal_partition_name(each, target.keys) for each in given]
            locked = partitions.lock(unit, target.id, wanted)
            ids = list(locked.values())
            column_statistics.delete_partitions(unit, ids, columns, engine)
            known = parameters.read(unit.connection, OF_PARTITIONS, ids, (PARAMETER,))
            parameters.put(unit, OF_PARTITIONS, _unmarked(known, columns))
            versions.bump(unit, target.id, locked)
            record_deleted(unit, name, target, list(locked), columns)

        self._store.write_table(name, delete)


def _placed(
    unit: Unit, name: TableName, target: Target, statistics: Sequence[StatisticsSet]
) -> tuple[dict[int, StatisticsSet], Mapping[int, Parameters]]:
    """The sets by partition id, under the partitions' stored names, and what the partitions' parameters say.

    Raises NoSuchObject for one that is not there.
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


def _stored(unit: Unit, target: Target, given: Collection[StatisticsSet]) -> dict[str, list[StatisticsSet]]:
    """What is stored of the same partitions, columns and engine, by partition name; one statement."""
    names = [each.partition or "" for each in given]
    columns = sorted({column for each in given for column in _names(each)})
    engine = next((each.engine for each in given), None)
    return column_statistics.read_partitions(unit.connection, target.id, names, columns, engine)


def _checked_set(
    unit: Unit, name: TableName, columns: Sequence[Column], given: StatisticsSet, known: Parameters
) -> StatisticsSet:
    fitting = checked(name, columns, given.columns, exact_rows(known))
    return replace(given, columns=fitting, last_analyzed_seconds=unit.now_seconds)


def _marked(known: Mapping[int, Parameters], written: Mapping[int, StatisticsSet]) -> dict[int, str]:
    """COLUMN_STATS_ACCURATE of each table or partition with the written columns added."""
    return {
        each: Accurate.parse(known.get(each, {}).get(PARAMETER)).with_columns(_names(given)).text()
        for each, given in written.items()
    }


def _unmarked(known: Mapping[int, Parameters], columns: Sequence[str] | None) -> dict[int, dict[str, str]]:
    """COLUMN_STATS_ACCURATE without these columns, of those that have the parameter."""
    return {
        each: {PARAMETER: Accurate.parse(found[PARAMETER]).without_columns(columns).text()}
        for each, found in known.items()
        if PARAMETER in found
    }


def _names(statistics: StatisticsSet) -> list[str]:
    return [column.column for column in statistics.columns]
