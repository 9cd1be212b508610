"""HMSTATS_NUMBER_INDEX and HMSTATS_NUMBER_BLOCK: the numbers of a column's statistics in blocks (NumberBlock).

Its members are neighbours, with or without statistics of the column, except for those whose statistics are of another
type.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import Connection, Select, Text, bindparam, func, select

from hmstats.store.partitions.blocks import BlockTables, Ids
from hmstats.store.partitions.number_block import FIELDS, Row
from hmstats.store.schema import HMSTATS_NUMBER_BLOCK, HMSTATS_NUMBER_INDEX, PART_COL_STATS
from hmstats.store.statements.value_sets import bound, one_of_bound

TABLES = BlockTables(HMSTATS_NUMBER_INDEX, HMSTATS_NUMBER_BLOCK)
NUMBERS = "NUMBERS"
StoredRow: TypeAlias = tuple[str, str, Row]
"""An engine's statistics of a column in a partition: the engine, the type, and what a block keeps."""
_S = PART_COL_STATS.c
_NOT_ABSENT_BYTES = 2


def rows(connection: Connection, column: str, ids: Ids) -> Mapping[int, Sequence[StoredRow]]:
    """The statistics of a column by partition id: one for each engine."""
    given = {"ids": bound(connection, ids.tolist()), "column": column}
    found: dict[int, list[StoredRow]] = {}
    for part_id, engine, column_type, sketched, *numbers in connection.execute(_rows(connection.dialect.name), given):
        found.setdefault(part_id, []).append((engine, column_type, (bool(sketched), numbers)))
    return found


@lru_cache
def _rows(dialect_name: str) -> Select[Any]:
    named = _S.COLUMN_NAME == bindparam("column", type_=Text())
    sketched = func.coalesce(func.length(_S.BIT_VECTOR), 0) > _NOT_ABSENT_BYTES
    query = select(_S.PART_ID, _S.ENGINE, _S.COLUMN_TYPE, sketched, *(_S[name] for name in FIELDS))
    return query.where(one_of_bound(dialect_name, _S.PART_ID, "ids"), named)
