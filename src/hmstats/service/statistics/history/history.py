"""The writes of a table's statistics, and its statistics as of a time."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.history import History, PastStatistics, PastWrite
from hmstats.service.statistics.history.upkeep import Retention, text
from hmstats.store.database.store import Store
from hmstats.store.history import past_state, purge, steps
from hmstats.store.history.past_state import State
from hmstats.store.history.steps import OF_TABLE, Kind, Step
from hmstats.store.statistics import past_statistics
from hmstats.store.unit.unit import Connection

_MOST_WRITES = 1_000
MayRead: TypeAlias = Callable[[TableName], bool]
"""Whether a caller may read the statistics of a table."""


def anybody(_: TableName) -> bool:
    """Callers who may read everything."""
    return True


class StatisticsHistory:
    """Answers questions about the past of statistics."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self._store = store
        self._retention = retention

    def writes(self, name: TableName, column: str | None = None, most: int | None = None) -> History:
        """The last writes of a table, or of a dropped one of this name, newest first; of one column if it is given.

        Raises NoSuchObject if there was never such a table, InvalidInput if no history is kept.
        """
        with self._store.read() as connection:
            oldest = self._retention.oldest_ms(connection)
            current = past_state.current_table(connection, name)
            found = steps.steps_of_name(connection, name, current)
            if current is None and not found:
                raise NoSuchObject(f"{name} table not found, and no statistics of it are in the history")
            names = _names(connection, {step.table_id for step in found})
            writes = _writes(found, names, column)
            some = writes[: min(most or _MOST_WRITES, _MOST_WRITES)]
            return History(some, oldest, purge.size_bytes(connection))

    def past(
        self,
        name: TableName,
        at_ms: int | None,
        columns: Collection[str] | None = None,
        partitions: Sequence[str] | None = None,
        *,
        may_read: MayRead = anybody,
    ) -> PastStatistics:
        """Statistics at a time (None: now) of the table itself, or (if given) of these partitions; empty: of all.

        Raises NoSuchObject if the table did not exist, or had another name then whose statistics its caller may not
        read; InvalidInput if the time is too old.
        """
        with self._store.read() as connection:
            wanted = columns is None or len(columns) > 0
            if at_ms is None:
                at_ms, state = self._retention.now_ms, _state_now(connection, name, with_columns=wanted)
            else:
                at_ms = self._retention.answerable_ms(connection, at_ms)
                state = state_at(connection, name, at_ms, with_columns=wanted, may_read=may_read)
            owners = _owners(state, partitions)
            rows = {
                key: content
                for key, content in state.columns.items()
                if key.partition_id in owners and (columns is None or key.column in columns)
            }
            sketches = past_state.sketches(connection, state.table_id, rows.items())
            found = past_statistics.sets(rows, state.partitions, sketches)
            parameters = {owners[each]: values for each, values in state.parameters.items() if each in owners}
            return PastStatistics(at_ms, found, parameters)


def state_at(
    connection: Connection, name: TableName, at_ms: int, *, with_columns: bool = True, may_read: MayRead = anybody
) -> State:
    """The state at a time of the table that had this name. Raises NoSuchObject if there was none to be read."""
    table_id = past_state.table_at(connection, name, at_ms)
    if table_id is None or not _may_read_then(connection, table_id, name, at_ms, may_read):
        raise NoSuchObject(f"table {name} did not exist at {text(at_ms)}, as far as its history tells")
    return past_state.at(connection, table_id, at_ms, with_columns=with_columns)


def _may_read_then(connection: Connection, table_id: int, name: TableName, at_ms: int, may_read: MayRead) -> bool:
    """Whether a caller who may read the table by its name may read it by the name that it had at the time."""
    then = steps.name_at(connection, table_id, at_ms)
    return then is None or then == name or may_read(then)


def _state_now(connection: Connection, name: TableName, *, with_columns: bool) -> State:
    """The stored state of a table, whatever the clock says. Raises NoSuchObject if the table does not exist."""
    table_id = past_state.current_table(connection, name)
    if table_id is None:
        raise NoSuchObject(f"{name} table not found")
    return past_state.now(connection, table_id, with_columns=with_columns)


def _owners(state: State, partitions: Sequence[str] | None) -> Mapping[int, str]:
    """The names of the asked owners by id; the table itself has an empty one."""
    if partitions is None:
        return {OF_TABLE: ""}
    wanted = set(partitions)
    return {each: name for each, name in state.partitions.items() if not wanted or name in wanted}


def _names(connection: Connection, table_ids: Iterable[int]) -> dict[int, str]:
    """The names of all partitions by id, the last ones of those that are gone."""
    found: dict[int, str] = {}
    for each in table_ids:
        found |= past_state.partition_names(connection, each)
    return found


def _writes(found: Sequence[Step], names: Mapping[int, str], column: str | None) -> list[PastWrite]:
    writes = [_write(list(group), names) for _, group in groupby(found, key=lambda step: (step.table_id, step.version))]
    wanted = [each for each in writes if column is None or _is_about(each, column)]
    return sorted(wanted, key=lambda write: write.at_ms, reverse=True)


def _write(group: Sequence[Step], names: Mapping[int, str]) -> PastWrite:
    first = group[0]
    ids = {each for step in group for each in step.partitions or ()}
    columns = {each for step in group for each in step.columns or ()}
    return PastWrite(
        first.at_ms,
        first.table,
        tuple(dict.fromkeys(step.kind.value for step in group)),
        first.writer,
        first.call,
        tuple(sorted(columns)),
        tuple(sorted(names.get(each, f"partition {each}") for each in ids)),
    )


def _is_about(write: PastWrite, column: str) -> bool:
    moved = not {Kind.DROPPED.value, Kind.ARRIVED.value}.isdisjoint(write.kinds)
    return moved or (Kind.COLUMNS.value in write.kinds and not write.columns) or column in write.columns
