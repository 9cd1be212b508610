"""User-defined functions and their resources."""

from sqlalchemy import Column, Index, Integer, Table

from hmstats.store.schema.columns import METADATA, big, key, text

FUNCS = Table(
    "FUNCS",
    METADATA,
    key("FUNC_ID"),
    text("CLASS_NAME", 4000),
    Column("CREATE_TIME", Integer, nullable=False),
    big("DB_ID", refers="DBS.DB_ID", called="FUNCS_FK1"),
    text("FUNC_NAME", 128),
    Column("FUNC_TYPE", Integer, nullable=False),
    text("OWNER_NAME", 128),
    text("OWNER_TYPE", 10),
    Index("UNIQUEFUNCTION", "FUNC_NAME", "DB_ID", unique=True),
    Index("FUNCS_N49", "DB_ID"),
)
FUNC_RU = Table(
    "FUNC_RU",
    METADATA,
    key("FUNC_ID", refers="FUNCS.FUNC_ID", called="FUNC_RU_FK1"),
    Column("RESOURCE_TYPE", Integer, nullable=False),
    text("RESOURCE_URI", 4000),
    Column("INTEGER_IDX", Integer, primary_key=True, autoincrement=False),
    Index("FUNC_RU_N49", "FUNC_ID"),
)
