"""The facts about a table that the rules of statistics need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from hmstats.model.catalog.objects import Column, Parameters, TableName
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.pending.holding import USUAL, Holding
from hmstats.model.spark.spark_schema import LOG_SCHEMA, PROVIDER, SCHEMA, STUB_NAME, STUB_TYPE, spark_columns
from hmstats.model.statistics.statistics_locks import UNLOCKED, TableLocks
from hmstats.store.beside_hive.present_tables import COMPLETE
from hmstats.store.changes import versions
from hmstats.store.schema import COLUMNS_V2, DBS, HMSTATS_TOP_K, PARTITION_KEYS, SDS, TABLE_PARAMS, TBLS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.statistics import pending, preferences, statistics_locks
from hmstats.store.unit.unit import Unit

_PARAMETERS_READ = (PARAMETER, "numRows", "transactional")
_TABLE, _COLUMN, _KEY, _PARAMETER, _VERSION = "table", "column", "key", "parameter", "version"
_SPARK_SCHEMA = "spark schema"
_NO_TOP_K = "no top-k"


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table's id and version, data columns, partition keys, and parameters about statistics.

    `definition` is the number of its definition (versions.py). `columns` are those of Spark's schema if Spark stored
    no others (spark_schema.py), `stored_columns` the metastore's own. `has_top_k` is False if no frequent values are
    stored for the table and its partitions. `locks`, and which writes wait (`holding`), are read for writers only.
    """

    id: int
    version: int
    columns: tuple[Column, ...]
    partition_keys: tuple[Column, ...]
    parameters: Parameters
    has_top_k: bool = True
    stored_columns: tuple[Column, ...] = ()
    locks: TableLocks = UNLOCKED
    holding: Holding = USUAL
    definition: int = 0

    @property
    def transactional(self) -> bool:
        """Whether the table is transactional, so that its statistics belong to transactions."""
        return self.parameters.get("transactional", "").lower() == "true"

    @property
    def keys(self) -> list[str]:
        """The names of the partition keys."""
        return [key.name for key in self.partition_keys]


def find(connection: Connection, name: TableName) -> TableFacts | None:
    """The table's target; None if it does not exist. Notes its version; one statement."""
    target = find_unnoted(connection, name)
    if target:
        versions.note_read(target.id, target.version)
    return target


def find_unnoted(connection: Connection, name: TableName) -> TableFacts | None:
    """The table's target, for callers that note its version themselves; None if it does not exist."""
    return parse_rows(connection.execute(_FACTS, name_parameters(name)).all())


def read(engine: Engine, name: TableName) -> TableFacts | None:
    """The table's target, read without a transaction; None also if the database does not answer."""
    return parse_rows(_SINGLE.rows(engine, name_parameters(name)) or ())


def parse_rows(rows: Sequence[Any], cached: TableFacts | None = None) -> TableFacts | None:
    """The target in the rows of `target_query`; `cached` with the version read if id and definition are unchanged."""
    if not rows:
        return None
    table_id, version = rows[0][:2]
    definition = next(int(name) for _, _, kind, _, name, _ in rows if kind == _TABLE)
    if cached is not None and (cached.id, cached.definition) == (table_id, definition):
        return replace(cached, version=version or 0)
    return _target(table_id, version or 0, definition, [row[2:] for row in rows])


def lock(unit: Unit, name: TableName, cached: TableFacts | None = None) -> TableFacts | None:
    """The table's target, with its row locked until the unit ends, so that its writers are serialised.

    `cached` is not read again if its definition is unchanged. None if the table does not exist.
    """
    if is_one_trip(unit):
        return parse_rows(
            _LOCKED.rows_after([LOCK], unit, {**name_parameters(name), **cached_parameters(cached)}), cached
        )
    rows = _run(unit, LOCK, name_parameters(name))
    if not rows:
        return None
    table_id, _, columns_id, _ = rows[0]
    # A second statement, since one that waits for a lock does not see changes made meanwhile.
    parts = _run(unit, _PARTS, {"table_id": table_id, "columns_id": columns_id})
    version, definition = next(((int(part[2]), int(part[3])) for part in parts if part[0] == _VERSION), (0, 0))
    return _target(table_id, version, definition, parts)


