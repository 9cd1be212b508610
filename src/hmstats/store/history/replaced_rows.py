"""Statements that copy rows to the history before they are replaced; the rows never leave the database.

Each is one INSERT .. SELECT for all owners of a write, tables or partitions. Parameters: `ids` and `columns` as sets of
value_sets.py, `counted` the tables whose versions the unit has changed already.
"""

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    LargeBinary,
    Select,
    String,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB

from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.history.steps import OF_TABLE
from hmstats.store.schema import (
    DBS,
    HMSTATS_COLUMN_PROVENANCE,
    HMSTATS_HISTORY,
    HMSTATS_HISTORY_COLUMN,
    HMSTATS_HISTORY_PARAMETER,
    HMSTATS_HISTORY_SKETCH,
    HMSTATS_TABLE_VERSION,
    HMSTATS_TOP_K,
    PART_COL_STATS,
    PARTITION_PARAMS,
    PARTITIONS,
    TAB_COL_STATS,
    TABLE_PARAMS,
    TBLS,
)
from hmstats.store.statements.compiled_statements import CompiledStatement
from hmstats.store.statements.value_sets import one_of_bound
from hmstats.store.unit.version_guard import is_as_expected

_ZERO: ColumnElement[int] = literal_column("0")
_TABLE_ID: ColumnElement[int] = cast(bindparam("table_id", type_=BigInteger()), BigInteger)
_VALUES = tuple(
    each.name
    for each in HMSTATS_HISTORY_COLUMN.c
    if each.name in TAB_COL_STATS.c and each.name not in ("TBL_ID", "ENGINE", "COLUMN_NAME")
)
_HASHES = ("BIT_VECTOR_HASH", "HISTOGRAM_HASH", "TOP_K_HASH")
_SKETCHES = ("BIT_VECTOR", "HISTOGRAM", "ITEMS")
CONTENT = (*_VALUES, *_HASHES, "PROVENANCE")
"""The columns of a row of statistics beside its key."""
_KNOWN_TEXTS = (
    *("CAT_NAME", "DB_NAME", "TBL_NAME", "WRITER", "CALL_NAME", "KIND", "ENGINE", "COLUMN_NAMES", "PART_IDS"),
    *("STORED", "STORED_SKETCHES"),
)
"""The columns of a step of a known table that are texts."""
HASHES_AT = slice(len(_VALUES), len(_VALUES) + len(_HASHES))
"""Where the hashes of the bit vector, the histogram and the frequent values stand in CONTENT."""


class OwnerKind(Enum):
    """The kinds of owners of statistics and parameters."""

    TABLES = "tables"
    PARTITIONS = "partitions"


class RowSelection(NamedTuple):
    """The rows that a statement copies; those of some columns only, and of one engine only, if so asked."""

    of: OwnerKind
    columns: bool = False
    engine: bool = False
    expecting: bool = False
    whole_tables: bool = False
    """Whether ids are of tables although the rows are of partitions: those of all of their partitions."""
    known: bool = False
    """Whether the table is known: its id is the parameter `table_id`, its name `said_CAT_NAME` and so on."""
    top_k: bool = True
    """Whether the table may have frequent values."""


@lru_cache(maxsize=100)
def texts(shape: Shape, rows: tuple[Table, ...], selection: RowSelection) -> tuple[CompiledStatement, ...]:
    """PostgreSQL's statements that copy these rows, and note the step."""
    return tuple(CompiledStatement.of(shape, each) for each in _for_postgresql(rows, selection))


@lru_cache(maxsize=100)
def for_sqlite(rows: tuple[Table, ...], selection: RowSelection) -> Sequence[Any]:
    """SQLite's statements that copy these rows, and note the step."""
    found: list[Any] = []
    for table in rows:
        names, query = _source("sqlite", table, selection)
        if table is HMSTATS_HISTORY_COLUMN:
            old = query.subquery("old")
            found += (_kept_sketches("sqlite", old), _insert_columns(old))
        else:
            found.append(insert(table).from_select(names, query))
    return found


@lru_cache(maxsize=20)
def sketches_text(shape: Shape, of: OwnerKind, names: tuple[str, ...]) -> CompiledStatement:
    """PostgreSQL's statement that copies sketches of these kinds, of a known table that is as expected."""
    selection = RowSelection(of, columns=True, engine=True, expecting=True, known=True)
    stored: Any = TAB_COL_STATS if of is OwnerKind.TABLES else PART_COL_STATS
    table_id, owner, source = _owner(stored, selection)
    here = _are_wanted("postgresql", stored, _of_ids("postgresql", table_id, owner, selection), selection)
    each = [
        _guarded(select(table_id, func.sha256(stored.c[name]), stored.c[name]).select_from(source), selection).where(
            *here, stored.c[name].is_not(None)
        )
        for name in names
    ]
    return CompiledStatement.of(shape, _insert_sketches("postgresql", union_all(*each)))


