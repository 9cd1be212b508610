"""Statistics of transactional tables: of which write they are, and who sees them. The rules are Hive 4's.

A writer says its write id and which write ids it has seen, a reader which it sees. A reader gets no statistics of a
write that it does not see, or that are not said to be exact. A writer that has not seen the write which the stored
statistics are of has left out its rows: nothing is exact then. Statistics that came without a write id are of no
transaction, and everybody sees them.
"""

from collections.abc import Mapping, Sequence

from hmstats.errors import MetaError
from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Parameters, Table, TableName
from hmstats.model.transactions import ValidWriteIds, WriteState
from hmstats.store import parameters, partitions, statistics_write_ids
from hmstats.store.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.targets import Target
from hmstats.store.unit import Connection, Unit


def check_deletable(target: Target) -> None:
    """Raises MetaError for a transactional table: a delete says nothing of its transaction."""
    if target.transactional:
        raise MetaError("Cannot delete stats via this API for a transactional table")


def table_is_seen(connection: Connection, target: Target, valid: str | None) -> bool:
    """Whether a reader that sees these write ids sees the table's own statistics; one that says none sees all."""
    if valid is None or not target.transactional:
        return True
    write_id = statistics_write_ids.read(connection, OF_TABLES, [target.id]).get(target.id, 0)
    return _seen(ValidWriteIds.parse(valid), write_id, target.parameters)


def counts_are_seen(table: Table, valid: str | None) -> bool | None:
    """Whether such a reader sees a table's row counts; None where nobody's transaction matters."""
    if valid is None or table.parameters.get("transactional", "").lower() != "true":
        return None
    return _seen(ValidWriteIds.parse(valid), table.write_id, table.parameters)


def seen_partitions(connection: Connection, target: Target, names: Sequence[str], valid: str | None) -> list[str]:
    """Those of the partitions whose statistics such a reader sees."""
    if valid is None or not target.transactional:
        return list(names)
    ids = partitions.find_ids(connection, target.id, names)
    write_ids = statistics_write_ids.read(connection, OF_PARTITIONS, list(ids.values()))
    known = parameters.read(connection, OF_PARTITIONS, list(ids.values()), (PARAMETER,))
    sees = ValidWriteIds.parse(valid)
    return [name for name in names if name in ids and _seen(sees, write_ids[ids[name]], known.get(ids[name], {}))]


def put_marks(
    unit: Unit,
    name: TableName,
    of: ParameterTable,
    known: Mapping[int, Parameters],
    marks: Mapping[int, str | None],
    state: WriteState,
) -> None:
    """Write COLUMN_STATS_ACCURATE (None: as it is) of a transactional table or its partitions, and the write id.

    Raises MetaError when row counts are said to be exact and the writer does not say its transaction.
    """
    if state.known:
        write_ids = statistics_write_ids.read(unit.connection, of, list(marks))
        valid = ValidWriteIds.parse(state.valid or "")
        missed = [each for each in marks if not _has_seen(valid, write_ids.get(each, 0))]
        parameters.remove(unit, of, missed, (PARAMETER,))
        statistics_write_ids.put(unit, of, list(marks), state.write_id or 0)
    else:
        missed = []
        for each, mark in marks.items():
            current = known.get(each, {}).get(PARAMETER)
            _check_inexact(name, current, mark or current, state)
        statistics_write_ids.put(unit, of, list(marks), 0)
    parameters.put(unit, of, {each: {PARAMETER: mark} for each, mark in marks.items() if mark and each not in missed})


def _seen(valid: ValidWriteIds, write_id: int, known: Parameters) -> bool:
    return write_id < 1 or (Accurate.parse(known.get(PARAMETER)).basic and valid.sees(write_id))


def _has_seen(valid: ValidWriteIds, write_id: int) -> bool:
    return write_id < 1 or valid.sees(write_id) or write_id in valid.aborted


def _check_inexact(name: TableName, current: str | None, new: str | None, state: WriteState) -> None:
    if Accurate.parse(new).basic:
        raise MetaError(
            f"Cannot change stats state for a transactional table {name.database}.{name.table} without providing the "
            f"transactional write state for verification (new write ID {state.write_id or -1}, valid write IDs "
            f"{state.valid or 'null'}; current state {current or 'null'}; new state {new}"
        )