def is_one_trip(unit: Unit) -> bool:
    """Whether the database can lock and read a table in one round trip."""
    return unit.shape is COMPLETE and unit.connection.dialect.name == "postgresql"


def _run(unit: Unit, read: SingleRead, values: Mapping[str, Any]) -> Sequence[Any]:
    if unit.shape is COMPLETE:
        return read.rows_in_unit(unit, values)
    rows: Sequence[Any] = unit.connection.execute(read.query, values).all()
    return rows


def name_parameters(name: TableName) -> dict[str, str]:
    """The parameters of LOCK and `target_query`."""
    return {"catalog": name.catalog, "database": name.database, "table": name.table}


def cached_parameters(target: TableFacts | None) -> dict[str, int]:
    """The parameters of `target_query` for the cached target, whose parts are then not read."""
    return {"known_id": target.id if target else 0, "known_definition": target.definition if target else 0}


def constant(text: str) -> ColumnElement[str]:
    """A constant as SQL text: a prepared statement has no parameters but the names."""
    return literal_column(f"'{text}'", String)


_DEFINITION = VERSIONS.c.VERSION - VERSIONS.c.TOLD_WRITES
_NO_INDEX: ColumnElement[int] = literal_column("0", BigInteger)


def _query() -> Select[Any]:
    tables = (
        TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        .outerjoin(SDS, SDS.c.SD_ID == TBLS.c.SD_ID)
        .outerjoin(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)
    )
    return (
        select(
            TBLS.c.TBL_ID, VERSIONS.c.VERSION, SDS.c.CD_ID, func.coalesce(_DEFINITION, _NO_INDEX).label("DEFINITION")
        )
        .select_from(tables)
        .where(DBS.c.NAME == bindparam("database"), DBS.c.CTLG_NAME == bindparam("catalog"))
        .where(TBLS.c.TBL_NAME == bindparam("table"))
    )


def _parts(
    table_id: ColumnElement[Any], columns_id: ColumnElement[Any], *before: ColumnElement[Any]
) -> list[Select[Any]]:
    """The queries for a target's parts: rows of kind, index, name and text, after the columns `before`."""
    c, k, p = COLUMNS_V2.c, PARTITION_KEYS.c, TABLE_PARAMS.c
    is_read = or_(*(p.PARAM_KEY == constant(key) for key in _PARAMETERS_READ))
    return [
        select(*before, constant(_COLUMN), c.INTEGER_IDX, c.COLUMN_NAME, c.TYPE_NAME).where(c.CD_ID == columns_id),
        select(*before, constant(_KEY), k.INTEGER_IDX, k.PKEY_NAME, k.PKEY_TYPE).where(k.TBL_ID == table_id),
        select(*before, constant(_PARAMETER), _NO_INDEX, p.PARAM_KEY, p.PARAM_VALUE).where(
            p.TBL_ID == table_id, is_read
        ),
        select(*before, constant(_SPARK_SCHEMA), _NO_INDEX, p.PARAM_KEY, p.PARAM_VALUE).where(
            p.TBL_ID == table_id, _has_stub(columns_id), _of_schema(p.PARAM_KEY)
        ),
    ]