@lru_cache(maxsize=4)
def stored_query(dialect_name: str, of: OwnerKind) -> Select[Any]:
    """The query for stored statistics, with the hashes of their sketches: partition, engine, column, and CONTENT."""
    rows = _columns(dialect_name, RowSelection(of, whole_tables=True)).subquery("stored").c
    return select(*(rows[name] for name in ("PART_ID", "ENGINE", "COLUMN_NAME", *CONTENT)))


@lru_cache(maxsize=4)
def stored_sketches(dialect_name: str, of: OwnerKind) -> Select[Any]:
    """The query for stored sketches of tables, or of partitions: the owner, three hashes, and the three sketches."""
    rows = _columns(dialect_name, RowSelection(of)).subquery("stored").c
    return select(rows.PART_ID, *(rows[name] for name in (*_HASHES, *_SKETCHES)))


def _for_postgresql(rows: tuple[Table, ...], selection: RowSelection) -> list[Any]:
    """One statement for rows of columns with their sketches and the step, so that all is planned and read once."""
    found: list[Any] = []
    step: Any = None
    for table in rows:
        names, query = _source("postgresql", table, selection)
        if table is HMSTATS_HISTORY and HMSTATS_HISTORY_COLUMN in rows:
            step = insert(table).from_select(names, query).cte("step")
        elif table is HMSTATS_HISTORY_COLUMN:
            old = query.cte("old")
            kept = _kept_sketches("postgresql", old).cte("kept")
            found.append(_insert_columns(old).add_cte(*([step] if step is not None else []), kept))
        else:
            found.append(insert(table).from_select(names, query))
    return found


def _insert_columns(old: Any) -> Any:
    names = [each.name for each in HMSTATS_HISTORY_COLUMN.c]
    return insert(HMSTATS_HISTORY_COLUMN).from_select(names, select(*(old.c[name] for name in names)))


def _kept_sketches(dialect_name: str, old: Any) -> Any:
    """The insert of the sketches that the history of their table does not have yet."""
    each = [
        select(old.c.TBL_ID, old.c[hashed], old.c[name]).where(old.c[hashed].is_not(None))
        for hashed, name in zip(_HASHES, _SKETCHES, strict=True)
    ]
    return _insert_sketches(dialect_name, union_all(*each))


def _insert_sketches(dialect_name: str, rows: Any) -> Any:
    """The insert of rows of table, hash and sketch, except for those that the history has."""
    dialect: Any = sqlite if dialect_name == "sqlite" else postgresql
    new = dialect.insert(HMSTATS_HISTORY_SKETCH).from_select(
        ["TBL_ID", "HASH", "BYTES"], select(rows.subquery("sketches")).where(true())
    )
    return new.on_conflict_do_nothing()


def _source(dialect_name: str, table: Table, selection: RowSelection) -> tuple[list[str], Select[Any]]:
    """The names and the query of the rows for a table of the history."""
    if table is HMSTATS_HISTORY:
        return _step(dialect_name, selection)
    if table is HMSTATS_HISTORY_COLUMN:
        return [], _columns(dialect_name, selection)
    if table is HMSTATS_HISTORY_PARAMETER:
        return [each.name for each in table.c], _parameters(dialect_name, selection)
    return [each.name for each in table.c], _partitions(dialect_name, selection)


def _step(dialect_name: str, selection: RowSelection) -> tuple[list[str], Select[Any]]:
    if selection.known:
        return _known_step(dialect_name, selection)
    sent = {
        "AT": cast(bindparam("at", type_=BigInteger()), BigInteger),
        "CAT_NAME": DBS.c.CTLG_NAME,
        "DB_NAME": DBS.c.NAME,
        "TBL_NAME": TBLS.c.TBL_NAME,
        **{
            name: _text_parameter(name)
            for name in ("WRITER", "CALL_NAME", "KIND", "ENGINE", "COLUMN_NAMES", "PART_IDS")
        },
        "CREATED": TBLS.c.CREATE_TIME,
    }
    query = select(TBLS.c.TBL_ID, _version(dialect_name, TBLS.c.TBL_ID), _step_number(), *sent.values())
    query = query.select_from(
        TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID).outerjoin(
            HMSTATS_TABLE_VERSION, HMSTATS_TABLE_VERSION.c.TBL_ID == TBLS.c.TBL_ID
        )
    )
    if selection.of is OwnerKind.TABLES or selection.whole_tables:
        query = query.where(one_of_bound(dialect_name, TBLS.c.TBL_ID, "ids"))
    else:
        here = one_of_bound(dialect_name, PARTITIONS.c.PART_ID, "ids")
        query = query.where(TBLS.c.TBL_ID.in_(select(PARTITIONS.c.TBL_ID).where(here)))
    return ["TBL_ID", "VERSION", "STEP", *sent], _guarded(query, selection)


