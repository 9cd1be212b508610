"""Storage descriptors: SDS with its serde, columns, parameters, buckets, sort columns and skew.

A table and its partitions share one column descriptor (CDS) if their columns are the same, as in Hive. Storages are
written by column, queued together (queued.py), and read in two statements (descriptor_rows.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as replace_fields
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, CompoundSelect, Connection, Table, cast, exists, null, select, union_all

from hmstats.model.catalog.objects import Column, SerDe, SkewedInfo, Storage
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
from hmstats.store.statements import queued
from hmstats.store.statements.value_sets import bound, one_of, one_of_bound
from hmstats.store.storage import descriptor_rows, parameters
from hmstats.store.storage.parameters import OF_SERDES, OF_STORAGES
from hmstats.store.unit import ids
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_PART_COLUMNS = (SKEWED_COL_NAMES.c.SD_ID, SD_PARAMS.c.SD_ID, BUCKETING_COLS.c.SD_ID, SORT_COLS.c.SD_ID)
"""The columns with a storage's id in tables of its parts."""
_SKEW_COLUMNS = (SKEWED_VALUES.c.SD_ID_OID, SKEWED_COL_VALUE_LOC_MAP.c.SD_ID)
"""The columns with a storage's id in tables that refer to lists of skewed values."""
_COLUMNS_USED = exists().where(SDS.c.CD_ID == COLUMNS_V2.c.CD_ID)
_DESCRIPTOR_USED = exists().where(SDS.c.CD_ID == CDS.c.CD_ID)


def read_many(connection: Connection, storage_ids: Sequence[int]) -> dict[int, Storage]:
    """The storages by id."""
    query = select(SDS.c.SD_ID, *descriptor_rows.COLUMNS).outerjoin(SERDES, SERDES.c.SERDE_ID == SDS.c.SERDE_ID)
    rows = connection.execute(query.where(one_of(connection, SDS.c.SD_ID, storage_ids))).all()
    parts = descriptor_rows.read_parts(connection, [row.SD_ID for row in rows], rows)
    storages = descriptor_rows.Storages(parts, connection)
    return {row.SD_ID: storage for row in rows if (storage := storages.of(row.SD_ID, row)) is not None}


def insert_many(
    unit: Unit, storages: Sequence[Storage], share: tuple[int, Sequence[Column]] | None = None
) -> list[int]:
    """Insert storages. Returns their ids in order. `share` is the id and columns of a descriptor to reuse."""
    if not storages:
        return []
    storage_ids = unit.ids(ids.Sequence.STORAGE, len(storages))
    serde_ids = unit.ids(ids.Sequence.SERDE, len(storages))
    shared = {} if share is None else {tuple(share[1]): share[0]}
    lists = {id(storage.columns): storage.columns for storage in storages}  # mostly the same one, long to hash
    descriptors = _add_columns(unit, dict.fromkeys(lists.values()), shared)
    descriptor_of = {each: descriptors[columns] for each, columns in lists.items()}
    _add_serdes(unit, serde_ids, [storage.serde for storage in storages])
    columns: dict[str, Sequence[Any]] = {
        "SD_ID": storage_ids,
        "SERDE_ID": serde_ids,
        "CD_ID": [descriptor_of[id(storage.columns)] for storage in storages],
        "INPUT_FORMAT": [storage.input_format for storage in storages],
        "IS_COMPRESSED": [storage.compressed for storage in storages],
        "LOCATION": [storage.location for storage in storages],
        "NUM_BUCKETS": [storage.buckets for storage in storages],
        "OUTPUT_FORMAT": [storage.output_format for storage in storages],
        "IS_STOREDASSUBDIRECTORIES": [storage.stored_as_subdirectories for storage in storages],
    }
    queued.insert(unit, SDS, columns)
    _add_parts(unit, dict(zip(storage_ids, storages, strict=True)))
    return list(storage_ids)


def remove_many(unit: Unit, storage_ids: Sequence[int]) -> None:
    """Remove storages, and the column descriptors that are unused then."""
    remove_rows(unit, find_rows(unit.connection, storage_ids))


