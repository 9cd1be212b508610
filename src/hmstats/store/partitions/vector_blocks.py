"""HMSTATS_VECTOR_INDEX and HMSTATS_VECTOR_BLOCK: bit vectors of a column in blocks.

A block has the members' merged vector, and the VectorBlock from which any of them are merged.
"""

from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, Text, bindparam, select

from hmstats.store.partitions.blocks import BlockTables, Ids
from hmstats.store.schema import HMSTATS_VECTOR_BLOCK, HMSTATS_VECTOR_INDEX, PART_COL_STATS
from hmstats.store.statements import copied_rows
from hmstats.store.statements.value_sets import bound, one_of_bound

TABLES = BlockTables(HMSTATS_VECTOR_INDEX, HMSTATS_VECTOR_BLOCK)
MERGED, LISTED = "MERGED", "LISTED"
_S = PART_COL_STATS.c
_NOT_ABSENT_BYTES = 2


def vectors(connection: Connection, column: str, ids: Ids) -> list[tuple[int, str, bytes]]:
    """Id, engine and bit vector of these partitions, ordered by id; of those that have one, and no other statistics."""
    given = {"ids": bound(connection, ids.tolist()), "column": column}
    rows = copied_rows.rows(connection, _vectors(connection.dialect.name), given)
    count: dict[int, int] = {}
    for part_id, _, _ in rows:
        count[part_id] = count.get(part_id, 0) + 1
    found = [row for row in rows if count[row[0]] == 1 and row[2] and len(row[2]) > _NOT_ABSENT_BYTES]
    return sorted((part_id, engine, bytes(data)) for part_id, engine, data in found)


@lru_cache
def _vectors(dialect_name: str) -> Select[Any]:
    named = _S.COLUMN_NAME == bindparam("column", type_=Text())
    return select(_S.PART_ID, _S.ENGINE, _S.BIT_VECTOR).where(one_of_bound(dialect_name, _S.PART_ID, "ids"), named)
