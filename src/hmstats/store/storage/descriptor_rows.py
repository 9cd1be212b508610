"""Reads storages within a query of tables or partitions: their rows joined to its own, and then all their parts.

So any number of tables or partitions with all their parts is read in two statements; skewed values, which few
have, take three more.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    FromClause,
    Select,
    String,
    cast,
    literal,
    null,
    select,
    union_all,
)

from hmstats.model.catalog.objects import Column, SerDe, SkewedInfo, SortColumn, Storage
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
from hmstats.store.statements.value_sets import bound, one_of, one_of_bound

COLUMNS = (
    SDS.c.SERDE_ID,
    SDS.c.LOCATION,
    SDS.c.CD_ID,
    SDS.c.INPUT_FORMAT,
    SDS.c.OUTPUT_FORMAT,
    SDS.c.IS_COMPRESSED,
    SDS.c.NUM_BUCKETS,
    SDS.c.IS_STOREDASSUBDIRECTORIES,
    SERDES.c.NAME,
    SERDES.c.SLIB,
    SERDES.c.DESCRIPTION,
    SERDES.c.SERIALIZER_CLASS,
    SERDES.c.DESERIALIZER_CLASS,
    SERDES.c.SERDE_TYPE,
)
"""The columns of a storage that a query selects at its end; it must select the storage's id as SD_ID itself."""
_COLUMN_COUNT = len(COLUMNS)
_OF_FORMAT = _COLUMN_COUNT - 2
"""How many of them, the last, are of the storage's format: all but its serde's id and its location."""
_OF_SERDE = sum(column.table is SERDES for column in COLUMNS)
_SERDE_ID, _LOCATION, _COLUMNS_ID = (place - _COLUMN_COUNT for place in range(3))
"""The places in a joined row of a storage's serde, its location, and the descriptor of its columns."""
_COMPRESSED = 3
"""The place of IS_COMPRESSED in a format."""

Parts = dict[str, dict[int, list[tuple[str, str, str]]]]
"""Parts of rows, by kind and owner's id: three texts for each part, in the order of their indexes."""

_COLUMN, _BUCKET, _SORT, _SKEW, _PARAMETER, _SERDE = "column", "bucket", "sort", "skew", "parameter", "serde"
_NULL = cast(null(), String)
_NO_INDEX = literal(0)


def with_descriptor(source: FromClause, storage_id: Any) -> FromClause:
    """A query's tables joined with the storage of this id and its serde."""
    with_storage = source.outerjoin(SDS, SDS.c.SD_ID == storage_id)
    return with_storage.outerjoin(SERDES, SERDES.c.SERDE_ID == SDS.c.SERDE_ID)


class PartQuery(NamedTuple):
    """A query for parts of one kind, and the column with their owner's id."""

    query: Select[Any]
    owner: ColumnElement[Any]


def part_query(
    kind: str, owner: ColumnElement[Any], text: Any, *, index: Any = _NO_INDEX, second: Any = None, third: Any = None
) -> PartQuery:
    """The query for parts with up to three texts, in the order of `index`."""
    texts = (text, _NULL if second is None else second, _NULL if third is None else third)
    return PartQuery(select(literal(kind), owner, index, *texts), owner)


_C, _B, _S, _K = COLUMNS_V2.c, BUCKETING_COLS.c, SORT_COLS.c, SKEWED_COL_NAMES.c
_OF_COLUMNS = part_query(_COLUMN, _C.CD_ID, _C.COLUMN_NAME, index=_C.INTEGER_IDX, second=_C.TYPE_NAME, third=_C.COMMENT)
_OF_STORAGES = (
    part_query(_BUCKET, _B.SD_ID, _B.BUCKET_COL_NAME, index=_B.INTEGER_IDX),
    part_query(_SORT, _S.SD_ID, _S.COLUMN_NAME, index=_S.INTEGER_IDX, second=cast(_S.ORDER, String)),
    part_query(_SKEW, _K.SD_ID, _K.SKEWED_COL_NAME, index=_K.INTEGER_IDX),
    part_query(_PARAMETER, SD_PARAMS.c.SD_ID, SD_PARAMS.c.PARAM_KEY, second=SD_PARAMS.c.PARAM_VALUE),
)
_OF_SERDES = part_query(_SERDE, SERDE_PARAMS.c.SERDE_ID, SERDE_PARAMS.c.PARAM_KEY, second=SERDE_PARAMS.c.PARAM_VALUE)


