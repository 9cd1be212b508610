"""Named types, which no engine uses any more."""

from sqlalchemy import Index, Table, UniqueConstraint

from hmstats.store.schema.columns import METADATA, big, key, text

TYPES = Table(
    "TYPES",
    METADATA,
    key("TYPES_ID"),
    text("TYPE_NAME", 128),
    text("TYPE1", 767),
    text("TYPE2", 767),
    UniqueConstraint("TYPE_NAME", name="UNIQUE_TYPE"),
)
TYPE_FIELDS = Table(
    "TYPE_FIELDS",
    METADATA,
    key("TYPE_NAME", refers="TYPES.TYPES_ID"),
    text("COMMENT", 256),
    key("FIELD_NAME", 128),
    text("FIELD_TYPE", 767, required=True),
    big("INTEGER_IDX", required=True),
    Index("TYPE_FIELDS_N49", "TYPE_NAME"),
)
