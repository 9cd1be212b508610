"""Our own tables for a gateway: what is known of another metastore's tables."""

from sqlalchemy import Index, Table

from hmstats.store.schema.columns import METADATA, ROOM, big, key, text

HMSTATS_MIRROR = Table(
    "HMSTATS_MIRROR",
    METADATA,
    key("TBL_ID"),
    big("UPSTREAM_ID"),
    big("SENT_VERSION", required=True),
    big("CLAIMED_UNTIL", required=True),
    Index("HMSTATS_MIRROR_UPSTREAM_ID", "UPSTREAM_ID"),
    comment="Tables whose catalog is another metastore's: their id there, and the version whose statistics it has",
    **ROOM,
)
HMSTATS_MIRROR_SEEN = Table(
    "HMSTATS_MIRROR_SEEN",
    METADATA,
    key("TBL_ID"),
    key("PART_ID"),
    key("ENGINE", 128),
    text("BY_COLUMN", required=True),
    Index("HMSTATS_MIRROR_SEEN_PART_ID", "PART_ID"),
    comment="What the other metastore last said of each column's statistics, and ours that agreed: digests in JSON",
    **ROOM,
)
HMSTATS_MIRROR_CALL = Table(
    "HMSTATS_MIRROR_CALL",
    METADATA,
    key("ID", 32),
    text("CAT_NAME", 256, required=True),
    text("DB_NAME", 256, required=True),
    text("TBL_NAME", 256),
    big("STARTED_AT", required=True),
    comment="Calls under way that change tables of the other metastore; of a whole database without TBL_NAME",
)
