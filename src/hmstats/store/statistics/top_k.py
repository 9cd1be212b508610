"""HMSTATS_TOP_K: the frequent values of each column, as sketches."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Delete, and_, bindparam, delete, or_

from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.schema import HMSTATS_TOP_K as TOP_K
from hmstats.store.statements.compiled_statements import CompiledStatement
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import bound, one_of_bound
from hmstats.store.unit.unit import Unit

_KEY = ("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE")


def replace(unit: Unit, table_id: int, engine: str, by_owner: Mapping[int, Mapping[str, bytes | None]]) -> None:
    """Write sketches by partition id (or details.OF_TABLE) and column; None deletes the stored one.

    If new statistics come without a sketch, the old one would be wrong.
    """
    _delete(unit, table_id, engine, _without_sketch(by_owner))
    rows = [
        dict(zip((*_KEY, "ITEMS"), (table_id, partition_id, column, engine, sketch), strict=True))
        for partition_id in sorted(by_owner)
        for column, sketch in sorted([each for each in by_owner[partition_id].items() if each[1] is not None])
    ]
    upsert(unit, TOP_K, _KEY, rows, lambda _, new: {"ITEMS": new.ITEMS})


def remove(unit: Unit, table_id: int, engine: str, ids: Sequence[int], columns: Sequence[str]) -> None:
    """Delete sketches of these partitions (or details.OF_TABLE) and columns."""
    _delete(unit, table_id, engine, {frozenset(columns): ids})


def _without_sketch(by_owner: Mapping[int, Mapping[str, bytes | None]]) -> dict[frozenset[str], list[int]]:
    """Partition ids by the set of columns without a sketch."""
    ids_of: dict[frozenset[str], list[int]] = {}
    for partition_id, columns in by_owner.items():
        without_sketch = frozenset([column for column, sketch in columns.items() if sketch is None])
        if without_sketch:
            ids_of.setdefault(without_sketch, []).append(partition_id)
    return ids_of


def _delete(unit: Unit, table_id: int, engine: str, ids_of: Mapping[frozenset[str], Sequence[int]]) -> None:
    """Delete sketches of partitions by sets of columns: one statement, with a condition for each set."""
    if not ids_of:
        return
    values: dict[str, Any] = {"table_id": table_id, "engine": engine}
    for index, (names, ids) in enumerate(ids_of.items()):
        values[f"ids_{index}"] = bound(unit.connection, ids)
        values[f"columns_{index}"] = bound(unit.connection, sorted(names))
    statement = _deletion(unit.connection.dialect.name, len(ids_of))
    if unit.connection.dialect.name == "sqlite":
        unit.connection.execute(statement, values)
    elif not unit.shape.lacks(TOP_K):
        _deletion_text(unit.shape, len(ids_of)).queue(unit, values)


@lru_cache(maxsize=20)
def _deletion_text(shape: Shape, sets: int) -> CompiledStatement:
    return CompiledStatement.of(shape, _deletion("postgresql", sets))


@lru_cache(maxsize=20)
def _deletion(dialect_name: str, sets: int) -> Delete:
    """The DELETE of so many sets; its parameters are columns and partition ids for each."""
    c = TOP_K.c
    mine = [
        and_(
            one_of_bound(dialect_name, c.PART_ID, f"ids_{index}"),
            one_of_bound(dialect_name, c.COLUMN_NAME, f"columns_{index}"),
        )
        for index in range(sets)
    ]
    return delete(TOP_K).where(c.TBL_ID == bindparam("table_id"), c.ENGINE == bindparam("engine"), or_(*mine))
