"""Sums of rows, files and bytes of tables' partitions, from PARTITION_PARAMS.

A large table's partitions are summed in blocks of neighbouring ids, so that after a change of some partitions only
their blocks are summed again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Float, and_, case, cast, func, select

from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.statements.value_sets import one_of

KEYS = ("numFiles", "numRows", "rawDataSize", "totalSize")
BLOCK_IDS = 1_000
"""Partition ids in a block; some of them may belong to other tables."""
_MOST_DIGITS = 18

_P, _V = PARTITIONS.c, PARTITION_PARAMS.c
# Doubles are exact to 9 * 10^15 and never too small for a sum.
_NUMBER = case(
    (
        and_(func.rtrim(_V.PARAM_VALUE, "0123456789") == "", func.length(_V.PARAM_VALUE).between(1, _MOST_DIGITS)),
        cast(_V.PARAM_VALUE, Float(53)),
    )
)
_BLOCK = _P.PART_ID // BLOCK_IDS


class Block(NamedTuple):
    """The sums of a table's partitions in a block: their number and, by key, the sum and the number with the key."""

    partitions: int
    sums: Mapping[str, tuple[int, int]]


def of_tables(connection: Connection, table_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """By table id, the sum of each of KEYS for which every partition has a number; one statement."""
    every = PARTITIONS.alias("every")
    partitions = select(func.count()).where(every.c.TBL_ID == _P.TBL_ID).scalar_subquery()
    query = (
        _sum_query(_P.TBL_ID)
        .where(one_of(connection, _P.TBL_ID, table_ids), _V.PARAM_KEY.in_(KEYS))
        .group_by(_P.TBL_ID, _V.PARAM_KEY)
        .having(func.count(_NUMBER) == partitions)
    )
    sums: dict[int, dict[str, int]] = {}
    for table_id, key, total, _ in connection.execute(query):
        sums.setdefault(table_id, {})[key] = int(total)
    return sums


def blocks(connection: Connection, table_id: int, wanted: Collection[int] | None = None) -> dict[int, Block]:
    """The blocks of a table's partitions by block number, of these numbers (None: of all); two statements."""
    counted = select(_BLOCK, func.count()).where(_P.TBL_ID == table_id).group_by(_BLOCK)
    summed = _sum_query(_BLOCK).where(_P.TBL_ID == table_id, _V.PARAM_KEY.in_(KEYS)).group_by(_BLOCK, _V.PARAM_KEY)
    if wanted is not None:
        counted, summed = (query.where(one_of(connection, _BLOCK, sorted(wanted))) for query in (counted, summed))
    sums: defaultdict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for block, key, total, having in connection.execute(summed):
        sums[block][key] = int(total or 0), having
    return {block: Block(partitions, sums[block]) for block, partitions in connection.execute(counted)}


def blocks_of(connection: Connection, table_id: int, names: Collection[str]) -> dict[str, int]:
    """The block numbers of partitions by name; missing partitions are skipped."""
    query = select(_P.PART_NAME, _BLOCK).where(_P.TBL_ID == table_id, one_of(connection, _P.PART_NAME, sorted(names)))
    return dict(connection.execute(query).all())


def total(blocks: Iterable[Block]) -> dict[str, int]:
    """The sum over blocks of each of KEYS for which every partition has a number."""
    listed = [*blocks]
    partitions = sum(block.partitions for block in listed)
    sums = {key: [block.sums.get(key, (0, 0)) for block in listed] for key in KEYS}
    having = {key: sum(count for _, count in each) for key, each in sums.items()}
    return {key: sum(each for each, _ in sums[key]) for key in KEYS if partitions and having[key] == partitions}


def _sum_query(group: ColumnElement[Any]) -> Any:
    sums = select(group, _V.PARAM_KEY, func.sum(_NUMBER), func.count(_NUMBER))
    return sums.join_from(PARTITIONS, PARTITION_PARAMS, _V.PART_ID == _P.PART_ID)
