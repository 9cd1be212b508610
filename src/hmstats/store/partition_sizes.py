"""What the partitions of tables come to in rows, files and bytes: sums of PARTITION_PARAMS, in one statement."""

from collections.abc import Sequence

from sqlalchemy import Connection, Float, and_, case, cast, func, select

from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.sets import one_of

KEYS = ("numFiles", "numRows", "rawDataSize", "totalSize")
_MOST_DIGITS = 18


def of_tables(connection: Connection, table_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Of each table the sum of each of KEYS for which every one of its partitions has a number."""
    p, every = PARTITION_PARAMS.c, PARTITIONS.alias("every")
    digits = and_(func.rtrim(p.PARAM_VALUE, "0123456789") == "", func.length(p.PARAM_VALUE).between(1, _MOST_DIGITS))
    # Doubles are exact to 9 * 10^15 and never too small for a sum.
    number = case((digits, cast(p.PARAM_VALUE, Float(53))))
    partitions = select(func.count()).where(every.c.TBL_ID == PARTITIONS.c.TBL_ID).scalar_subquery()
    query = (
        select(PARTITIONS.c.TBL_ID, p.PARAM_KEY, func.sum(number))
        .join_from(PARTITIONS, PARTITION_PARAMS, p.PART_ID == PARTITIONS.c.PART_ID)
        .where(one_of(connection, PARTITIONS.c.TBL_ID, table_ids), p.PARAM_KEY.in_(KEYS))
        .group_by(PARTITIONS.c.TBL_ID, p.PARAM_KEY)
        .having(func.count(number) == partitions)
    )
    found: dict[int, dict[str, int]] = {}
    for table_id, key, total in connection.execute(query):
        found.setdefault(table_id, {})[key] = int(total)
    return found
