"""Restores the statistics of a time; a restore is a write like any other, so it can be undone too.

Numbers come back with the times that they had. A mark of accurate statistics comes back only if files and bytes are
the same now as they were: else Hive would answer queries by numbers of other rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hmstats.errors import LockedStatistics, NoSuchObject
from hmstats.model.catalog.names import partition_values
from hmstats.model.catalog.objects import Parameters, Partition, Table, TableName
from hmstats.model.events import PartitionAltered, StatisticsDeleted, StatisticsUpdated, TableAltered
from hmstats.model.parameters.accurate import PARAMETER, without_marks_of
from hmstats.model.parameters.basic_statistics import FILE_SIZES
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.history import Restored
from hmstats.service.statistics.conditions import require_version
from hmstats.service.statistics.history.history import MayRead, anybody, state_at
from hmstats.service.statistics.history.upkeep import Retention
from hmstats.service.statistics.spark.spark_marks import without_columns
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import before_writes, file_sizes, past_state, restored_rows
from hmstats.store.history.file_sizes import Sizes, sizes_of
from hmstats.store.history.past_state import State
from hmstats.store.history.replaced_rows import CONTENT, OwnerKind
from hmstats.store.history.steps import OF_TABLE, Key
from hmstats.store.history.stored_values import Content
from hmstats.store.partitions import partitions
from hmstats.store.statistics import past_statistics, table_facts
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.unit.unit import Connection, Unit

_TYPE = CONTENT.index("COLUMN_TYPE")
_UNKNOWN = sizes_of({})


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a restore changes. `wanted` is all that its owners have afterwards; `source` the id of the table then."""

    source: int
    current: State
    wanted: Mapping[Key, Content]
    written: Mapping[Key, Content]
    removed: tuple[Key, ...]
    put: Mapping[int, Parameters]
    dropped: Mapping[int, tuple[str, ...]]
    unmarked: int
    owners: set[int] = field(default_factory=set)

    def restored(self, name: TableName, at_ms: int) -> Restored:
        """The counts of what the plan changes, for the caller."""
        changed = len(self.put.keys() | self.dropped.keys())
        return Restored(name, at_ms, len(self.written), len(self.removed), changed, self.unmarked)


class StatisticsRestore:
    """Writes statistics of the past again."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self._store = store
        self._retention = retention

    def restore(
        self,
        name: TableName,
        at_ms: int,
        *,
        dry_run: bool = False,
        if_version: int | None = None,
        may_read: MayRead = anybody,
    ) -> Restored:
        """Restore a table's statistics of a time, those of its partitions too; with `dry_run` only tell the changes.

        Partitions that did not exist then keep what they have. A table that was dropped and made again gets what its
        columns of the same type had. Raises NoSuchObject if the table does not exist, or did not then, or had a name
        of which the caller may not read the statistics; InvalidInput if the time is too old or the table has another
        version than `if_version`, LockedStatistics if any of the statistics is locked.
        """

        def write(unit: Unit) -> Restored:
            found = table_facts.lock(unit, name)
            if found is not None:
                require_version(unit, name, found.id, if_version)
            target = _writable(name, found)
            plan, then_ms = self._plan(unit.connection, name, target, at_ms, may_read)
            if not dry_run:
                _write(unit, name, target, plan)
            return plan.restored(name, then_ms)

        return self._store.write_table(name, write)

    def _plan(
        self, connection: Connection, name: TableName, target: TableFacts, at_ms: int, may_read: MayRead
    ) -> tuple[_Plan, int]:
        then_ms = self._retention.answerable_ms(connection, at_ms)
        then = state_at(connection, name, then_ms, may_read=may_read)
        current = past_state.now(connection, target.id)
        stated = file_sizes.as_stated(connection, target.id, then_ms, current.parameters)
        return _make_plan(target, then, current, stated), then_ms


def _writable(name: TableName, target: TableFacts | None) -> TableFacts:
    if target is None:
        raise NoSuchObject(f"{name} table not found: make it again with the same columns, then restore its statistics")
    if target.locks:
        raise LockedStatistics(
            f"statistics of table {name.typed} are not restored: a lock covers all or some of them; "
            f"hmstats locked {name.typed} shows it, hmstats unlock removes it"
        )
    return target


def _make_plan(target: TableFacts, then: State, current: State, stated: Mapping[int, Sizes]) -> _Plan:
    """What a restore changes; `stated` are the sizes of the files now by owner."""
    now_of = _successors(then, current)
    fitting, unfit = _split_by_type(target, then)
    wanted = {
        Key(now_of[key.partition_id], key.engine, key.column): content
        for key, content in fitting.items()
        if key.partition_id in now_of
    }
    written = {key: content for key, content in wanted.items() if not _is_same(content, current.columns.get(key))}
    owners = set(now_of.values())
    removed = tuple(key for key in current.columns if key.partition_id in owners and key not in wanted)
    put: dict[int, Parameters] = {}
    dropped: dict[int, tuple[str, ...]] = {}
    unmarked = 0
    for before, owner in now_of.items():
        old = current.parameters.get(owner, {})
        new = _of_fitting_columns(then.parameters.get(before, {}), unfit.get(before, []))
        if PARAMETER in new and (target.transactional or stated.get(owner, _UNKNOWN) != sizes_of(new)):
            del new[PARAMETER]
            new |= {key: old[key] for key in FILE_SIZES if key in new and key in old}  # of the files now
            unmarked += 1
        changed = {key: value for key, value in new.items() if old.get(key) != value}
        gone = tuple(key for key in old if key not in new)
        put |= {owner: changed} if changed else {}
        dropped |= {owner: gone} if gone else {}
    touched = {key.partition_id for key in (*written, *removed)}
    return _Plan(then.table_id, current, wanted, written, removed, put, dropped, unmarked, touched)


def _is_same(content: Content, stored: Content | None) -> bool:
    """Whether both are equal; a bound NaN, which does not equal itself, is the same as another."""
    if content == stored or stored is None:
        return content == stored
    return all(one == other or (one != one and other != other) for one, other in zip(content, stored, strict=True))  # noqa: PLR0124


def _split_by_type(target: TableFacts, then: State) -> tuple[Mapping[Key, Content], Mapping[int, list[str]]]:
    """The earlier statistics that fit the current columns, and the other columns by their owner."""
    types = {each.name.lower(): each.type for each in (*target.columns, *target.partition_keys)}
    fitting: dict[Key, Content] = {}
    unfit: dict[int, list[str]] = {}
    for key, content in then.columns.items():
        if _fits(types.get(key.column), content[_TYPE]):
            fitting[key] = content
        else:
            unfit.setdefault(key.partition_id, []).append(key.column)
    return fitting, unfit


def _successors(then: State, current: State) -> dict[int, int]:
    """The current owners by the earlier ones: the same ones, or partitions with the names of removed ones."""
    by_name = {name: each for each, name in current.partitions.items()}
    found = {OF_TABLE: OF_TABLE}
    for each, name in then.partitions.items():
        owner = each if each in current.partitions else by_name.get(name)
        if owner is not None and (owner == each or owner not in then.partitions):
            found[each] = owner
    return found


def _fits(column_type: str | None, stated: str | None) -> bool:
    return column_type is not None and kind_of(column_type) is kind_of(stated or "")


def _of_fitting_columns(values: Parameters, unfit: Sequence[str]) -> dict[str, str]:
    """The parameters without marks and Spark's statistics of columns that are gone, or of another type by now."""
    return without_marks_of(without_columns(values, unfit), unfit)