class StorageIds(NamedTuple):
    """Storages, the ids of their serdes and lists, and of column descriptors that may be theirs alone."""

    ids: Sequence[int]
    serdes: Sequence[int]
    descriptors: Sequence[int]
    lists: Sequence[int]


def find_rows(connection: Connection, storage_ids: Sequence[int]) -> StorageIds:
    """The rows that `remove_rows` has to remove; one statement."""
    if not storage_ids:
        return StorageIds((), (), (), ())
    sent = {"ids": bound(connection, storage_ids)}
    rows = connection.execute(_find_query(connection.dialect.name), sent).all()
    serdes, descriptors, lists = ([*dict.fromkeys(ids)] for ids in zip(*rows, strict=True)) if rows else ([], [], [])
    return StorageIds(
        storage_ids, *([each for each in ids if each is not None] for ids in (serdes, descriptors, lists))
    )


@lru_cache(maxsize=2)
def _find_query(dialect_name: str) -> CompoundSelect[Any]:
    """The query for ids of serdes, column descriptors and lists; cached, since it takes long to build."""
    v, m, none = SKEWED_VALUES.c, SKEWED_COL_VALUE_LOC_MAP.c, cast(null(), BigInteger)
    of_storage, of_value, of_location = (
        one_of_bound(dialect_name, column, "ids") for column in (SDS.c.SD_ID, v.SD_ID_OID, m.SD_ID)
    )
    return union_all(
        select(SDS.c.SERDE_ID, SDS.c.CD_ID, none).where(of_storage),
        select(none, none, v.STRING_LIST_ID_EID).where(of_value),
        select(none, none, m.STRING_LIST_ID_KID).where(of_location),
    ).execution_options(**PREPARED)


def remove_rows(unit: Unit, rows: StorageIds) -> None:
    """Remove storages with their parts, and column descriptors that are unused then."""
    if not rows.ids:
        return
    for column in (*_SKEW_COLUMNS, *_PART_COLUMNS) if rows.lists else _PART_COLUMNS:
        queued.delete(unit, column, rows.ids)
    for column in (SKEWED_STRING_LIST_VALUES.c.STRING_LIST_ID, SKEWED_STRING_LIST.c.STRING_LIST_ID):
        queued.delete(unit, column, rows.lists)
    queued.delete(unit, SDS.c.SD_ID, rows.ids)
    queued.delete(unit, SERDE_PARAMS.c.SERDE_ID, rows.serdes)
    queued.delete(unit, SERDES.c.SERDE_ID, rows.serdes)
    remove_columns(unit, rows.descriptors)


def remove_columns(unit: Unit, column_ids: Sequence[int]) -> None:
    """Remove those of the column descriptors that no storage uses."""
    queued.delete(unit, COLUMNS_V2.c.CD_ID, column_ids, unless=_COLUMNS_USED)
    queued.delete(unit, CDS.c.CD_ID, column_ids, unless=_DESCRIPTOR_USED)


