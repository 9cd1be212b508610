"""Visibility of statistics of transactional tables, by Hive 4's rules.

A writer states its write id and the write ids visible to it, a reader those visible to it. A reader gets no statistics
of an invisible write, or that are not marked as accurate. If the writer of new statistics has not seen the write of the
stored ones, it has missed rows, and nothing is accurate. Statistics without a write id belong to no transaction, and
every reader sees them.
"""

from collections.abc import Mapping, Sequence

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Parameters, Table, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.transactions.transactions import ValidWriteIds, WriteState
from hmstats.store.partitions import partitions
from hmstats.store.statistics import statistics_write_ids
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Connection, Unit


def check_deletable(target: TableFacts) -> None:
    """Raise MetaError if the table is transactional: a delete names no transaction."""
    if target.transactional:
        raise MetaError("Cannot delete stats via this API for a transactional table")


def is_table_visible(connection: Connection, target: TableFacts, valid: str | None) -> bool:
    """Whether a reader that sees the write ids `valid` (None: all) sees the table's own statistics."""
    if valid is None or not target.transactional:
        return True
    write_id = statistics_write_ids.read(connection, OF_TABLES, [target.id]).get(target.id, 0)
    return _is_visible(ValidWriteIds.parse(valid), write_id, target.parameters)


def are_counts_visible(table: Table, valid: str | None) -> bool | None:
    """Whether a reader that sees `valid` sees the table's row counts; None if visibility does not apply."""
    if valid is None or table.parameters.get("transactional", "").lower() != "true":
        return None
    return _is_visible(ValidWriteIds.parse(valid), table.write_id, table.parameters)


def visible_partitions(
    connection: Connection, target: TableFacts, names: Sequence[str], valid: str | None
) -> list[str]:
    """The partitions whose statistics a reader that sees the write ids `valid` (None: all) sees."""
    if valid is None or not target.transactional:
        return list(names)
    ids = partitions.find_ids(connection, target.id, names)
    write_ids = statistics_write_ids.read(connection, OF_PARTITIONS, list(ids.values()))
    marks = parameters.read(connection, OF_PARTITIONS, list(ids.values()), (PARAMETER,))
    sees = ValidWriteIds.parse(valid)
    return [name for name in names if name in ids and _is_visible(sees, write_ids[ids[name]], marks.get(ids[name], {}))]


def put_marks(
    unit: Unit,
    name: TableName,
    of: ParameterTable,
    known: Mapping[int, Parameters],
    marks: Mapping[int, str | None],
    state: WriteState,
) -> None:
    """Write COLUMN_STATS_ACCURATE (None: unchanged) and the write id of a transactional table or its partitions.

    Raises MetaError if row counts are marked as accurate and the writer states no transaction.
    """
    if state.known:
        write_ids = statistics_write_ids.read(unit.connection, of, list(marks))
        valid = ValidWriteIds.parse(state.valid or "")
        missed = [each for each in marks if not _writer_saw(valid, write_ids.get(each, 0))]
        parameters.remove(unit, of, missed, (PARAMETER,))
        statistics_write_ids.put(unit, of, list(marks), state.write_id or 0)
    else:
        missed = []
        for each, mark in marks.items():
            current = known.get(each, {}).get(PARAMETER)
            _check_inexact(name, current, mark or current, state)
        statistics_write_ids.put(unit, of, list(marks), 0)
    parameters.put(unit, of, {each: {PARAMETER: mark} for each, mark in marks.items() if mark and each not in missed})


def _is_visible(valid: ValidWriteIds, write_id: int, known: Parameters) -> bool:
    return write_id < 1 or (Accurate.parse(known.get(PARAMETER)).basic and valid.sees(write_id))


def _writer_saw(valid: ValidWriteIds, write_id: int) -> bool:
    return write_id < 1 or valid.sees(write_id) or write_id in valid.aborted


def _check_inexact(name: TableName, current: str | None, new: str | None, state: WriteState) -> None:
    """Raise MetaError if new counts are called exact. The sentence is Hive's, which does not close its bracket."""
    if Accurate.parse(new).basic:
        raise MetaError(
            f"Cannot change stats state for a transactional table {name.short} without providing the "
            f"transactional write state for verification (new write ID {state.write_id or -1}, valid write IDs "
            f"{state.valid or 'null'}; current state {current or 'null'}; new state {new}"
        )
