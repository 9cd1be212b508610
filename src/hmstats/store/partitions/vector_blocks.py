"""HMSTATS_VECTOR_INDEX and HMSTATS_VECTOR_BLOCK: bit vectors of a column in blocks of neighbours by partition id.

An index says of which engine the vectors are and as of which version of the table; its blocks are those of its build.
A block has its members' ids, their merged vector, and the VectorBlock from which any of them are merged. Only
partitions with statistics of that engine alone are members.
"""

import secrets
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    LargeBinary,
    Select,
    Text,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import BYTEA

from hmstats.store.schema import HMSTATS_VECTOR_BLOCK as BLOCKS
from hmstats.store.schema import HMSTATS_VECTOR_INDEX as INDEXES
from hmstats.store.schema import PART_COL_STATS, PARTITIONS
from hmstats.store.statements import copied_rows
from hmstats.store.statements.value_sets import bound, one_of, one_of_bound
from hmstats.store.unit.unit import Unit

Ids = npt.NDArray[np.int64]
"""Ids of partitions, ascending."""
_BLOCKS_AT_ONCE = 100
_ABANDONED_SECONDS = 3600
"""The age at which blocks without an index are those of a build that was interrupted."""
_S = PART_COL_STATS.c
_NOT_ABSENT_BYTES = 2


@dataclass(frozen=True, slots=True)
class Index:
    """The blocks of a column; `build` begins with the time in epoch seconds, so that older builds are less."""

    table_id: int
    column: str
    engine: str
    build: int
    version: int


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """A block by its key, the id from which on it has members, and the ids of its members."""

    low_id: int
    ids: Ids


@dataclass(frozen=True, slots=True, eq=False)
class NewBlock:
    """A block to store."""

    members: Members
    merged: bytes
    listed: bytes


def new_build() -> int:
    """The number of a new build."""
    return int(time.time()) << 30 | secrets.randbits(30)


def find(connection: Connection, table_id: int, columns: Sequence[str]) -> dict[str, Index]:
    """The indexes of columns that have one, by column."""
    here = one_of(connection, INDEXES.c.COLUMN_NAME, columns)
    rows = connection.execute(select(INDEXES).where(INDEXES.c.TBL_ID == table_id, here))
    return {
        each.COLUMN_NAME: Index(each.TBL_ID, each.COLUMN_NAME, each.ENGINE, each.BUILD, each.VERSION) for each in rows
    }


def members(connection: Connection, index: Index) -> list[Members]:
    """All blocks of an index without their content, ordered by id."""
    rows = copied_rows.rows(connection, _blocks(BLOCKS.c.MEMBERS), _of(index))
    found = [Members(low, np.cumsum(np.frombuffer(zlib.decompress(data), "<i8"))) for low, data in rows]
    return sorted(found, key=lambda each: each.low_id)


def merged_vectors(connection: Connection, index: Index, low_ids: Sequence[int]) -> Iterator[Sequence[bytes]]:
    """Batches of the merged vectors of some blocks."""
    for rows in _contents(connection, index, low_ids, BLOCKS.c.MERGED):
        yield [data for _, data in rows]


def listed(connection: Connection, index: Index, low_ids: Sequence[int]) -> Iterator[Sequence[tuple[int, bytes]]]:
    """Batches of blocks, each with its key and the bytes of its VectorBlock."""
    return _contents(connection, index, low_ids, BLOCKS.c.LISTED)


def partition_ids(connection: Connection, table_id: int, names: Sequence[str] | None) -> Ids:
    """The ids of a table's partitions, of these names or (None) all."""
    query = select(PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == table_id)
    if names is not None:
        query = query.where(one_of_bound(connection.dialect.name, PARTITIONS.c.PART_NAME, "names"))
    given = {} if names is None else {"names": bound(connection, names)}
    if connection.dialect.name == "sqlite":
        return np.sort(np.array(connection.execute(query, given).scalars().all(), np.int64))
    ids = query.subquery()
    packed = select(func.string_agg(func.int8send(ids.c.PART_ID), literal(b"", BYTEA), type_=LargeBinary()))
    data = connection.execute(packed, given).scalar_one() or b""
    return np.sort(np.frombuffer(data, ">i8").astype(np.int64))


def names_of(connection: Connection, ids: Ids) -> list[str]:
    """The names of partitions by their ids."""
    here = one_of(connection, PARTITIONS.c.PART_ID, ids.tolist())
    return [*connection.execute(select(PARTITIONS.c.PART_NAME).where(here)).scalars()]


def first_engine(connection: Connection, table_id: int, column: str) -> str | None:
    """The engine of one of the partitions' statistics of a column, if there are any."""
    query = select(_S.ENGINE).join_from(PART_COL_STATS, PARTITIONS, PARTITIONS.c.PART_ID == _S.PART_ID)
    query = query.where(PARTITIONS.c.TBL_ID == table_id, _S.COLUMN_NAME == column)
    return connection.execute(query.limit(1)).scalar_one_or_none()