def replace(unit: Unit, old_id: int | None, new: Storage | None) -> int | None:
    """Write a changed storage. Returns its new id, or the old one if nothing changed.

    The caller points its row to the new id and then removes the old storage.
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
    """Whether a write of the new storage would change nothing; a skew without columns counts as none."""
    if stored is None or new is None:
        return stored is new
    skewed = new.skewed if new.skewed and new.skewed.columns else None
    return stored == replace_fields(new, skewed=skewed)


def columns_id(connection: Connection, storage_id: int) -> int | None:
    """The id of the column descriptor that a storage uses."""
    return connection.execute(select(SDS.c.CD_ID).where(SDS.c.SD_ID == storage_id)).scalar_one_or_none()


def _add_columns(
    unit: Unit, wanted: Iterable[tuple[Column, ...]], shared: Mapping[tuple[Column, ...], int]
) -> dict[tuple[Column, ...], int]:
    """Insert missing column descriptors. Returns descriptor ids by list of columns, one for equal lists."""
    missing = [columns for columns in wanted if columns not in shared]
    descriptors = dict(zip(missing, unit.ids(ids.Sequence.COLUMNS, len(missing)), strict=True)) if missing else {}
    queued.insert(unit, CDS, {"CD_ID": list(descriptors.values())})
    each = [(owner, index, c) for columns, owner in descriptors.items() for index, c in enumerate(columns)]
    columns: dict[str, Sequence[Any]] = {
        "CD_ID": [owner for owner, _, _ in each],
        "COLUMN_NAME": [c.name for _, _, c in each],
        "TYPE_NAME": [c.type for _, _, c in each],
        "COMMENT": [c.comment for _, _, c in each],
        "INTEGER_IDX": [index for _, index, _ in each],
    }
    queued.insert(unit, COLUMNS_V2, columns)
    return {**shared, **descriptors}


def _add_serdes(unit: Unit, serde_ids: Sequence[int], serdes: Sequence[SerDe]) -> None:
    columns: dict[str, Sequence[Any]] = {
        "SERDE_ID": serde_ids,
        "NAME": [serde.name for serde in serdes],
        "SLIB": [serde.library for serde in serdes],
        "DESCRIPTION": [serde.description for serde in serdes],
        "SERIALIZER_CLASS": [serde.serializer_class for serde in serdes],
        "DESERIALIZER_CLASS": [serde.deserializer_class for serde in serdes],
        "SERDE_TYPE": [serde.serde_type for serde in serdes],
    }
    queued.insert(unit, SERDES, columns)
    parameters.add(unit, OF_SERDES, {each: serde.parameters for each, serde in zip(serde_ids, serdes, strict=True)})


def _add_parts(unit: Unit, storages: Mapping[int, Storage]) -> None:
    parameters.add(unit, OF_STORAGES, {each: storage.parameters for each, storage in storages.items()})
    buckets = [
        (each, name, index) for each, storage in storages.items() for index, name in enumerate(storage.bucket_columns)
    ]
    sorts = [
        (each, sort.column, sort.order, index)
        for each, storage in storages.items()
        for index, sort in enumerate(storage.sort_columns)
    ]
    _add_rows(unit, BUCKETING_COLS, ("SD_ID", "BUCKET_COL_NAME", "INTEGER_IDX"), buckets)
    _add_rows(unit, SORT_COLS, ("SD_ID", "COLUMN_NAME", "ORDER", "INTEGER_IDX"), sorts)
    skews = {each: storage.skewed for each, storage in storages.items()}
    _add_skew(unit, {each: skew for each, skew in skews.items() if skew and skew.columns})


def _add_skew(unit: Unit, skews: Mapping[int, SkewedInfo]) -> None:
    names = [(each, name, index) for each, skew in skews.items() for index, name in enumerate(skew.columns)]
    values = [(each, index, texts) for each, skew in skews.items() for index, texts in enumerate(skew.values)]
    locations = [(each, location, texts) for each, skew in skews.items() for texts, location in skew.locations.items()]
    list_ids = _list_ids(unit, len(values) + len(locations))
    lists = list(zip(list_ids, [row[2] for row in (*values, *locations)], strict=True))
    texts = [(each, text, index) for each, list_texts in lists for index, text in enumerate(list_texts)]
    of_values = [(owner, each, index) for (owner, index, _), (each, _) in zip(values, lists, strict=False)]
    of_places = [
        (owner, each, location) for (owner, location, _), (each, _) in zip(locations, lists[len(values) :], strict=True)
    ]
    _add_rows(unit, SKEWED_COL_NAMES, ("SD_ID", "SKEWED_COL_NAME", "INTEGER_IDX"), names)
    _add_rows(unit, SKEWED_STRING_LIST, ("STRING_LIST_ID",), [(each,) for each in list_ids])
    _add_rows(unit, SKEWED_STRING_LIST_VALUES, ("STRING_LIST_ID", "STRING_LIST_VALUE", "INTEGER_IDX"), texts)
    _add_rows(unit, SKEWED_VALUES, ("SD_ID_OID", "STRING_LIST_ID_EID", "INTEGER_IDX"), of_values)
    _add_rows(unit, SKEWED_COL_VALUE_LOC_MAP, ("SD_ID", "STRING_LIST_ID_KID", "LOCATION"), of_places)


def _add_rows(unit: Unit, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        queued.insert(unit, table, dict(zip(names, zip(*rows, strict=True), strict=True)))


def _list_ids(unit: Unit, count: int) -> range:
    return unit.ids(ids.Sequence.STRING_LIST, count) if count else range(0)
