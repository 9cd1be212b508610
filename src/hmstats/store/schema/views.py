"""Sources of materialized views."""

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table

from hmstats.store.schema.columns import METADATA, big, text

MV_CREATION_METADATA = Table(
    "MV_CREATION_METADATA",
    METADATA,
    big("MV_CREATION_METADATA_ID", required=True),
    text("CAT_NAME", 256, required=True),
    text("DB_NAME", 128, required=True),
    text("TBL_NAME", 256, required=True),
    text("TXN_LIST"),
    big("MATERIALIZATION_TIME", required=True),
    PrimaryKeyConstraint("MV_CREATION_METADATA_ID", name="MV_CREATION_METADATA_PK"),
    Index("MV_UNIQUE_TABLE", "TBL_NAME", "DB_NAME", unique=True),
)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default="0")


MV_TABLES_USED = Table(
    "MV_TABLES_USED",
    METADATA,
    big(
        "MV_CREATION_METADATA_ID",
        required=True,
        refers="MV_CREATION_METADATA.MV_CREATION_METADATA_ID",
        called="MV_TABLES_USED_FK1",
    ),
    big("TBL_ID", required=True, refers="TBLS.TBL_ID", called="MV_TABLES_USED_FK2"),
    _count("INSERTED_COUNT"),
    _count("UPDATED_COUNT"),
    _count("DELETED_COUNT"),
    PrimaryKeyConstraint("TBL_ID", "MV_CREATION_METADATA_ID", name="MV_TABLES_USED_PK"),
)
