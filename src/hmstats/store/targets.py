"""What a statistics call is about: as much of a table as its rules look at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Connection,
    Engine,
    FromClause,
    Select,
    String,
    bindparam,
    cast,
    exists,
    literal_column,
    or_,
    select,
    union_all,
)

from hmstats.model.accurate import PARAMETER
from hmstats.model.catalog import Column, Parameters, TableName
from hmstats.store import versions
from hmstats.store.schema import COLUMNS_V2, DBS, HMSTATS_TOP_K, PARTITION_KEYS, SDS, TABLE_PARAMS, TBLS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.shape import WHOLE
from hmstats.store.single import SingleRead
from hmstats.store.unit import Unit

_LOOKED_AT = (PARAMETER, "numRows", "transactional")
_ITSELF, _COLUMN, _KEY, _PARAMETER, _VERSION = "table", "column", "key", "parameter", "version"
_NO_TOP_K = "no top-k"


@dataclass(frozen=True, slots=True)
class Target:
    """A table's id and version, data columns, partition keys, and the parameters that bear on statistics.

    `has_top_k`: frequent values may be stored of it or its partitions.
    """

    id: int
    version: int
    columns: tuple[Column, ...]
    partition_keys: tuple[Column, ...]
    parameters: Parameters
    has_top_k: bool = True

    @property
    def transactional(self) -> bool:
        """Whether its statistics are of a transaction."""
        return self.parameters.get("transactional", "").lower() == "true"

    @property
    def keys(self) -> list[str]:
        """The names of the partition keys."""
        return [key.name for key in self.partition_keys]


def find(connection: Connection, name: TableName) -> Target | None:
    """The table's target, or None, its version noted; one statement."""
    found = find_unnoted(connection, name)
    if found:
        versions.note(found.id, found.version)
    return found


def find_unnoted(connection: Connection, name: TableName) -> Target | None:
    """The same for those who note themselves what they read of it."""
    return of_rows(connection.execute(_FOUND, named(name)).all())


def read(engine: Engine, name: TableName) -> Target | None:
    """The same without a transaction; None as well when the database does not answer."""
    return of_rows(_SINGLE.rows(engine, named(name)) or ())


def of_rows(rows: Sequence[Any], known: Target | None = None) -> Target | None:
    """What the rows of `target_query` say; of one that is `known` they say no more than that it is still true."""
    if not rows:
        return None
    table_id, version = rows[0][:2]
    if known is not None and (known.id, known.version) == (table_id, version):
        return known
    return _target(table_id, version or 0, [row[2:] for row in rows])


def lock(unit: Unit, name: TableName, known: Target | None = None) -> Target | None:
    """The same, the table's row locked until the unit ends: writers of one table follow one another.

    `known` is what the table was like when it was written last. It is not read again at the same version.
    """
    if is_one_trip(unit):
        return of_rows(_LOCKED.after([LOCK], unit, {**named(name), **known_as(known)}), known)
    rows = _run(unit, LOCK, named(name))
    if not rows:
        return None
    table_id, _, columns_id = rows[0]
    # Another statement, since one that waits for a lock does not see what happened meanwhile.
    found = _run(unit, _PARTS, {"table_id": table_id, "columns_id": columns_id})
    version = next((int(part[2]) for part in found if part[0] == _VERSION), 0)
    return _target(table_id, version, found)


def is_one_trip(unit: Unit) -> bool:
    """Whether a table can be locked and read in one round trip."""
    return unit.shape is WHOLE and unit.connection.dialect.name == "postgresql"


def _run(unit: Unit, read: SingleRead, values: Mapping[str, Any]) -> Sequence[Any]:
    if unit.shape is WHOLE:
        return read.within(unit, values)
    found: Sequence[Any] = unit.connection.execute(read.query, values).all()
    return found


def named(name: TableName) -> dict[str, str]:
    """The parameters of LOCK and `target_query`."""
    return {"catalog": name.catalog, "database": name.database, "table": name.table}


def known_as(target: Target | None) -> dict[str, int]:
    """The parameters of `target_query` that say which target need not be told."""
    return {"known_id": target.id, "known_version": target.version} if target else {"known_id": 0, "known_version": 0}


def word(text: str) -> ColumnElement[str]:
    """A constant of ours in a statement that is prepared: it has no parameters but the names."""
    return literal_column(f"'{text}'", String)


_NO_PLACE: ColumnElement[int] = literal_column("0", BigInteger)


