"""Constraints of tables: keys, not null, unique, default and check."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, SmallInteger, Table

from hmstats.store.schema.columns import METADATA, big, text

KEY_CONSTRAINTS = Table(
    "KEY_CONSTRAINTS",
    METADATA,
    big("CHILD_CD_ID"),
    big("CHILD_INTEGER_IDX"),
    big("CHILD_TBL_ID"),
    big("PARENT_CD_ID"),
    big("PARENT_INTEGER_IDX", required=True),
    big("PARENT_TBL_ID", required=True),
    big("POSITION", required=True),
    text("CONSTRAINT_NAME", 400, required=True),
    Column("CONSTRAINT_TYPE", SmallInteger, nullable=False),
    Column("UPDATE_RULE", SmallInteger),
    Column("DELETE_RULE", SmallInteger),
    Column("ENABLE_VALIDATE_RELY", SmallInteger, nullable=False),
    text("DEFAULT_VALUE", 400),
    PrimaryKeyConstraint("PARENT_TBL_ID", "CONSTRAINT_NAME", "POSITION", name="constraints_pk"),
    Index("CONSTRAINTS_PARENT_TBLID_INDEX", "PARENT_TBL_ID"),
    Index("CONSTRAINTS_CONSTRAINT_TYPE_INDEX", "CONSTRAINT_TYPE"),
)
