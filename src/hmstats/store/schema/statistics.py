"""Column statistics of tables and of partitions."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Double, Index, LargeBinary, Table

from hmstats.store.schema.columns import METADATA, MORE_ROOM, big, key, text


def _statistics_columns() -> Sequence[Column[Any]]:
    """The columns common to TAB_COL_STATS and PART_COL_STATS, in Hive's order."""
    return (
        big("LONG_LOW_VALUE"),
        big("LONG_HIGH_VALUE"),
        Column("DOUBLE_LOW_VALUE", Double),
        Column("DOUBLE_HIGH_VALUE", Double),
        text("BIG_DECIMAL_LOW_VALUE", 4000),
        text("BIG_DECIMAL_HIGH_VALUE", 4000),
        big("NUM_NULLS", required=True),
        big("NUM_DISTINCTS"),
        Column("BIT_VECTOR", LargeBinary),
        Column("AVG_COL_LEN", Double),
        big("MAX_COL_LEN"),
        big("NUM_TRUES"),
        big("NUM_FALSES"),
        big("LAST_ANALYZED", required=True),
        text("ENGINE", 128, required=True),
        Column("HISTOGRAM", LargeBinary),
    )


TAB_COL_STATS = Table(
    "TAB_COL_STATS",
    METADATA,
    key("CS_ID"),
    text("CAT_NAME", 256),
    text("DB_NAME", 128),
    text("TABLE_NAME", 256),
    text("COLUMN_NAME", 767),
    text("COLUMN_TYPE", 128),
    big("TBL_ID", required=True, refers="TBLS.TBL_ID", called="TAB_COL_STATS_fkey"),
    *_statistics_columns(),
    Index("TAB_COL_STATS_IDX", "DB_NAME", "TABLE_NAME", "COLUMN_NAME", "CAT_NAME"),
    Index("TAB_COL_STATS_N49", "TBL_ID"),
    Index("HMSTATS_TAB_COL_STATS_UNIQUE", "TBL_ID", "COLUMN_NAME", "ENGINE", unique=True),
    **MORE_ROOM,
)
PART_COL_STATS = Table(
    "PART_COL_STATS",
    METADATA,
    key("CS_ID"),
    text("CAT_NAME", 256),
    text("DB_NAME", 128),
    text("TABLE_NAME", 256),
    text("PARTITION_NAME", 767),
    text("COLUMN_NAME", 767),
    text("COLUMN_TYPE", 128),
    big("PART_ID", required=True, refers="PARTITIONS.PART_ID", called="PART_COL_STATS_fkey"),
    *_statistics_columns(),
    Index("PCS_STATS_IDX", "DB_NAME", "TABLE_NAME", "COLUMN_NAME", "PARTITION_NAME", "CAT_NAME"),
    Index("PART_COL_STATS_N49", "PART_ID"),
    Index("HMSTATS_PART_COL_STATS_UNIQUE", "PART_ID", "COLUMN_NAME", "ENGINE", unique=True),
    **MORE_ROOM,
)
