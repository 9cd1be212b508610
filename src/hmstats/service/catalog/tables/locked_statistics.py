"""Locked statistics in changes of tables and partitions: data may change, the numbers for planners stay.

No alter is refused: an engine that has written rows says so with the same call by which it states their number. If a
count would have changed, the rows have: then nothing stays marked as accurate, or Hive would answer queries with the
old numbers. A new table or partition has no numbers to keep, and its are unknown.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hmstats.model.catalog.objects import LAST_DDL, Parameters, Table
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import COUNTS
from hmstats.model.parameters.statistics_keys import STATED, is_of_statistics
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.statistics.statistics_locks import ALL_COLUMNS, OF_TABLE, Cover, TableLocks
from hmstats.service.catalog.tables.columns import lost_columns
from hmstats.service.statistics.locks import WRITES
from hmstats.service.statistics.spark.spark_marks import of_columns, restated, without_columns
from hmstats.service.statistics.spark.spark_statements import StatedTable
from hmstats.store.statistics import column_statistics, statistics_locks
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import ParameterTable
from hmstats.store.unit.unit import Unit

NEW = -1
"""The partition id of a new partition, which the locks of its table and database cover."""


def table_with_locked_values(unit: Unit, locks: TableLocks, stored: Table | None, settled: StatedTable) -> StatedTable:
    """The table to store over `stored` (None: it is new), with the values that locked statistics have."""
    if not locks:
        return settled
    before = _before(stored, settled.table) if stored else {}
    table = replace(
        settled.table, parameters=with_locked_values(unit, locks, OF_TABLE, before, settled.table.parameters)
    )
    locked = locks.locked_columns(OF_TABLE, [*settled.removed, *(each.column for each in settled.written)])
    if any(each.column in locked for each in settled.written):
        _count_dropped(unit, locked.values())
    return replace(
        settled,
        table=table,
        written=tuple(each for each in settled.written if each.column not in locked),
        removed=tuple(each for each in settled.removed if each not in locked),
    )


def with_locked_values(
    unit: Unit, locks: TableLocks, part_id: int, before: Parameters, after: Parameters
) -> dict[str, str]:
    """The parameters to store for `after` over `before`, of a partition or the table (OF_TABLE)."""
    if not locks:
        return dict(after)
    cover = locks.of(part_id)
    marks_after = Accurate.parse(after.get(PARAMETER))
    same_rows = all(before.get(key) == after.get(key) for key in COUNTS)
    if cover is not None:
        locked_values = {key: value for key, value in before.items() if _is_locked(key)}
        others = {key: value for key, value in after.items() if not _is_locked(key) and key != PARAMETER}
        marks_before = Accurate.parse(before.get(PARAMETER))
        marks = (
            Accurate(marks_after.basic and marks_before.basic, marks_after.columns & marks_before.columns)
            if same_rows
            else Accurate()
        )
        if locked_values != {key: value for key, value in after.items() if _is_locked(key)}:
            _count_dropped(unit, [cover])
        return _with_marks({**others, **locked_values}, marks)
    columns = locks.locked_columns(part_id, {each.column for each in locks.covers if each.column != ALL_COLUMNS})
    if not columns:
        return dict(after)
    result = {key: value for key, value in after.items() if key not in of_columns(after, columns)}
    result |= of_columns(before, columns)
    if result != after:
        result = restated(result)
    was_marked = Accurate.parse(before.get(PARAMETER)).columns if same_rows else frozenset()
    return _with_marks(result, marks_after.without_columns(columns.keys() - was_marked))


def _before(stored: Table, altered: Table) -> Parameters:
    """The stored parameters without Spark's statistics of columns that an alter drops or gives another type."""
    return without_columns(stored.parameters, lost_columns(data_columns(stored), data_columns(altered)))


def _is_locked(key: str) -> bool:
    return key == STATED or (is_of_statistics(key) and key not in (PARAMETER, LAST_DDL))


def _with_marks(values: Mapping[str, str], marks: Accurate) -> dict[str, str]:
    others = {key: value for key, value in values.items() if key != PARAMETER}
    return {**others, PARAMETER: marks.text()} if marks != Accurate() else others


def _count_dropped(unit: Unit, covers: Collection[Cover]) -> None:
    statistics_locks.count_dropped(unit, covers)
    WRITES.labels("dropped").inc()


def free_owners(locks: TableLocks, owners: Sequence[int]) -> list[int]:
    """The partitions (OF_TABLE: the table) whose rows, files and bytes are not locked."""
    return [each for each in owners if locks.of(each) is None] if locks else list(owners)


def delete_free(unit: Unit, table: Table, table_id: int, locks: TableLocks, owners: Sequence[int]) -> None:
    """Delete the column statistics, where no lock holds them, of partitions, or of the table (OF_TABLE).

    Locked columns lose their marks of accuracy.
    """
    names = [each.name.lower() for each in (*data_columns(table), *table.partition_keys)]
    groups: dict[tuple[str, ...] | None, list[int]] = {}
    for owner in owners:
        locked = locks.locked_columns(owner, names)
        free = tuple(each for each in names if each not in locked) if locked else None
        groups.setdefault(free, []).append(owner)
    for free, some in groups.items():
        if free == ():
            continue
        if some == [OF_TABLE]:
            column_statistics.delete_tables(unit, [table_id], free, None)
        else:
            column_statistics.delete_partitions(unit, some, free, None)


def remove_marks(unit: Unit, of: ParameterTable, owners: Sequence[int]) -> None:
    """Remove the marks of accuracy of tables or partitions whose numbers are locked."""
    if owners:
        parameters.remove(unit, of, owners, [PARAMETER])
