"""Storages as a query of tables or partitions reads them: their rows joined to its own, and then all their parts.

So any number of tables or partitions, with all that hangs on them, is read in two statements; skewed values, which few
have, take three more.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, FromClause, Select, String, cast, literal, null, select, union_all

from hmstats.model.catalog import Column, SerDe, SkewedInfo, SortColumn, Storage
from hmstats.store.schema import (
    BUCKETING_COLS,
    COLUMNS_V2,
    SD_PARAMS,
    SDS,
    SERDE_PARAMS,
    SERDES,
    SKEWED_COL_NAMES,
    SKEWED_COL_VALUE_LOC_MAP,
    SKEWED_STRING_LIST_VALUES,
    SKEWED_VALUES,
    SORT_COLS,
)
from hmstats.store.sets import one_of

COLUMNS = (
    *(column for column in SDS.c if column.name != "SD_ID"),
    *(column for column in SERDES.c if column.name != "SERDE_ID"),
)
"""What a query selects of a storage; a row has its id as SD_ID, which is the query's own to select."""

Parts = dict[str, dict[int, list[tuple[str, str, str]]]]
"""What hangs on rows: kind, and the owner's id, to three texts for each, in the order of their indexes."""

_COLUMN, _BUCKET, _SORT, _SKEW, _PARAMETER, _SERDE = "column", "bucket", "sort", "skew", "parameter", "serde"
_NOTHING = cast(null(), String)
_FIRST = literal(0)


def joined(source: FromClause, storage_id: Any) -> FromClause:
    """A query's tables, with the storage of this id."""
    with_storage = source.outerjoin(SDS, SDS.c.SD_ID == storage_id)
    return with_storage.outerjoin(SERDES, SERDES.c.SERDE_ID == SDS.c.SERDE_ID)


def part(
    kind: str, owner: Any, text: Any, *, index: Any = _FIRST, second: Any = None, third: Any = None
) -> Select[Any]:
    """A query for parts of one kind, without its condition; `read_parts` takes those that rows have of their own."""
    texts = (text, _NOTHING if second is None else second, _NOTHING if third is None else third)
    return select(literal(kind), owner, index, *texts)


def read_parts(connection: Connection, rows: Sequence[Any], *own: Select[Any]) -> Parts:
    """All that hangs on the storages of these rows, and what the queries `own` find."""
    storage_ids, column_ids, serde_ids = (_ids(rows, name) for name in ("SD_ID", "CD_ID", "SERDE_ID"))
    c, b, s, k, p, d = (
        table.c for table in (COLUMNS_V2, BUCKETING_COLS, SORT_COLS, SKEWED_COL_NAMES, SD_PARAMS, SERDE_PARAMS)
    )
    queries = (
        part(_COLUMN, c.CD_ID, c.COLUMN_NAME, index=c.INTEGER_IDX, second=c.TYPE_NAME, third=c.COMMENT).where(
            one_of(connection, c.CD_ID, column_ids)
        ),
        part(_BUCKET, b.SD_ID, b.BUCKET_COL_NAME, index=b.INTEGER_IDX).where(one_of(connection, b.SD_ID, storage_ids)),
        part(_SORT, s.SD_ID, s.COLUMN_NAME, index=s.INTEGER_IDX, second=cast(s.ORDER, String)).where(
            one_of(connection, s.SD_ID, storage_ids)
        ),
        part(_SKEW, k.SD_ID, k.SKEWED_COL_NAME, index=k.INTEGER_IDX).where(one_of(connection, k.SD_ID, storage_ids)),
        part(_PARAMETER, p.SD_ID, p.PARAM_KEY, second=p.PARAM_VALUE).where(one_of(connection, p.SD_ID, storage_ids)),
        part(_SERDE, d.SERDE_ID, d.PARAM_KEY, second=d.PARAM_VALUE).where(one_of(connection, d.SERDE_ID, serde_ids)),
    )
    parts: Parts = {}
    for kind, owner, _, *texts in sorted(connection.execute(union_all(*queries, *own)), key=itemgetter(2)):
        parts.setdefault(kind, {}).setdefault(owner, []).append(tuple(texts))
    return parts