def _write(unit: Unit, name: TableName, target: TableFacts, plan: _Plan) -> None:
    owners = sorted(plan.owners)
    altered = sorted(plan.put.keys() | plan.dropped.keys())
    if not owners and not altered:
        return
    before = _before(unit, name, target, plan, altered)
    sketches = past_state.sketches(unit.connection, plan.source, plan.written.items())
    if OF_TABLE in plan.owners:
        before_writes.of_columns(unit, OwnerKind.TABLES, [target.id])
    before_writes.of_columns(unit, OwnerKind.PARTITIONS, [each for each in owners if each != OF_TABLE])
    restored_rows.remove(unit, target.id, plan.removed)
    restored_rows.write(unit, target.id, name, plan.current.partitions, plan.written, sketches)
    restored_rows.write_provenance(unit, target.id, plan.wanted, owners)
    _write_parameters(unit, target, plan)
    touched = {*owners, *altered}
    names = None if OF_TABLE in touched else {plan.current.partitions[each] for each in touched}
    versions.bump(unit, target.id, names)
    _record(unit, name, target, plan, sketches, before)


def _write_parameters(unit: Unit, target: TableFacts, plan: _Plan) -> None:
    for of, chosen in ((OF_TABLES, True), (OF_PARTITIONS, False)):
        put = {_id(target, each): values for each, values in plan.put.items() if (each == OF_TABLE) == chosen}
        parameters.put(unit, of, put)
        groups: dict[tuple[str, ...], list[int]] = {}
        for each, keys in plan.dropped.items():
            if (each == OF_TABLE) == chosen:
                groups.setdefault(tuple(sorted(keys)), []).append(_id(target, each))
        for keys, ids in groups.items():
            parameters.remove(unit, of, ids, keys)


def _id(target: TableFacts, owner: int) -> int:
    return target.id if owner == OF_TABLE else owner


_Before = tuple[Table | None, Mapping[str, Partition]]


def _before(unit: Unit, name: TableName, target: TableFacts, plan: _Plan, altered: list[int]) -> _Before:
    """The table and its altered partitions before the restore, for the log."""
    if unit.events is None:
        return None, {}
    names = [plan.current.partitions[each] for each in altered if each != OF_TABLE]
    return tables.get(unit.connection, name), partitions.get_many(unit.connection, target.id, names)


def _record(
    unit: Unit, name: TableName, target: TableFacts, plan: _Plan, sketches: Mapping[bytes, bytes], before: _Before
) -> None:
    """Record what the restore has changed in the log, as the writes that it stands for."""
    table, changed = before
    if unit.events is None or table is None:
        return
    if OF_TABLE in plan.put or OF_TABLE in plan.dropped:
        values = _altered(table.parameters, plan, OF_TABLE)
        unit.record(TableAltered(table, replace(table, parameters=values)))
        table = replace(table, parameters=values)
    for old in changed.values():
        assert old.id is not None
        unit.record(PartitionAltered(table, old, replace(old, parameters=_altered(old.parameters, plan, old.id))))
    for each in past_statistics.sets(plan.written, plan.current.partitions, sketches):
        stated = table.parameters if each.partition is None else {}
        unit.record(StatisticsUpdated(table, each, stated, _values(each.partition, target)))
    unit.record(*_deletions(name, target, plan))


def _altered(stored: Parameters, plan: _Plan, owner: int) -> dict[str, str]:
    kept = {key: value for key, value in stored.items() if key not in plan.dropped.get(owner, ())}
    return {**kept, **plan.put.get(owner, {})}


def _deletions(name: TableName, target: TableFacts, plan: _Plan) -> Iterator[StatisticsDeleted]:
    for key in plan.removed:
        partition = None if key.partition_id == OF_TABLE else plan.current.partitions[key.partition_id]
        yield StatisticsDeleted(name, key.column, partition, _values(partition, target))


def _values(partition: str | None, target: TableFacts) -> tuple[str, ...]:
    return () if partition is None else tuple(partition_values(partition, target.keys))