def read_parts(
    connection: Connection,
    storage_ids: Iterable[int | None],
    rows: Sequence[Any],
    owners: Sequence[int] = (),
    own: tuple[PartQuery, ...] = (),
) -> Parts:
    """All parts of the storages of these rows, and the owners' own parts; one statement."""
    sent = {
        "storages": bound(connection, _ids(storage_ids)),
        "columns": bound(connection, _ids(map(itemgetter(_COLUMNS_ID), rows))),
        "serdes": bound(connection, _ids(map(itemgetter(_SERDE_ID), rows))),
    }
    if own:
        sent["owners"] = bound(connection, owners)
    parts: Parts = defaultdict(lambda: defaultdict(list))
    rows_of_parts = connection.execute(_parts_query(connection.dialect.name, own), sent).all()
    for kind, owner, _, first, second, third in sorted(rows_of_parts, key=itemgetter(2)):
        parts[kind][owner].append((first, second, third))
    return parts


@lru_cache(maxsize=20)
def _parts_query(dialect_name: str, own: tuple[PartQuery, ...]) -> CompoundSelect[Any]:
    """The statement for all parts; cached, since it takes long to build."""
    of = {"columns": (_OF_COLUMNS,), "storages": _OF_STORAGES, "serdes": (_OF_SERDES,), "owners": own}
    queries = [
        each.query.where(one_of_bound(dialect_name, each.owner, name)) for name, parts in of.items() for each in parts
    ]
    return union_all(*queries)


class Storages:
    """Builds storages from rows and their parts."""

    def __init__(self, connection: Connection, parts: Parts) -> None:
        self._parts = parts
        self._columns = {
            owner: tuple(Column(*each) for each in columns) for owner, columns in parts.get(_COLUMN, {}).items()
        }
        self._skewed = _read_skewed(connection, parts.get(_SKEW, {}))
        self._of_storages = [parts[kind] for kind in (_BUCKET, _SORT, _PARAMETER) if parts.get(kind)]
        self._of_serdes = parts.get(_SERDE, {})
        self._formats: dict[Any, Storage] = {}

    def of(self, owner: int | None, row: Sequence[Any]) -> Storage | None:
        """The storage with the id `owner` in a joined row; None if there is none."""
        form = self.format_of(owner, row)
        return None if form is None else replace(form, location=location_in(row))

    def format_of(self, owner: int | None, row: Sequence[Any]) -> Storage | None:
        """The storage without its location. Equal ones share an object, since most partitions have equal ones."""
        cells = row[-_OF_FORMAT:]
        if owner is None or cells[_COMPRESSED] is None:
            return None
        key = (cells, *self._of_serdes.get(row[_SERDE_ID], ()))
        if self._of_storages or self._skewed:
            key = (*key, *(tuple(parts.get(owner, ())) for parts in self._of_storages), owner in self._skewed and owner)
        form = self._formats.get(key)
        if form is None:
            form = self._formats[key] = self._format(owner, row)
        return form

    def _format(self, owner: int, row: Sequence[Any]) -> Storage:
        columns, reads, writes, compressed, buckets, in_folders, *_ = row[-_OF_FORMAT:]
        return Storage(
            columns=self._columns.get(columns, ()),
            input_format=reads,
            output_format=writes,
            compressed=compressed,
            buckets=buckets,
            serde=self._serde(row[_SERDE_ID], row[-_OF_SERDE:]),
            bucket_columns=tuple(name for name, _, _ in self._of(_BUCKET, owner)),
            sort_columns=tuple(SortColumn(name, int(order)) for name, order, _ in self._of(_SORT, owner)),
            parameters=pairs(self._parts, _PARAMETER, owner),
            skewed=self._skewed.get(owner),
            stored_as_subdirectories=in_folders,
        )

    def _serde(self, serde_id: int, cells: Sequence[Any]) -> SerDe:
        name, library, description, writer, reader, serde_type = cells
        return SerDe(
            name=name,
            library=library,
            parameters=pairs(self._parts, _SERDE, serde_id),
            description=description,
            serializer_class=writer,
            deserializer_class=reader,
            serde_type=serde_type or None,  # Hive writes 0 for none
        )

    def _of(self, kind: str, owner: int) -> Sequence[tuple[str, str, str]]:
        of_kind = self._parts.get(kind)
        return of_kind.get(owner, ()) if of_kind else ()


def location_in(row: Sequence[Any]) -> str | None:
    """The location in a joined row."""
    location: str | None = row[_LOCATION]
    return location


def pairs(parts: Parts, kind: str, owner: int | None) -> dict[str, str]:
    """The parameters of an owner, from parts."""
    of_kind = parts.get(kind)
    if not of_kind or owner is None:
        return {}
    return {key: value or "" for key, value, _ in of_kind.get(owner, ())}


def _ids(found: Iterable[int | None]) -> list[int]:
    return [each for each in dict.fromkeys(found) if each is not None]


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