def _has_stub(columns_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """The condition that the stored columns are Spark's stub; only then is its often long schema read."""
    c = COLUMNS_V2.alias("stub").c
    return exists().where(
        c.CD_ID == columns_id, c.COLUMN_NAME == constant(STUB_NAME), c.TYPE_NAME == constant(STUB_TYPE)
    )


def _of_schema(key: ColumnElement[str]) -> ColumnElement[bool]:
    start = func.substr(key, literal_column("1"), literal_column(str(len(SCHEMA))))
    return or_(key == constant(PROVIDER), key == constant(LOG_SCHEMA), start == constant(SCHEMA))


def _bound(name: str) -> ColumnElement[Any]:
    return bindparam(name, type_=BigInteger())


def _version(table_id: ColumnElement[Any]) -> Select[str, int, str, str]:
    """The query for the table's version and definition, in the columns of a part's name and text."""
    v = VERSIONS.c
    versions = (cast(v.VERSION, String), cast(_DEFINITION, String))
    return select(constant(_VERSION), _NO_INDEX, *versions).where(v.TBL_ID == table_id)


def _target_query() -> CompoundSelect[Any]:
    """The query for a table's parts, by name, after its id and version; at least one row if it exists."""
    t = _query().cte("t")
    return union_all(_table_row(t), *_parts(t.c.TBL_ID, t.c.CD_ID, t.c.TBL_ID, t.c.VERSION))


def target_query(more: Callable[[FromClause], Sequence[Select[Any]]] = lambda _: ()) -> CompoundSelect[Any]:
    """The query for a target for writers, which also tells whether frequent values exist.

    A single row if the target is as in `cached_parameters`. `more` makes queries for further rows of the same columns
    (id, version, kind, index, name, text), from the CTE of id and version.
    """
    t = _query().cte("t")
    is_new = or_(t.c.TBL_ID != _bound("known_id"), t.c.DEFINITION != _bound("known_definition"))
    new = select(t).where(is_new).cte("new")
    return union_all(
        _table_row(t),
        *_parts(new.c.TBL_ID, new.c.CD_ID, new.c.TBL_ID, new.c.VERSION),
        _without_top_k(new),
        *(rows(new.c.TBL_ID, new.c.TBL_ID, new.c.VERSION) for rows in _OF_WRITERS),
        *more(t),
    )


def _table_row(table: FromClause) -> Select[Any]:
    t = table.c
    return select(t.TBL_ID, t.VERSION, constant(_TABLE), _NO_INDEX, cast(t.DEFINITION, String), constant(""))


def _without_top_k(table: FromClause) -> Select[Any]:
    """The query for a row that exists if no frequent values are stored for the table or its partitions."""
    t = table.c
    any_stored = exists().where(HMSTATS_TOP_K.c.TBL_ID == t.TBL_ID)
    return select(t.TBL_ID, t.VERSION, constant(_NO_TOP_K), _NO_INDEX, constant(""), constant("")).where(~any_stored)


_OF_WRITERS = (statistics_locks.rows_of, preferences.holding_rows_of, pending.row_of)
"""The queries for what writers alone look at."""
_FACTS = _target_query()
_SINGLE = SingleRead(lambda _: _FACTS)
_LOCKED = SingleRead(lambda _: target_query())
LOCK = SingleRead(lambda _: _query().with_for_update(of=TBLS))
"""The query that locks a table's row, by name."""
_PARTS = SingleRead(
    lambda _: union_all(
        *_parts(_bound("table_id"), _bound("columns_id")),
        _version(_bound("table_id")),
        *(rows(_bound("table_id")) for rows in _OF_WRITERS),
    )
)


def _target(table_id: int, version: int, definition: int, parts: Sequence[Any]) -> TableFacts:
    kinds = (_TABLE, _COLUMN, _KEY, _PARAMETER, _SPARK_SCHEMA, _VERSION, _NO_TOP_K, preferences.KIND, pending.KIND)
    listed: dict[str, list[tuple[str, str]]] = {kind: [] for kind in kinds}
    locked = [part[1:] for part in parts if part[0] == statistics_locks.KIND]
    for kind, _, name, text in sorted(parts, key=itemgetter(1)):
        if kind != statistics_locks.KIND:
            listed[kind].append((name, text or ""))
    columns = tuple(Column(name, kind) for name, kind in listed[_COLUMN])
    keys = tuple(Column(name, kind) for name, kind in listed[_KEY])
    return TableFacts(
        table_id,
        version,
        spark_columns(columns, dict(listed[_SPARK_SCHEMA])),
        keys,
        dict(listed[_PARAMETER]),
        has_top_k=not listed[_NO_TOP_K],
        stored_columns=columns,
        locks=statistics_locks.parse_locks(table_id, locked) if locked else UNLOCKED,
        holding=preferences.holding(listed[preferences.KIND], has_pending=bool(listed[pending.KIND])),
        definition=definition,
    )