def _known_step(dialect_name: str, selection: RowSelection) -> tuple[list[str], Select[Any]]:
    """The step of a write to a table that is known, so that nothing else is read."""
    numbers = [cast(bindparam(name, type_=BigInteger()), BigInteger) for name in ("at", "since")]
    texts = [_text_parameter(name) for name in _KNOWN_TEXTS]
    sent: list[ColumnElement[Any]] = [_TABLE_ID, _known_version(dialect_name), _step_number(), *numbers, *texts]
    return ["TBL_ID", "VERSION", "STEP", "AT", "SINCE", *_KNOWN_TEXTS], _guarded(select(*sent), selection)


def _columns(dialect_name: str, selection: RowSelection) -> Select[Any]:
    """The stored statistics with their sketches, and the hashes of these.

    What stands beside them is read by its whole key, a subquery for each row: of a table that has grown since the
    last ANALYZE the planner would join all rows with all.
    """
    stored: Any = TAB_COL_STATS if selection.of is OwnerKind.TABLES else PART_COL_STATS
    s, p, t = stored.c, HMSTATS_COLUMN_PROVENANCE.c, HMSTATS_TOP_K.c
    table_id, owner, source = _owner(stored, selection)

    def beside(c: Any) -> ColumnElement[bool]:
        return and_(c.TBL_ID == table_id, c.PART_ID == owner, c.ENGINE == s.ENGINE)

    items: Any = cast(null(), LargeBinary)
    if selection.top_k:
        items = select(t.ITEMS).where(beside(t), t.COLUMN_NAME == s.COLUMN_NAME).correlate_except(HMSTATS_TOP_K)
        items = items.scalar_subquery()
    made = _provenance_query(dialect_name, stored).where(beside(p)).correlate(stored, PARTITIONS).scalar_subquery()
    keys = _known_keys(dialect_name) if selection.known else _keys(dialect_name, table_id)
    rows = select(*keys, owner.label("PART_ID"), s.ENGINE, s.COLUMN_NAME, *(s[name] for name in _VALUES))
    rows = rows.add_columns(made.label("PROVENANCE"), s.BIT_VECTOR, s.HISTOGRAM, items.label("ITEMS"))
    of_ids = _of_ids(dialect_name, table_id, owner, selection)
    rows = rows.select_from(source).where(*_are_wanted(dialect_name, stored, of_ids, selection))
    found = _guarded(rows, selection).subquery("rows")
    hashes = (_hash(found.c[name]).label(hashed) for name, hashed in zip(_SKETCHES, _HASHES, strict=True))
    return select(found, *hashes)


def _are_wanted(
    dialect_name: str, stored: Any, of_ids: ColumnElement[bool], selection: RowSelection
) -> list[ColumnElement[bool]]:
    """The conditions for the selected rows of statistics."""
    conditions = [of_ids]
    if selection.columns:
        conditions.append(one_of_bound(dialect_name, stored.c.COLUMN_NAME, "columns"))
    if selection.engine:
        conditions.append(stored.c.ENGINE == _text_parameter("ENGINE"))
    return conditions


def _hash(sketch: ColumnElement[Any]) -> ColumnElement[Any]:
    """The SHA-256 of a sketch; NULL if there is none."""
    return case((sketch.is_not(None), func.sha256(sketch)))


def _provenance_query(dialect_name: str, stored: Any) -> Select[Any]:
    """The query for the text of a column's provenance, a member of its owner's object; no row if there is none."""
    by_column = HMSTATS_COLUMN_PROVENANCE.c.BY_COLUMN
    if dialect_name == "sqlite":
        members = func.json_each(by_column).table_valued("key", "value", name="made", joins_implicitly=True)
        source = select(members.c.value).select_from(HMSTATS_COLUMN_PROVENANCE, members)
        return source.where(members.c.key == stored.c.COLUMN_NAME)
    return select(cast(by_column.op("->", return_type=JSONB())(stored.c.COLUMN_NAME), Text))