class Storages:
    """The storages of rows."""

    def __init__(self, connection: Connection, parts: Parts) -> None:
        self._parts = parts
        self._columns = {
            owner: tuple(Column(*each) for each in columns) for owner, columns in parts.get(_COLUMN, {}).items()
        }
        self._skewed = _read_skewed(connection, parts.get(_SKEW, {}))

    def of(self, row: Any) -> Storage | None:
        """The storage that a row was joined with."""
        owner = row.SD_ID
        if owner is None or row.IS_COMPRESSED is None:
            return None
        return Storage(
            columns=self._columns.get(row.CD_ID, ()),
            location=row.LOCATION,
            input_format=row.INPUT_FORMAT,
            output_format=row.OUTPUT_FORMAT,
            compressed=row.IS_COMPRESSED,
            buckets=row.NUM_BUCKETS,
            serde=self._serde(row),
            bucket_columns=tuple(name for name, _, _ in self._of(_BUCKET, owner)),
            sort_columns=tuple(SortColumn(name, int(order)) for name, order, _ in self._of(_SORT, owner)),
            parameters=pairs(self._parts, _PARAMETER, owner),
            skewed=self._skewed.get(owner),
            stored_as_subdirectories=row.IS_STOREDASSUBDIRECTORIES,
        )

    def _serde(self, row: Any) -> SerDe:
        return SerDe(
            name=row.NAME,
            library=row.SLIB,
            parameters=pairs(self._parts, _SERDE, row.SERDE_ID),
            description=row.DESCRIPTION,
            serializer_class=row.SERIALIZER_CLASS,
            deserializer_class=row.DESERIALIZER_CLASS,
            serde_type=row.SERDE_TYPE,
        )

    def _of(self, kind: str, owner: int) -> Sequence[tuple[str, str, str]]:
        of_kind = self._parts.get(kind)
        return of_kind.get(owner, ()) if of_kind else ()


def pairs(parts: Parts, kind: str, owner: int | None) -> dict[str, str]:
    """Parameters that were read as parts."""
    of_kind = parts.get(kind)
    if not of_kind or owner is None:
        return {}
    return {key: value or "" for key, value, _ in of_kind.get(owner, ())}


def _ids(rows: Sequence[Any], name: str) -> list[int]:
    return [*dict.fromkeys(each for row in rows if (each := getattr(row, name)) is not None)]


def _read_skewed(connection: Connection, columns: dict[int, list[tuple[str, str, str]]]) -> dict[int, SkewedInfo]:
    """The skew of the storages that have skewed columns."""
    if not columns:
        return {}
    v, m, t = SKEWED_VALUES.c, SKEWED_COL_VALUE_LOC_MAP.c, SKEWED_STRING_LIST_VALUES.c
    of_values = select(v.SD_ID_OID, v.STRING_LIST_ID_EID).where(one_of(connection, v.SD_ID_OID, list(columns)))
    of_places = select(m.SD_ID, m.STRING_LIST_ID_KID, m.LOCATION).where(one_of(connection, m.SD_ID, list(columns)))
    values = connection.execute(of_values.order_by(v.INTEGER_IDX)).all()
    places = connection.execute(of_places).all()
    lists = [row[1] for row in (*values, *places)]
    texts: dict[int, list[str]] = {each: [] for each in lists}
    query = select(t.STRING_LIST_ID, t.STRING_LIST_VALUE).where(one_of(connection, t.STRING_LIST_ID, lists))
    for each, text in connection.execute(query.order_by(t.INTEGER_IDX)):
        texts[each].append(text)
    of_owner: dict[int, list[tuple[str, ...]]] = {owner: [] for owner in columns}
    placed: dict[int, dict[tuple[str, ...], str]] = {owner: {} for owner in columns}
    for owner, each in values:
        of_owner[owner].append(tuple(texts[each]))
    for owner, each, location in places:
        placed[owner][tuple(texts[each])] = location
    return {
        owner: SkewedInfo(tuple(name for name, _, _ in names), tuple(of_owner[owner]), placed[owner])
        for owner, names in columns.items()
    }
