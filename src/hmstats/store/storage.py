"""Storage descriptors: SDS with its serde, columns, parameters, buckets, sort columns and skew.

A table and its partitions share one column descriptor (CDS) as long as their columns are the same, as in Hive. Any
number of descriptors is read in two statements: one for the rows, one for everything that hangs on them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace as replace_fields
from typing import Any

from sqlalchemy import Connection, String, cast, delete, insert, literal, null, select, union_all

from hmstats.model.catalog import Column, SerDe, SkewedInfo, SortColumn, Storage
from hmstats.store import ids, parameters
from hmstats.store.parameters import OF_SERDES, OF_STORAGES
from hmstats.store.schema import (
    BUCKETING_COLS,
    CDS,
    COLUMNS_V2,
    SD_PARAMS,
    SDS,
    SERDE_PARAMS,
    SERDES,
    SKEWED_COL_NAMES,
    SKEWED_COL_VALUE_LOC_MAP,
    SKEWED_STRING_LIST,
    SKEWED_STRING_LIST_VALUES,
    SKEWED_VALUES,
    SORT_COLS,
)
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit

_SERDE_COLUMNS = [column for column in SERDES.c if column.name != "SERDE_ID"]
_Parts = dict[tuple[str, int], list[Any]]
"""What hangs on a row: (kind, owner's id) to its rows of (index, text, text, text) in index order."""


def read_many(connection: Connection, storage_ids: Sequence[int]) -> dict[int, Storage]:
    """The storages by id."""
    query = select(SDS, *_SERDE_COLUMNS).outerjoin(SERDES, SERDES.c.SERDE_ID == SDS.c.SERDE_ID)
    rows = connection.execute(query.where(one_of(connection, SDS.c.SD_ID, storage_ids))).all()
    parts = _read_parts(connection, rows)
    columns = {descriptor: _columns(parts, descriptor) for descriptor in {row.CD_ID for row in rows}}
    return {row.SD_ID: _storage(row, columns[row.CD_ID], parts) for row in rows}


def insert_many(
    unit: Unit, storages: Sequence[Storage], share: tuple[int, Sequence[Column]] | None = None
) -> list[int]:
    """Write new storages; their ids in order. `share`: a column descriptor's id and columns."""
    if not storages:
        return []
    storage_ids = unit.ids(ids.Sequence.STORAGE, len(storages))
    serde_ids = unit.ids(ids.Sequence.SERDE, len(storages))
    known = {} if share is None else {tuple(share[1]): share[0]}
    descriptors = _insert_columns(unit, [storage.columns for storage in storages], known)
    _insert_serdes(unit, dict(zip(serde_ids, (storage.serde for storage in storages), strict=True)))
    rows = [
        {"SD_ID": storage_id, "SERDE_ID": serde_id, "CD_ID": descriptors[storage.columns], **_row(storage)}
        for storage_id, serde_id, storage in zip(storage_ids, serde_ids, storages, strict=True)
    ]
    unit.connection.execute(insert(SDS), rows)
    _insert_parts(unit, dict(zip(storage_ids, storages, strict=True)))
    return list(storage_ids)


def remove_many(unit: Unit, storage_ids: Sequence[int]) -> None:
    """Remove storages, and the column descriptors that nothing uses any more."""
    if not storage_ids:
        return
    connection = unit.connection
    here = one_of(connection, SDS.c.SD_ID, storage_ids)
    rows = connection.execute(select(SDS.c.SERDE_ID, SDS.c.CD_ID).where(here)).all()
    _remove_skew(connection, storage_ids)
    for table in (SD_PARAMS, BUCKETING_COLS, SORT_COLS):
        connection.execute(delete(table).where(one_of(connection, table.c.SD_ID, storage_ids)))
    connection.execute(delete(SDS).where(here))
    serde_ids = [row.SERDE_ID for row in rows if row.SERDE_ID is not None]
    parameters.remove(unit, OF_SERDES, serde_ids)
    connection.execute(delete(SERDES).where(one_of(connection, SERDES.c.SERDE_ID, serde_ids)))
    remove_unused_columns(connection, sorted({row.CD_ID for row in rows if row.CD_ID is not None}))


def replace(unit: Unit, old_id: int | None, new: Storage | None) -> int | None:
    """The id under which a changed storage is written, which is the old one when nothing changed.

    The caller points its row at the new id and then removes the old storage, which until then is in use.
    """
    if new is None:
        return None
    old = read_many(unit.connection, [old_id]).get(old_id) if old_id is not None else None
    if old_id is not None and are_same(old, new):
        return old_id
    descriptor = columns_id(unit.connection, old_id) if old_id is not None else None
    share = (descriptor, old.columns) if old and descriptor is not None else None
    return insert_many(unit, [new], share)[0]


def are_same(stored: Storage | None, new: Storage | None) -> bool:
    """Whether writing the new storage would leave what is stored; a skew without columns is none."""
    if stored is None or new is None:
        return stored is new
    skewed = new.skewed if new.skewed and new.skewed.columns else None
    return stored == replace_fields(new, skewed=skewed)


def columns_id(connection: Connection, storage_id: int) -> int | None:
    """The column descriptor that a storage uses."""
    return connection.execute(select(SDS.c.CD_ID).where(SDS.c.SD_ID == storage_id)).scalar_one_or_none()


def _read_parts(connection: Connection, rows: Sequence[Any]) -> _Parts:
    storage_ids = [row.SD_ID for row in rows]
    column_ids = sorted({row.CD_ID for row in rows if row.CD_ID is not None})
    serde_ids = [row.SERDE_ID for row in rows if row.SERDE_ID is not None]
    nothing = cast(null(), String)
    zero = literal(0)
    c, b, s, k = COLUMNS_V2.c, BUCKETING_COLS.c, SORT_COLS.c, SKEWED_COL_NAMES.c
    queries = [
        select(literal("column"), c.CD_ID, c.INTEGER_IDX, c.COLUMN_NAME, c.TYPE_NAME, c.COMMENT).where(
            one_of(connection, c.CD_ID, column_ids)
        ),
        select(literal("bucket"), b.SD_ID, b.INTEGER_IDX, b.BUCKET_COL_NAME, nothing, nothing).where(
            one_of(connection, b.SD_ID, storage_ids)
        ),
        select(literal("sort"), s.SD_ID, s.INTEGER_IDX, s.COLUMN_NAME, cast(s.ORDER, String), nothing).where(
            one_of(connection, s.SD_ID, storage_ids)
        ),
        select(literal("skew"), k.SD_ID, k.INTEGER_IDX, k.SKEWED_COL_NAME, nothing, nothing).where(
            one_of(connection, k.SD_ID, storage_ids)
        ),
        select(
            literal("parameter"), SD_PARAMS.c.SD_ID, zero, SD_PARAMS.c.PARAM_KEY, SD_PARAMS.c.PARAM_VALUE, nothing
        ).where(one_of(connection, SD_PARAMS.c.SD_ID, storage_ids)),
        select(
            literal("serde"),
            SERDE_PARAMS.c.SERDE_ID,
            zero,
            SERDE_PARAMS.c.PARAM_KEY,
            SERDE_PARAMS.c.PARAM_VALUE,
            nothing,
        ).where(one_of(connection, SERDE_PARAMS.c.SERDE_ID, serde_ids)),
    ]
    parts: _Parts = defaultdict(list)
    for kind, owner, *part in sorted(connection.execute(union_all(*queries)), key=lambda row: row[2]):
        parts[kind, owner].append(part)
    _read_skew(connection, sorted(owner for kind, owner in parts if kind == "skew"), parts)
    return parts


def _read_skew(connection: Connection, storage_ids: Sequence[int], parts: _Parts) -> None:
    """Add the skewed values and their places, under `values` and `places`."""
    if not storage_ids:
        return
    v, m, t = SKEWED_VALUES.c, SKEWED_COL_VALUE_LOC_MAP.c, SKEWED_STRING_LIST_VALUES.c
    values = connection.execute(
        select(v.SD_ID_OID, v.STRING_LIST_ID_EID)
        .where(one_of(connection, v.SD_ID_OID, storage_ids))
        .order_by(v.INTEGER_IDX)
    ).all()
    places = connection.execute(
        select(m.SD_ID, m.STRING_LIST_ID_KID, m.LOCATION).where(one_of(connection, m.SD_ID, storage_ids))
    ).all()
    lists = [row[1] for row in (*values, *places)]
    texts: dict[int, list[str]] = {each: [] for each in lists}
    query = select(t.STRING_LIST_ID, t.STRING_LIST_VALUE).where(one_of(connection, t.STRING_LIST_ID, lists))
    for each, text in connection.execute(query.order_by(t.INTEGER_IDX)):
        texts[each].append(text)
    for owner, each in values:
        parts["values", owner].append(tuple(texts[each]))
    for owner, each, location in places:
        parts["places", owner].append((tuple(texts[each]), location))


def _storage(row: Any, columns: tuple[Column, ...], parts: _Parts) -> Storage:
    owner = row.SD_ID
    skewed = tuple(name for _, name, *_ in parts.get(("skew", owner), ()))
    serde = SerDe(
        name=row.NAME,
        library=row.SLIB,
        parameters=_pairs(parts, "serde", row.SERDE_ID),
        description=row.DESCRIPTION,
        serializer_class=row.SERIALIZER_CLASS,
        deserializer_class=row.DESERIALIZER_CLASS,
        serde_type=row.SERDE_TYPE,
    )
    return Storage(
        columns=columns,
        location=row.LOCATION,
        input_format=row.INPUT_FORMAT,
        output_format=row.OUTPUT_FORMAT,
        compressed=row.IS_COMPRESSED,
        buckets=row.NUM_BUCKETS,
        serde=serde,
        bucket_columns=tuple(name for _, name, *_ in parts.get(("bucket", owner), ())),
        sort_columns=tuple(SortColumn(name, int(order)) for _, name, order, _ in parts.get(("sort", owner), ())),
        parameters=_pairs(parts, "parameter", owner),
        skewed=SkewedInfo(skewed, tuple(parts["values", owner]), dict(parts["places", owner])) if skewed else None,
        stored_as_subdirectories=row.IS_STOREDASSUBDIRECTORIES,
    )


def _columns(parts: _Parts, owner: int | None) -> tuple[Column, ...]:
    return tuple(Column(name, kind, comment) for _, name, kind, comment in parts.get(("column", owner or 0), ()))


def _pairs(parts: _Parts, kind: str, owner: int | None) -> dict[str, str]:
    return {key: value or "" for _, key, value, _ in parts.get((kind, owner or 0), ())}


def _row(storage: Storage) -> dict[str, Any]:
    return {
        "INPUT_FORMAT": storage.input_format,
        "IS_COMPRESSED": storage.compressed,
        "LOCATION": storage.location,
        "NUM_BUCKETS": storage.buckets,
        "OUTPUT_FORMAT": storage.output_format,
        "IS_STOREDASSUBDIRECTORIES": storage.stored_as_subdirectories,
    }


def _insert_columns(
    unit: Unit, wanted: Sequence[tuple[Column, ...]], known: Mapping[tuple[Column, ...], int]
) -> dict[tuple[Column, ...], int]:
    """A column descriptor for each list of columns, one for all that have the same."""
    fresh = [columns for columns in dict.fromkeys(wanted) if columns not in known]
    descriptors = dict(zip(fresh, unit.ids(ids.Sequence.COLUMNS, len(fresh)), strict=True)) if fresh else {}
    if fresh:
        unit.connection.execute(insert(CDS), [{"CD_ID": each} for each in descriptors.values()])
    rows = [
        {"CD_ID": each, "COLUMN_NAME": c.name, "TYPE_NAME": c.type, "COMMENT": c.comment, "INTEGER_IDX": index}
        for columns, each in descriptors.items()
        for index, c in enumerate(columns)
    ]
    if rows:
        unit.connection.execute(insert(COLUMNS_V2), rows)
    return {**known, **descriptors}


def _insert_serdes(unit: Unit, serdes: Mapping[int, SerDe]) -> None:
    rows = [
        {
            "SERDE_ID": each,
            "NAME": serde.name,
            "SLIB": serde.library,
            "DESCRIPTION": serde.description,
            "SERIALIZER_CLASS": serde.serializer_class,
            "DESERIALIZER_CLASS": serde.deserializer_class,
            "SERDE_TYPE": serde.serde_type,
        }
        for each, serde in serdes.items()
    ]
    unit.connection.execute(insert(SERDES), rows)
    parameters.put(unit, OF_SERDES, {each: serde.parameters for each, serde in serdes.items()})


def _insert_parts(unit: Unit, storages: Mapping[int, Storage]) -> None:
    parameters.put(unit, OF_STORAGES, {each: storage.parameters for each, storage in storages.items()})
    buckets = [
        {"SD_ID": each, "BUCKET_COL_NAME": name, "INTEGER_IDX": index}
        for each, storage in storages.items()
        for index, name in enumerate(storage.bucket_columns)
    ]
    sorts = [
        {"SD_ID": each, "COLUMN_NAME": sort.column, "ORDER": sort.order, "INTEGER_IDX": index}
        for each, storage in storages.items()
        for index, sort in enumerate(storage.sort_columns)
    ]
    for table, rows in ((BUCKETING_COLS, buckets), (SORT_COLS, sorts)):
        if rows:
            unit.connection.execute(insert(table), rows)
    skews = {each: storage.skewed for each, storage in storages.items()}
    _insert_skew(unit, {each: skew for each, skew in skews.items() if skew and skew.columns})


def _insert_skew(unit: Unit, skews: Mapping[int, SkewedInfo]) -> None:
    names = [
        {"SD_ID": each, "SKEWED_COL_NAME": name, "INTEGER_IDX": index}
        for each, skew in skews.items()
        for index, name in enumerate(skew.columns)
    ]
    if not names:
        return
    values = [(each, index, texts) for each, skew in skews.items() for index, texts in enumerate(skew.values)]
    places = [(each, location, texts) for each, skew in skews.items() for texts, location in skew.locations.items()]
    lists = list(zip(_list_ids(unit, len(values) + len(places)), [row[2] for row in (*values, *places)], strict=True))
    texts = [
        {"STRING_LIST_ID": each, "STRING_LIST_VALUE": text, "INTEGER_IDX": index}
        for each, found in lists
        for index, text in enumerate(found)
    ]
    value_rows = [
        {"SD_ID_OID": owner, "STRING_LIST_ID_EID": each, "INTEGER_IDX": index}
        for (owner, index, _), (each, _) in zip(values, lists, strict=False)
    ]
    place_rows = [
        {"SD_ID": owner, "STRING_LIST_ID_KID": each, "LOCATION": location}
        for (owner, location, _), (each, _) in zip(places, lists[len(values) :], strict=True)
    ]
    filled = (
        (SKEWED_COL_NAMES, names),
        (SKEWED_STRING_LIST, [{"STRING_LIST_ID": each} for each, _ in lists]),
        (SKEWED_STRING_LIST_VALUES, texts),
        (SKEWED_VALUES, value_rows),
        (SKEWED_COL_VALUE_LOC_MAP, place_rows),
    )
    for table, rows in filled:
        if rows:
            unit.connection.execute(insert(table), rows)


def _list_ids(unit: Unit, count: int) -> range:
    return unit.ids(ids.Sequence.STRING_LIST, count) if count else range(0)


def _remove_skew(connection: Connection, storage_ids: Sequence[int]) -> None:
    v, m = SKEWED_VALUES.c, SKEWED_COL_VALUE_LOC_MAP.c
    here = one_of(connection, v.SD_ID_OID, storage_ids), one_of(connection, m.SD_ID, storage_ids)
    query = union_all(select(v.STRING_LIST_ID_EID).where(here[0]), select(m.STRING_LIST_ID_KID).where(here[1]))
    lists = list(connection.execute(query).scalars())
    names = one_of(connection, SKEWED_COL_NAMES.c.SD_ID, storage_ids)
    connection.execute(delete(SKEWED_COL_NAMES).where(names))
    if not lists:
        return
    connection.execute(delete(SKEWED_VALUES).where(here[0]))
    connection.execute(delete(SKEWED_COL_VALUE_LOC_MAP).where(here[1]))
    for table in (SKEWED_STRING_LIST_VALUES, SKEWED_STRING_LIST):
        connection.execute(delete(table).where(one_of(connection, table.c.STRING_LIST_ID, lists)))


def remove_unused_columns(connection: Connection, column_ids: Sequence[int]) -> None:
    """Remove those of the column descriptors that no storage uses."""
    used = select(SDS.c.CD_ID).where(one_of(connection, SDS.c.CD_ID, column_ids)).group_by(SDS.c.CD_ID)
    in_use = set(connection.execute(used).scalars())
    unused = [each for each in column_ids if each not in in_use]
    if not unused:
        return
    for table in (COLUMNS_V2, CDS):
        connection.execute(delete(table).where(one_of(connection, table.c.CD_ID, unused)))
