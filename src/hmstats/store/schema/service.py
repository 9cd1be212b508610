"""Tables of the metastore itself: id sequences, version of the schema, properties, notification log."""

from sqlalchemy import CheckConstraint, Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table

from hmstats.store.schema.columns import METADATA, big, key, text

SEQUENCE_TABLE = Table(
    "SEQUENCE_TABLE",
    METADATA,
    key("SEQUENCE_NAME", 255),
    big("NEXT_VAL", required=True),
)
VERSION = Table(
    "VERSION",
    METADATA,
    key("VER_ID"),
    text("SCHEMA_VERSION", 127, required=True),
    text("VERSION_COMMENT", 255, required=True),
)
METASTORE_DB_PROPERTIES = Table(
    "METASTORE_DB_PROPERTIES",
    METADATA,
    text("PROPERTY_KEY", 255, required=True),
    text("PROPERTY_VALUE", 1000, required=True),
    text("DESCRIPTION", 1000),
    Column("PROPERTYCONTENT", LargeBinary),
    PrimaryKeyConstraint("PROPERTY_KEY", name="PROPERTY_KEY_PK"),
)
NOTIFICATION_LOG = Table(
    "NOTIFICATION_LOG",
    METADATA,
    key("NL_ID"),
    big("EVENT_ID", required=True),
    Column("EVENT_TIME", Integer, nullable=False),
    text("EVENT_TYPE", 32, required=True),
    text("CAT_NAME", 256),
    text("DB_NAME", 128),
    text("TBL_NAME", 256),
    text("MESSAGE"),
    text("MESSAGE_FORMAT", 16),
    Index("NOTIFICATION_LOG_EVENT_ID", "EVENT_ID", unique=True),
)
NOTIFICATION_SEQUENCE = Table(
    "NOTIFICATION_SEQUENCE",
    METADATA,
    key("NNI_ID"),
    big("NEXT_EVENT_ID", required=True),
    CheckConstraint('"NNI_ID" = 1', name="ONE_ROW_CONSTRAINT"),
)
RUNTIME_STATS = Table(
    "RUNTIME_STATS",
    METADATA,
    key("RS_ID"),
    big("CREATE_TIME", required=True),
    big("WEIGHT", required=True),
    Column("PAYLOAD", LargeBinary),
    Index("IDX_RUNTIME_STATS_CREATE_TIME", "CREATE_TIME"),
)
