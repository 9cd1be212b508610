"""Health of statistics by table and partition, and how far the notification log has been followed for it."""

from sqlalchemy import Boolean, Column, Index, Integer, Table

from hmstats.store.schema.columns import METADATA, big, key, text

HMSTATS_HEALTH = Table(
    "HMSTATS_HEALTH",
    METADATA,
    key("TBL_ID"),
    key("PART_ID"),
    big("VERSION", required=True),
    Column("HEALTH", Integer, nullable=False),
    text("REASON", 16, required=True),
    big("NUM_ROWS"),
    big("NUM_FILES"),
    big("TOTAL_SIZE"),
    big("ROWS_THEN"),
    big("FILES_THEN"),
    big("SIZE_THEN"),
    big("MOVED_ROWS", required=True),
    Column("MARKED", Boolean, nullable=False),
    Column("NUM_COLUMNS", Integer, nullable=False),
    Column("ANALYZED_COLUMNS", Integer, nullable=False),
    big("ANALYZED_AT"),
    big("STALE_SINCE"),
    big("NUM_PARTITIONS"),
    big("STALE_PARTITIONS"),
    Index("HMSTATS_HEALTH_PART_ID", "PART_ID", "HEALTH", "TBL_ID"),
    comment="Health of statistics, 0 to 100; PART_ID 0: of the table. THEN: when they were made",
)
HMSTATS_HEALTH_PROGRESS = Table(
    "HMSTATS_HEALTH_PROGRESS",
    METADATA,
    key("ID"),
    big("EVENT_ID", required=True),
    big("WALKED_TO"),
    comment="One row: the last event that HMSTATS_HEALTH reflects; the last table of a walk through all tables",
)