def vectors(connection: Connection, column: str, ids: Ids) -> list[tuple[int, str, bytes]]:
    """Id, engine and bit vector of these partitions, ordered by id; of those that have one, and no other statistics."""
    given = {"ids": bound(connection, ids.tolist()), "column": column}
    rows = copied_rows.rows(connection, _vectors(connection.dialect.name), given)
    count: dict[int, int] = {}
    for part_id, _, _ in rows:
        count[part_id] = count.get(part_id, 0) + 1
    found = [row for row in rows if count[row[0]] == 1 and row[2] and len(row[2]) > _NOT_ABSENT_BYTES]
    return sorted((part_id, engine, bytes(data)) for part_id, engine, data in found)


def add_blocks(unit: Unit, table_id: int, build: int, blocks: Sequence[NewBlock]) -> None:
    """Store blocks of a build."""
    rows = [
        {
            "TBL_ID": table_id,
            "BUILD": build,
            "LOW_ID": each.members.low_id,
            "MEMBERS": zlib.compress(np.diff(each.members.ids, prepend=0).astype("<i8").tobytes()),
            "MERGED": each.merged,
            "LISTED": each.listed,
        }
        for each in blocks
    ]
    if rows:
        unit.connection.execute(insert(BLOCKS), rows)


def put(unit: Unit, index: Index) -> None:
    """Store an index after its blocks, in the place of the column's last one; interrupted builds are removed."""
    here = (INDEXES.c.TBL_ID == index.table_id, INDEXES.c.COLUMN_NAME == index.column)
    before = unit.connection.execute(select(INDEXES.c.BUILD).where(*here).with_for_update()).scalar_one_or_none()
    if before is None:
        row = {"TBL_ID": index.table_id, "COLUMN_NAME": index.column, "ENGINE": index.engine}
        unit.connection.execute(insert(INDEXES).values(**row, BUILD=index.build, VERSION=index.version))
    else:
        new = {"ENGINE": index.engine, "BUILD": index.build, "VERSION": index.version}
        unit.connection.execute(update(INDEXES).where(*here).values(**new))
    used = select(INDEXES.c.BUILD).where(INDEXES.c.TBL_ID == index.table_id)
    abandoned = BLOCKS.c.BUILD < (int(time.time()) - _ABANDONED_SECONDS) << 30
    old = BLOCKS.c.BUILD.not_in(used) & ((BLOCKS.c.BUILD == before) | abandoned)
    unit.connection.execute(delete(BLOCKS).where(BLOCKS.c.TBL_ID == index.table_id, old))


def replace_blocks(unit: Unit, index: Index, version: int, old: Sequence[int], new: Sequence[NewBlock]) -> bool:
    """Replace some blocks of an index, by their keys, which is then as of this version.

    Returns False, and changes nothing, if the index is no longer the given one.
    """
    now = update(INDEXES).values(VERSION=version)
    mine = (INDEXES.c.TBL_ID == index.table_id) & (INDEXES.c.COLUMN_NAME == index.column)
    as_known = (INDEXES.c.BUILD == index.build) & (INDEXES.c.VERSION == index.version)
    if not unit.connection.execute(now.where(mine, as_known)).rowcount:
        return False
    here = (BLOCKS.c.TBL_ID == index.table_id) & (BLOCKS.c.BUILD == index.build)
    unit.connection.execute(delete(BLOCKS).where(here, one_of(unit.connection, BLOCKS.c.LOW_ID, old)))
    add_blocks(unit, index.table_id, index.build, new)
    return True


def _contents(
    connection: Connection, index: Index, low_ids: Sequence[int], content: Column[Any]
) -> Iterator[Sequence[Any]]:
    query = _some_blocks(content, connection.dialect.name)
    for start in range(0, len(low_ids), _BLOCKS_AT_ONCE):
        some = bound(connection, low_ids[start : start + _BLOCKS_AT_ONCE])
        yield copied_rows.rows(connection, query, {**_of(index), "low_ids": some})


@lru_cache
def _vectors(dialect_name: str) -> Select[Any]:
    named = _S.COLUMN_NAME == bindparam("column", type_=Text())
    return select(_S.PART_ID, _S.ENGINE, _S.BIT_VECTOR).where(one_of_bound(dialect_name, _S.PART_ID, "ids"), named)


@lru_cache
def _some_blocks(content: Column[Any], dialect_name: str) -> Select[Any]:
    return _blocks(content).where(one_of_bound(dialect_name, BLOCKS.c.LOW_ID, "low_ids"))


@lru_cache
def _blocks(content: Column[Any]) -> Select[Any]:
    table_id, build = (bindparam(name, type_=BigInteger()) for name in ("table_id", "build"))
    return select(BLOCKS.c.LOW_ID, content).where(BLOCKS.c.TBL_ID == table_id, BLOCKS.c.BUILD == build)


def _of(index: Index) -> dict[str, int]:
    return {"table_id": index.table_id, "build": index.build}
