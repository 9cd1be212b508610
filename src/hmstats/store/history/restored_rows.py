"""Writes rows of the past again, with the values and the times that they had."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, null

from hmstats.model.catalog.objects import TableName
from hmstats.store.history.replaced_rows import CONTENT, HASHES_AT
from hmstats.store.history.steps import OF_TABLE, Key
from hmstats.store.history.stored_values import Content
from hmstats.store.schema import HMSTATS_COLUMN_PROVENANCE, HMSTATS_TOP_K, PART_COL_STATS, TAB_COL_STATS
from hmstats.store.statements.upserts import upsert_columns
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.ids import Sequence as IdSequence
from hmstats.store.unit.unit import Unit

_HASHED = ("BIT_VECTOR", "HISTOGRAM", "ITEMS")
_PLAIN = [name for name in CONTENT if name in TAB_COL_STATS.c]
_ROWS_AT_ONCE = 1_000


def write(
    unit: Unit,
    table_id: int,
    name: TableName,
    partitions: Mapping[int, str],
    rows: Mapping[Key, Content],
    sketches: Mapping[bytes, bytes],
) -> None:
    """Store rows of a table and its partitions (names by id) in place of what is stored of these columns."""
    for of_table in (True, False):
        keys = sorted(key for key in rows if (key.partition_id == OF_TABLE) == of_table)
        for start in range(0, len(keys), _ROWS_AT_ONCE):
            some = {key: rows[key] for key in keys[start : start + _ROWS_AT_ONCE]}
            _write(unit, table_id, name, None if of_table else partitions, some, sketches)


def remove(unit: Unit, table_id: int, keys: Iterable[Key]) -> None:
    """Delete stored statistics and their frequent values."""
    for (engine, names), owners in _group_by_columns(keys).items():
        _remove(unit, table_id, engine, names, owners)


def write_provenance(unit: Unit, table_id: int, rows: Mapping[Key, Content], owners: Sequence[int]) -> None:
    """Replace the provenance of these owners by that of all of their rows."""
    c, place = HMSTATS_COLUMN_PROVENANCE.c, CONTENT.index("PROVENANCE")
    here = c.TBL_ID == table_id, one_of(unit.connection, c.PART_ID, owners)
    unit.connection.execute(delete(HMSTATS_COLUMN_PROVENANCE).where(*here))
    texts: dict[tuple[int, str], list[str]] = {}
    wanted = set(owners)
    for key, content in rows.items():
        if key.partition_id in wanted and content[place] is not None:
            member = f"{json.dumps(key.column, ensure_ascii=False)}:{content[place]}"
            texts.setdefault((key.partition_id, key.engine), []).append(member)
    owners_with_text = sorted(texts)
    for start in range(0, len(owners_with_text), _ROWS_AT_ONCE):
        some = owners_with_text[start : start + _ROWS_AT_ONCE]
        columns: dict[str, Sequence[Any]] = {
            "TBL_ID": [table_id] * len(some),
            "PART_ID": [owner for owner, _ in some],
            "ENGINE": [engine for _, engine in some],
            "BY_COLUMN": [f"{{{','.join(texts[each])}}}" for each in some],
        }
        replaced = ["TBL_ID", "PART_ID", "ENGINE"]
        upsert_columns(unit, HMSTATS_COLUMN_PROVENANCE, replaced, columns, _replaced_provenance)


def _write(
    unit: Unit,
    table_id: int,
    name: TableName,
    partitions: Mapping[int, str] | None,
    rows: Mapping[Key, Content],
    sketches: Mapping[bytes, bytes],
) -> None:
    """Store rows of the table itself (`partitions` None), or of partitions."""
    stored, owner = (TAB_COL_STATS, "TBL_ID") if partitions is None else (PART_COL_STATS, "PART_ID")
    sequence = IdSequence.TABLE_STATISTICS if partitions is None else IdSequence.PARTITION_STATISTICS
    columns: dict[str, Sequence[Any]] = {
        "CS_ID": unit.ids(sequence, len(rows)),
        "CAT_NAME": [name.catalog] * len(rows),
        "DB_NAME": [name.database] * len(rows),
        "TABLE_NAME": [name.table] * len(rows),
        owner: [table_id if partitions is None else key.partition_id for key in rows],
        "ENGINE": [key.engine for key in rows],
        "COLUMN_NAME": [key.column for key in rows],
    }
    if partitions is not None:
        columns["PARTITION_NAME"] = [partitions[key.partition_id] for key in rows]
    values = list(rows.values())
    columns |= {each: [content[CONTENT.index(each)] for content in values] for each in _PLAIN}
    hashed = {each: [_sketch(sketches, c[HASHES_AT][place]) for c in values] for place, each in enumerate(_HASHED)}
    top_k = hashed.pop("ITEMS")
    upsert_columns(unit, stored, [owner, "COLUMN_NAME", "ENGINE"], columns | hashed, _replaced)
    _write_top_k(unit, table_id, list(rows), top_k)


def _replaced(_old: Any, new: Any) -> dict[str, Any]:
    return {each: new[each] if each in new else null() for each in (*_PLAIN, *_HASHED[:2])}


def _sketch(sketches: Mapping[bytes, bytes], hashed: bytes | None) -> bytes | None:
    return None if hashed is None else sketches[bytes(hashed)]


def _write_top_k(unit: Unit, table_id: int, keys: Sequence[Key], items: Sequence[bytes | None]) -> None:
    gone = [key for key, each in zip(keys, items, strict=True) if each is None]
    for (engine, names), owners in _group_by_columns(gone).items():
        _remove_top_k(unit, table_id, engine, names, owners)
    kept = [(key, each) for key, each in zip(keys, items, strict=True) if each is not None]
    if kept:
        columns: dict[str, Sequence[Any]] = {
            "TBL_ID": [table_id] * len(kept),
            "PART_ID": [key.partition_id for key, _ in kept],
            "COLUMN_NAME": [key.column for key, _ in kept],
            "ENGINE": [key.engine for key, _ in kept],
            "ITEMS": [each for _, each in kept],
        }
        upsert_columns(unit, HMSTATS_TOP_K, ["TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE"], columns, _replaced_items)


def _replaced_items(_old: Any, new: Any) -> dict[str, Any]:
    return {"ITEMS": new.ITEMS}


def _replaced_provenance(_old: Any, new: Any) -> dict[str, Any]:
    return {"BY_COLUMN": new.BY_COLUMN}


def _group_by_columns(keys: Iterable[Key]) -> dict[tuple[str, tuple[str, ...]], list[int]]:
    """Owners by the engine and the set of columns that they have among the keys."""
    groups: dict[tuple[int, str], list[str]] = {}
    for key in keys:
        groups.setdefault((key.partition_id, key.engine), []).append(key.column)
    owners_of: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for (owner, engine), columns in groups.items():
        owners_of.setdefault((engine, tuple(sorted(columns))), []).append(owner)
    return owners_of


def _remove(unit: Unit, table_id: int, engine: str, columns: Sequence[str], owners: Sequence[int]) -> None:
    partitions = [each for each in owners if each != OF_TABLE]
    for stored, c, ids in (
        (TAB_COL_STATS, TAB_COL_STATS.c.TBL_ID, [table_id] if OF_TABLE in owners else []),
        (PART_COL_STATS, PART_COL_STATS.c.PART_ID, partitions),
    ):
        if ids:
            here = one_of(unit.connection, c, ids), one_of(unit.connection, stored.c.COLUMN_NAME, columns)
            unit.connection.execute(delete(stored).where(*here, stored.c.ENGINE == engine))
    _remove_top_k(unit, table_id, engine, columns, owners)


def _remove_top_k(unit: Unit, table_id: int, engine: str, columns: Sequence[str], owners: Sequence[int]) -> None:
    c = HMSTATS_TOP_K.c
    here = c.TBL_ID == table_id, c.ENGINE == engine, one_of(unit.connection, c.PART_ID, owners)
    unit.connection.execute(delete(HMSTATS_TOP_K).where(*here, one_of(unit.connection, c.COLUMN_NAME, columns)))
