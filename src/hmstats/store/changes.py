"""HMSTATS_TABLE_CHANGE: which partitions the last writes to a table touched, for those who keep what they read.

A write that touched nothing of a table but some partitions, or their statistics, leaves a row with their names under
the table's new number (versions.py). Any other write leaves none: where a number has no row, everything may have
changed. So does a server of an older version, which knows nothing of this table. A table has SLOTS rows at most, used
in turn, so nothing has to be cleaned.
"""

import json
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, Table, and_, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.batch import Batch
from hmstats.store.expected_table import is_as_expected
from hmstats.store.kept_texts import KeptText
from hmstats.store.schema import HMSTATS_TABLE_CHANGE as CHANGES
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.shape import Shape
from hmstats.store.single import OneOf, SingleRead
from hmstats.store.unit import Unit

SLOTS = 64
MOST_NAMED = 1_000
"""Partitions of a change that are named; one of more leaves no row."""


class Changes(NamedTuple):
    """A table's number and, for each change that named its partitions, the number that it made and their names."""

    version: int
    named: dict[int, frozenset[str]]


def append(unit: Unit, table_id: int, partitions: Collection[str]) -> None:
    """Say what the change touched that the unit has counted just before: these partitions and nothing else."""
    if len(partitions) <= MOST_NAMED:
        values = {"table_id": table_id, "partitions": json.dumps(sorted(partitions))}
        if unit.connection.dialect.name == "sqlite":
            unit.connection.execute(_append(sqlite.insert), values)
        elif not unit.shape.lacks(CHANGES):
            expected = unit.expects.values if unit.expects else {}
            _append_text(unit.shape, expecting=bool(unit.expects)).later(unit, {**values, **expected})


def forget(batch: Batch, table_ids: Sequence[int]) -> None:
    """Remove dropped tables' changes."""
    batch.delete(CHANGES.c.TBL_ID, table_ids)


def since(engine: Engine, table_id: int, version: int) -> Changes | None:
    """What happened to a table after it had this number; None without the table, and without an answer."""
    rows = _SINCE.rows(engine, {"table_id": table_id, "version": version})
    if not rows:
        return None
    return Changes(rows[0][0], {each: frozenset(json.loads(names)) for _, each, names in rows if each is not None})


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
def _append_text(shape: Shape, *, expecting: bool) -> KeptText:
    return KeptText.of(shape, _append(postgresql.insert, expecting=expecting))


_SINCE = SingleRead(_since)