def _query() -> Select[Any]:
    tables = (
        TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        .outerjoin(SDS, SDS.c.SD_ID == TBLS.c.SD_ID)
        .outerjoin(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)
    )
    return (
        select(TBLS.c.TBL_ID, VERSIONS.c.VERSION, SDS.c.CD_ID)
        .select_from(tables)
        .where(DBS.c.NAME == bindparam("database"), DBS.c.CTLG_NAME == bindparam("catalog"))
        .where(TBLS.c.TBL_NAME == bindparam("table"))
    )


def _parts(
    table_id: ColumnElement[Any], columns_id: ColumnElement[Any], *before: ColumnElement[Any]
) -> list[Select[Any]]:
    """What a target is made of: kind, place, name and text of each part, `before` before each."""
    c, k, p = COLUMNS_V2.c, PARTITION_KEYS.c, TABLE_PARAMS.c
    looked_at = or_(*(p.PARAM_KEY == word(key) for key in _LOOKED_AT))
    return [
        select(*before, word(_COLUMN), c.INTEGER_IDX, c.COLUMN_NAME, c.TYPE_NAME).where(c.CD_ID == columns_id),
        select(*before, word(_KEY), k.INTEGER_IDX, k.PKEY_NAME, k.PKEY_TYPE).where(k.TBL_ID == table_id),
        select(*before, word(_PARAMETER), _NO_PLACE, p.PARAM_KEY, p.PARAM_VALUE).where(p.TBL_ID == table_id, looked_at),
    ]


def _bound(name: str) -> ColumnElement[Any]:
    return bindparam(name, type_=BigInteger())


def _version(table_id: ColumnElement[Any]) -> Select[str, int, str, str]:
    """The table's version in the place of a part's name."""
    v = VERSIONS.c
    return select(word(_VERSION), _NO_PLACE, cast(v.VERSION, String), word("")).where(v.TBL_ID == table_id)


def _target_query() -> CompoundSelect[Any]:
    """The parts of a table found by name, after its id and version; one row at least when there is such a table."""
    t = _query().cte("t")
    return union_all(_itself(t), *_parts(t.c.TBL_ID, t.c.CD_ID, t.c.TBL_ID, t.c.VERSION))


def target_query(more: Callable[[FromClause], Sequence[Select[Any]]] = lambda _: ()) -> CompoundSelect[Any]:
    """The same for writers, who look whether there are frequent values; of a table that is `known_as` one row alone.

    `more` makes further rows of the same columns (id, version, kind, place, name, text) from the id and version.
    """
    t = _query().cte("t")
    is_new = or_(t.c.TBL_ID != _bound("known_id"), t.c.VERSION.is_distinct_from(_bound("known_version")))
    new = select(t).where(is_new).cte("new")
    return union_all(
        _itself(t), *_parts(new.c.TBL_ID, new.c.CD_ID, new.c.TBL_ID, new.c.VERSION), _without_top_k(new), *more(t)
    )


def _itself(table: FromClause) -> Select[Any]:
    return select(table.c.TBL_ID, table.c.VERSION, word(_ITSELF), _NO_PLACE, word(""), word(""))


def _without_top_k(table: FromClause) -> Select[Any]:
    """A row that says that there are no frequent values, of the table or its partitions."""
    t = table.c
    any_stored = exists().where(HMSTATS_TOP_K.c.TBL_ID == t.TBL_ID)
    return select(t.TBL_ID, t.VERSION, word(_NO_TOP_K), _NO_PLACE, word(""), word("")).where(~any_stored)


_FOUND = _target_query()
_SINGLE = SingleRead(lambda _: _FOUND)
_LOCKED = SingleRead(lambda _: target_query())
LOCK = SingleRead(lambda _: _query().with_for_update(of=TBLS))
"""Locks a table's row, found by name."""
_PARTS = SingleRead(
    lambda _: union_all(*_parts(_bound("table_id"), _bound("columns_id")), _version(_bound("table_id")))
)


def _target(table_id: int, version: int, parts: Sequence[Any]) -> Target:
    kinds = (_ITSELF, _COLUMN, _KEY, _PARAMETER, _VERSION, _NO_TOP_K)
    listed: dict[str, list[tuple[str, str]]] = {kind: [] for kind in kinds}
    for kind, _, name, text in sorted(parts, key=itemgetter(1)):
        listed[kind].append((name, text or ""))
    columns = tuple(Column(name, kind) for name, kind in listed[_COLUMN])
    keys = tuple(Column(name, kind) for name, kind in listed[_KEY])
    return Target(table_id, version, columns, keys, dict(listed[_PARAMETER]), has_top_k=not listed[_NO_TOP_K])
