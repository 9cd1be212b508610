"""Reads storages within a query of tables or partitions: their rows joined to its own, and then all their parts.

So tables or partitions with all their parts are read in two statements, and one more for each further 20,000; skewed
values, which few have, take three more.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, String, cast, select

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
from hmstats.store.statements.value_sets import one_of
from hmstats.store.storage import parts as stored_parts
from hmstats.store.storage.parts import PartQuery, Parts

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
_C, _B, _S, _K = COLUMNS_V2.c, BUCKETING_COLS.c, SORT_COLS.c, SKEWED_COL_NAMES.c
_D, _E = SD_PARAMS.c, SERDE_PARAMS.c
_COLUMN, _BUCKET, _SORT, _SKEW, _PARAMETER, _SERDE = "column", "bucket", "sort", "skew", "parameter", "serde"
_PARTS = (
    PartQuery(_COLUMN, "columns", _C.CD_ID, _C.INTEGER_IDX, (_C.COLUMN_NAME, _C.TYPE_NAME, _C.COMMENT)),
    PartQuery(_BUCKET, "storages", _B.SD_ID, _B.INTEGER_IDX, (_B.BUCKET_COL_NAME,)),
    PartQuery(_SORT, "storages", _S.SD_ID, _S.INTEGER_IDX, (_S.COLUMN_NAME, cast(_S.ORDER, String))),
    PartQuery(_SKEW, "storages", _K.SD_ID, _K.INTEGER_IDX, (_K.SKEWED_COL_NAME,)),
    PartQuery(_PARAMETER, "storages", _D.SD_ID, None, (_D.PARAM_KEY, _D.PARAM_VALUE)),
    PartQuery(_SERDE, "serdes", _E.SERDE_ID, None, (_E.PARAM_KEY, _E.PARAM_VALUE)),
)
OWNERS = "owners"
"""The name, in a PartQuery, of the set of those that have the storages."""


def with_descriptor(source: FromClause, storage_id: Any) -> FromClause:
    """A query's tables joined with the storage of this id and its serde."""
    with_storage = source.outerjoin(SDS, SDS.c.SD_ID == storage_id)
    return with_storage.outerjoin(SERDES, SERDES.c.SERDE_ID == SDS.c.SERDE_ID)


def read_parts(
    connection: Connection,
    storage_ids: Iterable[int | None],
    rows: Sequence[Any],
    owners: Sequence[int] = (),
    own: tuple[PartQuery, ...] = (),
) -> Parts:
    """All parts of the storages of these rows, and the owners' own parts."""
    of = {
        "storages": storage_ids,
        "columns": map(itemgetter(_COLUMNS_ID), rows),
        "serdes": map(itemgetter(_SERDE_ID), rows),
        OWNERS: owners,
    }
    return stored_parts.read(connection, (*_PARTS, *own), of)


def columns_of_row(
    own: tuple[PartQuery, ...], owner: ColumnElement[Any], storage: ColumnElement[Any]
) -> list[ColumnElement[Any]]:
    """The columns of a query of PostgreSQL with the parts of its row's owner and storage, for `read_of_row`."""
    of = {"storages": storage, "columns": SDS.c.CD_ID, "serdes": SDS.c.SERDE_ID, OWNERS: owner}
    return stored_parts.parts_of_row((*_PARTS, *own), of)


def read_of_row(
    own: tuple[PartQuery, ...], owner: int, storage: int | None, row: Sequence[Any], cells: Sequence[str]
) -> Parts | None:
    """The parts in the cells that `columns_of_row` selected beside this row; None if they are not all, for a skew."""
    of = {"storages": storage, "columns": row[_COLUMNS_ID], "serdes": row[_SERDE_ID], OWNERS: owner}
    parts = stored_parts.read_of_row((*_PARTS, *own), of, cells)
    return None if parts.texts(_SKEW) else parts


class Storages:
    """Builds storages from rows and their parts; skewed ones take a connection, to read their values."""

    def __init__(self, parts: Parts, connection: Connection | None = None) -> None:
        self._columns = {
            owner: tuple(itertools.starmap(Column, columns)) for owner, columns in parts.rows(_COLUMN).items()
        }
        self._skewed = {} if connection is None else _read_skewed(connection, parts.texts(_SKEW))
        self._buckets = parts.texts(_BUCKET)
        self._sorts = parts.rows(_SORT)
        self._parameters = parts.pairs(_PARAMETER)
        self._of_serdes = parts.pairs(_SERDE)
        self._of_storages = [rows for kind in (_BUCKET, _SORT, _PARAMETER) if (rows := parts.rows(kind))]
        self._keys_of_serdes = parts.rows(_SERDE)

    def of(self, owner: int | None, row: Sequence[Any]) -> Storage | None:
        """The storage with the id `owner` in a joined row; None if there is none."""
        form = self.formats([owner], [row])[0]
        return None if form is None else replace(form, location=location_in(row))

    def formats(self, owners: Sequence[int | None], rows: Sequence[Sequence[Any]]) -> list[Storage | None]:
        """The storages of joined rows without their locations, None where there is none.

        Equal ones are one object, since most partitions have equal ones.
        """
        keys: list[Any] = [tuple(row[-_OF_FORMAT:]) for row in rows]
        if self._keys_of_serdes:
            keys = [(*key, self._keys_of_serdes.get(row[_SERDE_ID])) for key, row in zip(keys, rows, strict=True)]
        for parts in self._of_storages:
            keys = [(*key, parts.get(owner or 0)) for key, owner in zip(keys, owners, strict=True)]
        if self._skewed:
            keys = [(*key, owner in self._skewed and owner) for key, owner in zip(keys, owners, strict=True)]
        first = dict(zip(reversed(keys), zip(reversed(owners), reversed(rows), strict=True), strict=True))
        made = {key: self._format(owner, row) for key, (owner, row) in first.items()}
        return [made[key] for key in keys]

    def _format(self, owner: int | None, row: Sequence[Any]) -> Storage | None:
        columns, reads, writes, compressed, buckets, in_folders, *_ = row[-_OF_FORMAT:]
        if owner is None or compressed is None:
            return None
        return Storage(
            columns=self._columns.get(columns, ()),
            input_format=reads,
            output_format=writes,
            compressed=bool(compressed),
            buckets=buckets,
            serde=self._serde(row[_SERDE_ID], row[-_OF_SERDE:]),
            bucket_columns=self._buckets.get(owner, ()),
            sort_columns=tuple(SortColumn(name, int(order)) for name, order in self._sorts.get(owner, ())),
            parameters=self._parameters.get(owner) or {},
            skewed=self._skewed.get(owner),
            stored_as_subdirectories=bool(in_folders),
        )

    def _serde(self, serde_id: int, cells: Sequence[Any]) -> SerDe:
        name, library, description, writer, reader, serde_type = cells
        return SerDe(
            name=name,
            library=library,
            parameters=self._of_serdes.get(serde_id) or {},
            description=description,
            serializer_class=writer,
            deserializer_class=reader,
            serde_type=serde_type or None,  # Hive writes 0 for none
        )


def location_in(row: Sequence[Any]) -> str | None:
    """The location in a joined row."""
    location: str | None = row[_LOCATION]
    return location


def _read_skewed(connection: Connection, columns: dict[int, tuple[str, ...]]) -> dict[int, SkewedInfo]:
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
    return {owner: SkewedInfo(names, tuple(of_owner[owner]), placed[owner]) for owner, names in columns.items()}
