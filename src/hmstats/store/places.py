"""Where the tables and partitions of a drop lie."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, func, or_, select, union_all

from hmstats.store.schema import PARTITIONS, SDS, TBLS
from hmstats.store.sets import one_of

_OF_TABLE = SDS.alias("of_table")
_OF_PARTITION = SDS.alias("of_partition")
_TABLES = TBLS.join(_OF_TABLE, _OF_TABLE.c.SD_ID == TBLS.c.SD_ID)
_PARTITIONS = _TABLES.join(PARTITIONS, PARTITIONS.c.TBL_ID == TBLS.c.TBL_ID).join(
    _OF_PARTITION, _OF_PARTITION.c.SD_ID == PARTITIONS.c.SD_ID
)


def of_tables(connection: Connection, table_ids: Sequence[int], table_types: Collection[str | None]) -> list[str]:
    """The places of those tables that have one of the types, and of their partitions that lie outside of them."""
    here = one_of(connection, TBLS.c.TBL_ID, table_ids), TBLS.c.TBL_TYPE.in_(table_types)
    table, partition = _OF_TABLE.c.LOCATION, _OF_PARTITION.c.LOCATION
    outside = func.substr(partition, 1, func.length(table) + 1) != table + "/"
    query = union_all(
        select(table).select_from(_TABLES).where(*here, table.is_not(None)),
        select(partition).select_from(_PARTITIONS).where(*here, outside),
    )
    return list(connection.execute(query).scalars())


def holds_others(connection: Connection, root: str, table_ids: Sequence[int], table_types: Collection[str]) -> bool:
    """Whether any of the tables that has none of the types lies below the root, or has a partition there."""
    others = one_of(connection, TBLS.c.TBL_ID, table_ids), TBLS.c.TBL_TYPE.not_in(table_types)
    below = or_(_is_below(_OF_TABLE.c.LOCATION, root), _is_below(_OF_PARTITION.c.LOCATION, root))
    joined = _TABLES.outerjoin(PARTITIONS, PARTITIONS.c.TBL_ID == TBLS.c.TBL_ID).outerjoin(
        _OF_PARTITION, _OF_PARTITION.c.SD_ID == PARTITIONS.c.SD_ID
    )
    query = select(TBLS.c.TBL_ID).select_from(joined).where(*others, below).limit(1)
    return connection.execute(query).first() is not None


def _is_below(location: Any, root: str) -> Any:
    above = root.rstrip("/") + "/"
    return func.substr(location, 1, len(above)) == above
