"""Updates constraints after a change of their table's columns, and removes those that lost a column."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, delete, select, update

from hmstats.store.schema import COLUMNS_V2, KEY_CONSTRAINTS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.storage import descriptors as storage
from hmstats.store.unit.unit import Unit

_C = KEY_CONSTRAINTS.c
_CHANGED: dict[str, BindParameter[Any]] = {
    "PARENT_CD_ID": bindparam("parent_cd"),
    "PARENT_INTEGER_IDX": bindparam("parent_index"),
    "CHILD_CD_ID": bindparam("child_cd"),
    "CHILD_INTEGER_IDX": bindparam("child_index"),
}


def follow(unit: Unit, table_id: int, storage_id: int | None) -> None:
    """Point the constraints of a table to the columns of its new storage.

    Columns are matched by name; if a single column was renamed, by index. A constraint that has lost a column is
    removed. The old column descriptor must still exist.
    """
    here = (_C.PARENT_TBL_ID == table_id) | (_C.CHILD_TBL_ID == table_id)
    rows = unit.connection.execute(select(KEY_CONSTRAINTS).where(here)).all()
    descriptor = None if storage_id is None or not rows else storage.columns_id(unit.connection, storage_id)
    if descriptor is None:
        return
    sides = [(row.PARENT_CD_ID, row.CHILD_CD_ID) for row in rows]
    columns = _columns(unit.connection, sorted({each for side in sides for each in side if each} | {descriptor}))
    moves = {each: _moves(columns[each], columns[descriptor]) for each in columns}
    own_ids = {row.PARENT_CD_ID for row in rows if row.PARENT_TBL_ID == table_id}
    own_ids |= {row.CHILD_CD_ID for row in rows if row.CHILD_TBL_ID == table_id}
    _move(unit, rows, descriptor, {each: moves[each] for each in own_ids - {None, descriptor}})


def _move(unit: Unit, rows: Sequence[Any], descriptor: int, moves: Mapping[int, Mapping[int, int]]) -> None:
    """Point rows from old column descriptors to the new one; remove the constraints of lost columns."""
    changes, lost = [], set()
    for row in rows:
        parent, child = (row.PARENT_CD_ID, row.PARENT_INTEGER_IDX), (row.CHILD_CD_ID, row.CHILD_INTEGER_IDX)
        moved = [(descriptor, moves[cd].get(index)) if cd in moves else (cd, index) for cd, index in (parent, child)]
        if any(cd is not None and index is None for cd, index in moved):
            lost.add((row.PARENT_TBL_ID, row.CONSTRAINT_NAME))
        elif moved != [parent, child]:
            values = dict(zip(("parent_cd", "parent_index"), moved[0], strict=True))
            values |= dict(zip(("child_cd", "child_index"), moved[1], strict=True))
            changes.append({"table": row.PARENT_TBL_ID, "name": row.CONSTRAINT_NAME, "at": row.POSITION, **values})
    same = (_C.PARENT_TBL_ID == bindparam("table")) & (bindparam("name") == _C.CONSTRAINT_NAME)
    if changes:
        statement = update(KEY_CONSTRAINTS).where(same, bindparam("at") == _C.POSITION)
        unit.connection.execute(statement.values(_CHANGED), changes)
    if lost:
        unit.connection.execute(
            delete(KEY_CONSTRAINTS).where(same), [{"table": table, "name": name} for table, name in lost]
        )


def _columns(connection: Connection, descriptors: Sequence[int]) -> dict[int, dict[int, str]]:
    """The lower-case column names by index, for each descriptor."""
    c = COLUMNS_V2.c
    query = select(c.CD_ID, c.INTEGER_IDX, c.COLUMN_NAME).where(one_of(connection, c.CD_ID, descriptors))
    columns: dict[int, dict[int, str]] = {each: {} for each in descriptors}
    for descriptor, index, name in connection.execute(query):
        columns[descriptor][index] = name.lower()
    return columns


def _moves(old: Mapping[int, str], new: Mapping[int, str]) -> dict[int, int]:
    """The new index by old index, of the columns that still exist."""
    indexes = {name: index for index, name in new.items()}
    moves = {index: indexes[name] for index, name in old.items() if name in indexes}
    lost = old.keys() - moves.keys()
    if len(lost) == 1 and len(old) == len(new) and new.keys() >= lost and new[min(lost)] not in old.values():
        moves |= {index: index for index in lost}
    return moves
