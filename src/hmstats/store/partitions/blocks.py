"""Blocks of a column's statistics in neighbouring partitions by id, of whatever content, and indexes of them.

An index says of which engine the statistics are and as of which version of the table; its blocks are those of its
build. A block has its members' ids. Partitions with statistics of several engines are no members.
"""

import secrets
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import (
    BigInteger,
    Connection,
    LargeBinary,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import BYTEA

from hmstats.store.schema import PART_COL_STATS, PARTITIONS
from hmstats.store.statements import copied_rows
from hmstats.store.statements.value_sets import bound, one_of, one_of_bound
from hmstats.store.unit.unit import Unit

Ids = npt.NDArray[np.int64]
"""Ids of partitions, ascending."""
Chosen = npt.NDArray[np.bool_]
"""Whether each member of a block is in a subset."""
_BLOCKS_AT_ONCE = 100
_RANDOM_BITS = 30
"""Random bits of a build's number, after its time."""
_ABANDONED_SECONDS = 3600
"""The age at which blocks without an index are those of a build that was interrupted."""


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
    """A block to store; `contents` are by the names of the table's columns."""

    members: Members
    contents: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class BlockTables:
    """The table of the indexes and the table of the blocks."""

    indexes: Table
    blocks: Table

    def find(self, connection: Connection, table_id: int, columns: Sequence[str]) -> dict[str, Index]:
        """The indexes of columns that have one, by column."""
        given = {"table_id": table_id, "columns": bound(connection, columns)}
        rows = connection.execute(_indexes(self, connection.dialect.name), given).cursor.fetchall()
        return {index.column: index for index in (Index(*row) for row in rows)}

    def members(self, connection: Connection, indexes: Sequence[Index]) -> dict[int, list[Members]]:
        """The blocks of some indexes of a table without their content, by build, each list ordered by id."""
        query = _blocks(self, "MEMBERS", connection.dialect.name)
        found: dict[int, list[Members]] = {each.build: [] for each in indexes}
        read: dict[bytes, Ids] = {}  # columns that were built together have equal members
        for build, low_id, data in copied_rows.rows(connection, query, _of(connection, indexes)):
            ids = read.get(data)
            if ids is None:
                ids = read[data] = np.cumsum(np.frombuffer(zlib.decompress(data), "<i8"))
            found[build].append(Members(low_id, ids))
        return {build: sorted(some, key=lambda each: each.low_id) for build, some in found.items()}

    def contents(
        self, connection: Connection, indexes: Sequence[Index], low_ids: Sequence[int], content: str
    ) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        """Batches of the blocks of some indexes of a table that have these keys, each with build, key and content."""
        query, size = _some_blocks(self, content, connection.dialect.name), max(1, _BLOCKS_AT_ONCE // len(indexes))
        for start in range(0, len(low_ids), size):
            some = bound(connection, low_ids[start : start + size])
            rows: Any = copied_rows.rows(connection, query, {**_of(connection, indexes), "low_ids": some})
            yield rows

    def add_blocks(self, unit: Unit, table_id: int, build: int, blocks: Sequence[NewBlock]) -> None:
        """Store blocks of a build."""
        rows = [
            {
                "TBL_ID": table_id,
                "BUILD": build,
                "LOW_ID": each.members.low_id,
                "MEMBERS": zlib.compress(np.diff(each.members.ids, prepend=0).astype("<i8").tobytes()),
                **each.contents,
            }
            for each in blocks
        ]
        if rows:
            unit.connection.execute(insert(self.blocks), rows)

    def put(self, unit: Unit, index: Index) -> None:
        """Store an index after its blocks, in the place of the column's last one; interrupted builds are removed."""
        indexes, blocks = self.indexes, self.blocks
        here = (indexes.c.TBL_ID == index.table_id, indexes.c.COLUMN_NAME == index.column)
        before = unit.connection.execute(select(indexes.c.BUILD).where(*here).with_for_update()).scalar_one_or_none()
        if before is None:
            row = {"TBL_ID": index.table_id, "COLUMN_NAME": index.column, "ENGINE": index.engine}
            unit.connection.execute(insert(indexes).values(**row, BUILD=index.build, VERSION=index.version))
        else:
            new = {"ENGINE": index.engine, "BUILD": index.build, "VERSION": index.version}
            unit.connection.execute(update(indexes).where(*here).values(**new))
        used = select(indexes.c.BUILD).where(indexes.c.TBL_ID == index.table_id)
        abandoned = blocks.c.BUILD < (int(time.time()) - _ABANDONED_SECONDS) << _RANDOM_BITS
        old = blocks.c.BUILD.not_in(used) & ((blocks.c.BUILD == before) | abandoned)
        unit.connection.execute(delete(blocks).where(blocks.c.TBL_ID == index.table_id, old))

    def replace_blocks(
        self, unit: Unit, index: Index, version: int, old: Collection[int], new: Sequence[NewBlock]
    ) -> bool:
        """Replace some blocks of an index, by their keys, which is then as of this version.

        Returns False, and changes nothing, if the index is no longer the given one.
        """
        indexes, blocks = self.indexes, self.blocks
        now = update(indexes).values(VERSION=version)
        mine = (indexes.c.TBL_ID == index.table_id) & (indexes.c.COLUMN_NAME == index.column)
        as_known = (indexes.c.BUILD == index.build) & (indexes.c.VERSION == index.version)
        if not unit.connection.execute(now.where(mine, as_known)).rowcount:
            return False
        here = (blocks.c.TBL_ID == index.table_id) & (blocks.c.BUILD == index.build)
        unit.connection.execute(delete(blocks).where(here, one_of(unit.connection, blocks.c.LOW_ID, [*old])))
        self.add_blocks(unit, index.table_id, index.build, new)
        return True


def new_build() -> int:
    """The number of a new build."""
    return int(time.time()) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)


def partition_ids(connection: Connection, table_id: int, names: Sequence[str] | None) -> Ids:
    """The ids of a table's partitions, of these names or (None) all."""
    given: dict[str, Any] = {"table_id": table_id}
    if names is not None:
        given["names"] = bound(connection, names)
    rows = connection.execute(_ids(connection.dialect.name, named=names is not None), given)
    if connection.dialect.name == "sqlite":
        return np.sort(np.array(rows.scalars().all(), np.int64))
    return np.sort(np.frombuffer(rows.scalar_one() or b"", ">i8").astype(np.int64))


def names_of(connection: Connection, ids: Ids) -> list[str]:
    """The names of partitions by their ids."""
    here = one_of(connection, PARTITIONS.c.PART_ID, ids.tolist())
    return [*connection.execute(select(PARTITIONS.c.PART_NAME).where(here)).scalars()]


def usual_engine(connection: Connection, table_id: int, column: str) -> str | None:
    """The engine of most of the partitions' statistics of a column, if there are any."""
    c = PART_COL_STATS.c
    query = select(c.ENGINE).join_from(PART_COL_STATS, PARTITIONS, PARTITIONS.c.PART_ID == c.PART_ID)
    query = query.where(PARTITIONS.c.TBL_ID == table_id, c.COLUMN_NAME == column)
    query = query.group_by(c.ENGINE).order_by(func.count().desc(), c.ENGINE)
    return connection.execute(query.limit(1)).scalar_one_or_none()


@lru_cache
def _ids(dialect_name: str, *, named: bool) -> Select[Any]:
    """The query for the ids of partitions, on PostgreSQL packed into one value."""
    query = select(PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == bindparam("table_id", type_=BigInteger()))
    if named:
        query = query.where(one_of_bound(dialect_name, PARTITIONS.c.PART_NAME, "names"))
    if dialect_name == "sqlite":
        return query
    sent = func.int8send(query.subquery().c.PART_ID)
    return select(func.string_agg(sent, literal(b"", BYTEA), type_=LargeBinary()))


@lru_cache
def _indexes(tables: BlockTables, dialect_name: str) -> Select[Any]:
    c = tables.indexes.c
    of_table = c.TBL_ID == bindparam("table_id", type_=BigInteger())
    in_order = (c.TBL_ID, c.COLUMN_NAME, c.ENGINE, c.BUILD, c.VERSION)  # as the fields of an Index
    return select(*in_order).where(of_table, one_of_bound(dialect_name, c.COLUMN_NAME, "columns"))


@lru_cache
def _some_blocks(tables: BlockTables, content: str, dialect_name: str) -> Select[Any]:
    query = _blocks(tables, content, dialect_name)
    return query.where(one_of_bound(dialect_name, tables.blocks.c.LOW_ID, "low_ids"))


@lru_cache
def _blocks(tables: BlockTables, content: str, dialect_name: str) -> Select[Any]:
    c = tables.blocks.c
    here = (c.TBL_ID == bindparam("table_id", type_=BigInteger()), one_of_bound(dialect_name, c.BUILD, "builds"))
    return select(c.BUILD, c.LOW_ID, c[content]).where(*here)


def _of(connection: Connection, indexes: Sequence[Index]) -> dict[str, Any]:
    return {"table_id": indexes[0].table_id, "builds": bound(connection, [each.build for each in indexes])}
