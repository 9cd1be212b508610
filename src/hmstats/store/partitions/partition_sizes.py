"""Sums of rows, files and bytes of tables' partitions, from PARTITION_PARAMS.

A large table's partitions are summed in blocks of neighbouring ids, so that after a change of some partitions only
their blocks are summed again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Connection,
    Engine,
    Float,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    null,
    select,
    union_all,
)

from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.statements.single_read import OneOf, SingleRead
from hmstats.store.statements.value_sets import one_of

KEYS = ("numFiles", "numRows", "rawDataSize", "totalSize")
BLOCK_IDS = 1_000
"""Partition ids in a block; some of them may belong to other tables."""
_ONE, _MOST_DIGITS = literal_column("1", BigInteger), literal_column("18", BigInteger)
_DIGITS, _NONE = literal_column("'0123456789'", String), literal_column("''", String)
_ONE_OF_KEYS = [literal_column(f"'{key}'", String) for key in KEYS]

_P, _V = PARTITIONS.c, PARTITION_PARAMS.c
# Doubles are exact to 9 * 10^15 and never too small for a sum.
_NUMBER = case(
    (
        and_(
            func.rtrim(_V.PARAM_VALUE, _DIGITS) == _NONE,
            func.length(_V.PARAM_VALUE).between(_ONE, _MOST_DIGITS),
        ),
        cast(_V.PARAM_VALUE, Float(53)),
    )
)
_BLOCK = _P.PART_ID // bindparam("block_ids", type_=BigInteger)
_OF_TABLE = bindparam("table_id", type_=BigInteger) == _P.TBL_ID


class Block(NamedTuple):
    """The sums of a table's partitions in a block: their number and, by key, the sum and the number with the key."""

    partitions: int
    sums: Mapping[str, tuple[int, int]]


class VersionedBlocks(NamedTuple):
    """The blocks of all partitions of a table, by block number, and the table's version."""

    version: int
    blocks: Mapping[int, Block]


def of_tables(connection: Connection, table_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """By table id, the sum of each of KEYS for which every partition has a number; one statement."""
    every = PARTITIONS.alias("every")
    partitions = select(func.count()).where(every.c.TBL_ID == _P.TBL_ID).scalar_subquery()
    query = (
        _sum_query(_P.TBL_ID)
        .where(one_of(connection, _P.TBL_ID, table_ids), _V.PARAM_KEY.in_(_ONE_OF_KEYS))
        .group_by(_P.TBL_ID, _V.PARAM_KEY)
        .having(func.count(_NUMBER) == partitions)
    )
    sums: dict[int, dict[str, int]] = {}
    for table_id, key, total, _ in connection.execute(query):
        sums.setdefault(table_id, {})[key] = int(total)
    return sums


def read_alone(engine: Engine, table_id: int) -> VersionedBlocks | None:
    """The blocks of all of a table's partitions in one statement without a transaction.

    None if the table does not exist, on a Hive's database, and if the database does not answer.
    """
    rows = _ALONE.rows(engine, {"table_id": table_id, "block_ids": BLOCK_IDS}) or ()
    version = next((count for block, _, _, count in rows if block is None), None)
    if version is None:
        return None
    return VersionedBlocks(version, _blocks(row for row in rows if row[0] is not None))


def blocks(connection: Connection, table_id: int, wanted: Collection[int] | None = None) -> dict[int, Block]:
    """The blocks of a table's partitions by block number, of these numbers (None: of all); one statement."""
    parts = _parts_query()
    if wanted is not None:
        parts = [query.where(one_of(connection, _BLOCK, sorted(wanted))) for query in parts]
    return _blocks(connection.execute(union_all(*parts), {"table_id": table_id, "block_ids": BLOCK_IDS}))


def _parts_query() -> list[Select[Any]]:
    """Queries for rows of block, key, sum and number with the key; a row without a key has the number of partitions."""
    counted = select(_BLOCK, cast(null(), String), cast(null(), Float(53)), func.count())
    summed = _sum_query(_BLOCK).where(_V.PARAM_KEY.in_(_ONE_OF_KEYS))
    return [counted.where(_OF_TABLE).group_by(_BLOCK), summed.where(_OF_TABLE).group_by(_BLOCK, _V.PARAM_KEY)]


def _alone(_: OneOf) -> CompoundSelect[Any]:
    version = select(cast(null(), BigInteger), cast(null(), String), cast(null(), Float(53)), VERSIONS.c.VERSION)
    return union_all(version.where(bindparam("table_id", type_=BigInteger) == VERSIONS.c.TBL_ID), *_parts_query())


def _blocks(rows: Iterable[Sequence[Any]]) -> dict[int, Block]:
    partitions: dict[int, int] = {}
    sums: defaultdict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for block, key, total, count in rows:
        if key is None:
            partitions[block] = count
        else:
            sums[block][key] = int(total or 0), count
    return {block: Block(count, sums[block]) for block, count in partitions.items()}


def blocks_of(connection: Connection, table_id: int, names: Collection[str]) -> dict[str, int]:
    """The block numbers of partitions by name; missing partitions are skipped."""
    query = select(_P.PART_NAME, _BLOCK).where(_OF_TABLE, one_of(connection, _P.PART_NAME, sorted(names)))
    return dict(connection.execute(query, {"table_id": table_id, "block_ids": BLOCK_IDS}).all())


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


_ALONE = SingleRead(_alone)
