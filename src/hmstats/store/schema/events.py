"""Marks of events that clients set on partitions."""

from sqlalchemy import Column, Index, Integer, Table

from hmstats.store.schema.columns import METADATA, big, key, text

PARTITION_EVENTS = Table(
    "PARTITION_EVENTS",
    METADATA,
    key("PART_NAME_ID"),
    text("CAT_NAME", 256),
    text("DB_NAME", 128),
    big("EVENT_TIME", required=True),
    Column("EVENT_TYPE", Integer, nullable=False),
    text("PARTITION_NAME", 767),
    text("TBL_NAME", 256),
    Index("PARTITIONEVENTINDEX", "PARTITION_NAME"),
)