def _parameters(dialect_name: str, selection: RowSelection) -> Select[Any]:
    stored: Any = TABLE_PARAMS if selection.of is OwnerKind.TABLES else PARTITION_PARAMS
    c = stored.c
    table_id, owner, source = _owner(stored, selection)
    query = select(*_keys(dialect_name, table_id), owner, c.PARAM_KEY, c.PARAM_VALUE).select_from(source)
    of_spark = c.PARAM_KEY.like(bindparam("of_spark", type_=String()))
    query = query.where(or_(one_of_bound(dialect_name, c.PARAM_KEY, "keys"), of_spark))
    return _guarded(query.where(_of_ids(dialect_name, table_id, owner, selection)), selection)


def _partitions(dialect_name: str, selection: RowSelection) -> Select[Any]:
    c = PARTITIONS.c
    source = PARTITIONS.outerjoin(HMSTATS_TABLE_VERSION, HMSTATS_TABLE_VERSION.c.TBL_ID == c.TBL_ID)
    query = select(*_keys(dialect_name, c.TBL_ID), c.PART_ID, c.PART_NAME, c.CREATE_TIME).select_from(source)
    return query.where(_of_ids(dialect_name, c.TBL_ID, c.PART_ID, selection))


def _owner(stored: Any, selection: RowSelection) -> tuple[Any, Any, Any]:
    """The SQL of the table's id and of the partition's, and the stored rows joined with the table's version."""
    versions = HMSTATS_TABLE_VERSION
    if selection.known:
        of_table = selection.of is OwnerKind.TABLES
        return _TABLE_ID, literal_column(str(OF_TABLE)) if of_table else stored.c.PART_ID, stored
    if selection.of is OwnerKind.TABLES:
        table_id = stored.c.TBL_ID
        source = stored.outerjoin(versions, versions.c.TBL_ID == table_id)
        return table_id, literal_column(str(OF_TABLE)), source
    table_id = PARTITIONS.c.TBL_ID
    source = stored.join(PARTITIONS, PARTITIONS.c.PART_ID == stored.c.PART_ID)
    return table_id, PARTITIONS.c.PART_ID, source.outerjoin(versions, versions.c.TBL_ID == table_id)


def _of_ids(dialect_name: str, table_id: Any, owner: Any, selection: RowSelection) -> ColumnElement[bool]:
    if selection.known and selection.of is OwnerKind.TABLES:
        return TAB_COL_STATS.c.TBL_ID == _TABLE_ID
    of_tables = selection.of is OwnerKind.TABLES or selection.whole_tables
    return one_of_bound(dialect_name, table_id if of_tables else owner, "ids")


def _keys(dialect_name: str, table_id: Any) -> tuple[Any, Any, Any]:
    return table_id.label("TBL_ID"), _version(dialect_name, table_id).label("VERSION"), _step_number().label("STEP")


def _known_keys(dialect_name: str) -> tuple[Any, Any, Any]:
    return _TABLE_ID.label("TBL_ID"), _known_version(dialect_name).label("VERSION"), _step_number().label("STEP")


def _known_version(dialect_name: str) -> ColumnElement[int]:
    """The version that the write makes, read once for all rows."""
    c = HMSTATS_TABLE_VERSION.c
    stored = select(c.VERSION).where(c.TBL_ID == _TABLE_ID).scalar_subquery()
    known = one_of_bound(dialect_name, _TABLE_ID, "counted")
    return func.coalesce(stored, _ZERO) + case((known, _ZERO), else_=literal_column("1"))


def _version(dialect_name: str, table_id: Any) -> ColumnElement[int]:
    """The version that the write makes: the next one, or the stored one if the unit has changed it already."""
    known = one_of_bound(dialect_name, table_id, "counted")
    return func.coalesce(HMSTATS_TABLE_VERSION.c.VERSION, _ZERO) + case((known, _ZERO), else_=literal_column("1"))


def _step_number() -> ColumnElement[int]:
    return cast(bindparam("step", type_=BigInteger()), BigInteger)


def _text_parameter(name: str) -> ColumnElement[Any]:
    return cast(bindparam(f"said_{name}", type_=Text()), Text)


def _guarded(query: Select[Any], selection: RowSelection) -> Select[Any]:
    return query.where(is_as_expected()) if selection.expecting else query
