"""HMSTATS_TABLE_CHANGE: the partitions touched by the last writes to a table, for caches.

A write that touches only some partitions of a table, or their statistics, stores a row with their names under the
table's new version (versions.py). Any other write stores none: if a version has no row, everything may have changed. A
server of an older release stores none either. A table has at most SLOTS rows, reused in turn, so no cleanup is needed.
"""

import json
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Select, Table, and_, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.schema import HMSTATS_TABLE_CHANGE as CHANGES
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.statements import queued
from hmstats.store.statements.compiled_statements import CompiledStatement
from hmstats.store.statements.single_read import OneOf, SingleRead
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit
from hmstats.store.unit.version_guard import is_as_expected

SLOTS = 64
MOST_NAMED = 1_000
"""Most partitions of a change; a change of more stores no row."""


class Changes(NamedTuple):
    """A table's version and, by the version it made, the partition names of each change that has a row."""

    version: int
    named: dict[int, frozenset[str]]


def append(unit: Unit, table_id: int, partitions: Collection[str]) -> None:
    """Store the partitions of the change that the unit has just counted; it touched nothing else."""
    if len(partitions) <= MOST_NAMED:
        values = {"table_id": table_id, "partitions": json.dumps(sorted(partitions))}
        if unit.connection.dialect.name == "sqlite":
            unit.connection.execute(_append(sqlite.insert), values)
        elif not unit.shape.lacks(CHANGES):
            expected = unit.expects.values if unit.expects else {}
            _append_text(unit.shape, expecting=bool(unit.expects)).queue(unit, {**values, **expected})


def remove(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove dropped tables' changes."""
    queued.delete(unit, CHANGES.c.TBL_ID, table_ids)


def since(engine: Engine, table_id: int, version: int) -> Changes | None:
    """The changes of a table after this version; None if it does not exist or the database does not answer."""
    rows = _SINCE.rows(engine, {"table_id": table_id, "version": version})
    if not rows:
        return None
    return Changes(rows[0][0], {each: frozenset(json.loads(names)) for _, each, names in rows if each is not None})


def names_after(connection: Connection, table_ids: Sequence[int]) -> dict[tuple[int, int], frozenset[str]]:
    """The names of the last changes of some tables, by table id and the version that the change made."""
    c = CHANGES.c
    query = select(c.TBL_ID, c.VERSION, c.PARTITIONS).where(one_of(connection, c.TBL_ID, table_ids))
    return {(table_id, version): frozenset(json.loads(names)) for table_id, version, names in connection.execute(query)}


def between(connection: Connection, table_id: int, after: int, to: int) -> frozenset[str] | None:
    """The partitions touched after one version of a table and up to another; None if that is not known of a change."""
    if to - after > SLOTS:
        return None
    if to == after:
        return frozenset()
    query = select(CHANGES.c.PARTITIONS).where(
        CHANGES.c.TBL_ID == table_id, CHANGES.c.VERSION > after, CHANGES.c.VERSION <= to
    )
    texts = connection.execute(query).scalars().all()
    return None if len(texts) < to - after else frozenset(name for each in texts for name in json.loads(each))


def _append(insert: Callable[[Table], Any], *, expecting: bool = False) -> Any:
    counted = select(VERSIONS.c.TBL_ID, VERSIONS.c.VERSION % SLOTS, VERSIONS.c.VERSION, bindparam("partitions"))
    rows = counted.where(VERSIONS.c.TBL_ID == bindparam("table_id"))
    if expecting:
        rows = rows.where(is_as_expected())
    new = insert(CHANGES).from_select(["TBL_ID", "SLOT", "VERSION", "PARTITIONS"], rows)
    replaced = {name: new.excluded[name] for name in ("VERSION", "PARTITIONS")}
    return new.on_conflict_do_update(index_elements=["TBL_ID", "SLOT"], set_=replaced)


def _since(_: OneOf) -> Select[Any]:
    newer = and_(
        CHANGES.c.TBL_ID == VERSIONS.c.TBL_ID,
        CHANGES.c.VERSION > bindparam("version"),
        CHANGES.c.VERSION <= VERSIONS.c.VERSION,
    )
    query = select(VERSIONS.c.VERSION, CHANGES.c.VERSION.label("CHANGE"), CHANGES.c.PARTITIONS)
    return query.select_from(VERSIONS.outerjoin(CHANGES, newer)).where(VERSIONS.c.TBL_ID == bindparam("table_id"))


@cache
def _append_text(shape: Shape, *, expecting: bool) -> CompiledStatement:
    return CompiledStatement.of(shape, _append(postgresql.insert, expecting=expecting))


_SINCE = SingleRead(_since)
