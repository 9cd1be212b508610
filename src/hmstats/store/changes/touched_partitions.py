"""HMSTATS_TABLE_CHANGE and HMSTATS_OWN_CHANGE: the partitions touched by the last writes to a table, for caches.

A write that touches only some partitions of a table, or their statistics, stores a row with their names under the
table's new version (versions.py). One that also touches the table's own parameters or statistics, perhaps with no
partition at all, stores it in HMSTATS_OWN_CHANGE. Any other write stores none: if a version has no row, everything may
have changed. A server of an older release stores none either, and does not read the rows of own changes. A table has at
most SLOTS rows of each kind, reused in turn, so no cleanup is needed.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    Connection,
    Engine,
    Select,
    Table,
    bindparam,
    cast,
    literal_column,
    null,
    select,
    union_all,
)
from sqlalchemy import String as Text
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.schema import HMSTATS_OWN_CHANGE as OWN_CHANGES
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
    """A table's version and, by the version it made, the partition names of each change that has a row.

    Changes that are `named` touched nothing but these partitions, `own` ones the table itself too.
    """

    version: int
    named: Mapping[int, frozenset[str]]
    own: Mapping[int, frozenset[str]] = MappingProxyType({})

    def partitions(self, after: int, to: int) -> frozenset[str] | None:
        """The partitions touched after one version and up to another; None if that is not known of a change.

        None too if the other is older: the database was restored.
        """
        if to < after:
            return None
        names = [self.named.get(each, self.own.get(each)) for each in range(after + 1, to + 1)]
        return None if None in names else _join_names(each for each in names if each is not None)


def append(unit: Unit, table_id: int, partitions: Collection[str], *, own: bool = False) -> None:
    """Store the partitions of the change that the unit has just counted; with `own` it touched the table itself too."""
    if len(partitions) <= MOST_NAMED:
        values = {"table_id": table_id, "partitions": json.dumps(sorted(partitions))}
        changes = OWN_CHANGES if own else CHANGES
        if unit.connection.dialect.name == "sqlite":
            unit.connection.execute(_append(sqlite.insert, changes), values)
        elif not unit.shape.lacks(changes):
            expected = unit.expects.values if unit.expects else {}
            _append_text(unit.shape, changes, expecting=bool(unit.expects)).queue(unit, {**values, **expected})


def remove(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove dropped tables' changes."""
    for changes in (CHANGES, OWN_CHANGES):
        queued.delete(unit, changes.c.TBL_ID, table_ids)


def since(engine: Engine, table_id: int, version: int) -> Changes | None:
    """The changes of a table after this version; None if it does not exist or the database does not answer."""
    rows = _SINCE.rows(engine, {"table_id": table_id, "version": version})
    current = next((found for kind, found, _ in rows or () if kind == _CURRENT), None)
    if rows is None or current is None:
        return None
    named, own = (
        {found: frozenset(json.loads(names)) for kind, found, names in rows if kind == each} for each in (_NAMED, _OWN)
    )
    return Changes(current, named, own)


def names_after(connection: Connection, table_ids: Sequence[int]) -> dict[tuple[int, int], frozenset[str]]:
    """The names of the last changes of some tables, by table id and the version that the change made."""
    parts = (select(c.TBL_ID, c.VERSION, c.PARTITIONS).where(one_of(connection, c.TBL_ID, table_ids)) for c in _BOTH)
    rows = connection.execute(union_all(*parts))
    return {(table_id, version): frozenset(json.loads(names)) for table_id, version, names in rows}


def between(connection: Connection, table_id: int, after: int, to: int) -> frozenset[str] | None:
    """The partitions touched after one version of a table and up to another, as Changes.partitions tells them."""
    if not 0 <= to - after <= SLOTS:
        return None
    if to == after:
        return frozenset()
    parts = (select(c.PARTITIONS).where(c.TBL_ID == table_id, c.VERSION > after, c.VERSION <= to) for c in _BOTH)
    texts = connection.execute(union_all(*parts)).scalars().all()
    return None if len(texts) < to - after else _join_names(map(json.loads, texts))


def _join_names(names: Iterable[Collection[str]]) -> frozenset[str]:
    return frozenset(name for each in names for name in each)


def _append(insert: Callable[[Table], Any], changes: Table, *, expecting: bool = False) -> Any:
    counted = select(VERSIONS.c.TBL_ID, VERSIONS.c.VERSION % SLOTS, VERSIONS.c.VERSION, bindparam("partitions"))
    rows = counted.where(VERSIONS.c.TBL_ID == bindparam("table_id"))
    if expecting:
        rows = rows.where(is_as_expected())
    new = insert(changes).from_select(["TBL_ID", "SLOT", "VERSION", "PARTITIONS"], rows)
    replaced = {name: new.excluded[name] for name in ("VERSION", "PARTITIONS")}
    return new.on_conflict_do_update(index_elements=["TBL_ID", "SLOT"], set_=replaced)


_CURRENT, _NAMED, _OWN = 0, 1, 2
"""The kinds of rows of _SINCE: the table's version, and the two kinds of changes."""
_BOTH = (CHANGES.c, OWN_CHANGES.c)


def _since(_: OneOf) -> CompoundSelect[Any]:
    table_id = bindparam("table_id", type_=BigInteger)
    current = select(_kind(_CURRENT), VERSIONS.c.VERSION, cast(null(), Text)).where(table_id == VERSIONS.c.TBL_ID)
    return union_all(current, *(_newer(kind, c) for kind, c in zip((_NAMED, _OWN), _BOTH, strict=True)))


def _newer(kind: int, c: Any) -> Select[Any]:
    query = select(_kind(kind), c.VERSION, c.PARTITIONS)
    return query.where(
        bindparam("table_id", type_=BigInteger) == c.TBL_ID, bindparam("version", type_=BigInteger) < c.VERSION
    )


def _kind(kind: int) -> Any:
    return literal_column(str(kind), BigInteger)


@cache
def _append_text(shape: Shape, changes: Table, *, expecting: bool) -> CompiledStatement:
    return CompiledStatement.of(shape, _append(postgresql.insert, changes, expecting=expecting))


_SINCE = SingleRead(_since)
