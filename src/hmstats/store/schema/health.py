"""Health of statistics by table and partition, how far the notification log has been followed for it, refreshes, and
blame.
"""

from sqlalchemy import Boolean, Column, Double, Index, Integer, Table

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
HMSTATS_RUN = Table(
    "HMSTATS_RUN",
    METADATA,
    key("RUN_ID", 64),
    big("TBL_ID", required=True),
    text("CAT_NAME", 256, required=True),
    text("DB_NAME", 128, required=True),
    text("TBL_NAME", 256, required=True),
    text("RUNNER", 256, required=True),
    big("STARTED_AT", required=True),
    big("ENDED_AT"),
    text("OUTCOME", 16, required=True),
    text("REASON"),
    text("PART_NAMES", required=True),
    text("WHY", required=True),
    big("NUM_ROWS"),
    big("NUM_BYTES"),
    Column("SECONDS", Double),
    Index("HMSTATS_RUN_STARTED_AT", "STARTED_AT"),
    comment="Refreshes of statistics; PART_NAMES (none: the table) and WHY, the terms of the score, are JSON",
)
HMSTATS_RUN_LEASE = Table(
    "HMSTATS_RUN_LEASE",
    METADATA,
    key("TBL_ID"),
    text("RUN_ID", 64),
    big("UNTIL", required=True),
    Column("FAILURES", Integer, nullable=False),
    big("RETRY_AT"),
    comment="Which run refreshes a table, until when; how often in a row that failed, and when it is tried again",
)
HMSTATS_BLAME = Table(
    "HMSTATS_BLAME",
    METADATA,
    key("BLAME_ID", 64),
    text("CAT_NAME", 256, required=True),
    text("DB_NAME", 128, required=True),
    text("TBL_NAME", 256, required=True),
    text("COLUMN_NAME", 767),
    text("USED_FOR", 16, required=True),
    text("VERDICT", 16, required=True),
    text("ENGINE", 128, required=True),
    text("SHAPE", 64, required=True),
    big("SEEN_AT", required=True),
    Column("ESTIMATED", Double),
    big("NUM_ROWS", required=True),
    Column("FACTOR", Double, nullable=False),
    Column("WEIGHT", Double, nullable=False),
    Index("HMSTATS_BLAME_SEEN_AT", "SEEN_AT"),
    comment="Tables and columns that were to blame for wrong estimates of queries, each shape of query once a day",
)
