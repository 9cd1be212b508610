"""Locks, transactions and write ids."""

from sqlalchemy import CHAR, BigInteger, Column, ForeignKey, Index, Integer, Table

from hmstats.store.schema.columns import METADATA, big, key, text

HIVE_LOCKS = Table(
    "HIVE_LOCKS",
    METADATA,
    key("HL_LOCK_EXT_ID"),
    key("HL_LOCK_INT_ID"),
    big("HL_TXNID", required=True),
    text("HL_DB", 128, required=True),
    text("HL_TABLE", 256),
    text("HL_PARTITION", 767),
    Column("HL_LOCK_STATE", CHAR(1), nullable=False),
    Column("HL_LOCK_TYPE", CHAR(1), nullable=False),
    big("HL_LAST_HEARTBEAT", required=True),
    big("HL_ACQUIRED_AT"),
    text("HL_USER", 128, required=True),
    text("HL_HOST", 128, required=True),
    Column("HL_HEARTBEAT_COUNT", Integer),
    text("HL_AGENT_INFO", 128),
    big("HL_BLOCKEDBY_EXT_ID"),
    big("HL_BLOCKEDBY_INT_ID"),
    Index("hl_txnid_index", "HL_TXNID", postgresql_using="hash"),
)
NEXT_LOCK_ID = Table("NEXT_LOCK_ID", METADATA, big("NL_NEXT", required=True))
TXNS = Table(
    "TXNS",
    METADATA,
    # SQLite increments a column only if its type is INTEGER.
    Column("TXN_ID", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("TXN_STATE", CHAR(1), nullable=False),
    big("TXN_STARTED", required=True),
    big("TXN_LAST_HEARTBEAT", required=True),
    text("TXN_USER", 128, required=True),
    text("TXN_HOST", 128, required=True),
    text("TXN_AGENT_INFO", 128),
    text("TXN_META_INFO", 128),
    Column("TXN_HEARTBEAT_COUNT", Integer),
    Column("TXN_TYPE", Integer),
    sqlite_autoincrement=True,
)
TXN_COMPONENTS = Table(
    "TXN_COMPONENTS",
    METADATA,
    Column("TC_TXNID", BigInteger, ForeignKey("TXNS.TXN_ID"), nullable=False),
    text("TC_DATABASE", 128, required=True),
    text("TC_TABLE", 256),
    text("TC_PARTITION", 767),
    Column("TC_OPERATION_TYPE", CHAR(1), nullable=False),
    big("TC_WRITEID"),
    Index("tc_txnid_index", "TC_TXNID", postgresql_using="hash"),
)
TXN_TO_WRITE_ID = Table(
    "TXN_TO_WRITE_ID",
    METADATA,
    big("T2W_TXNID", required=True),
    text("T2W_DATABASE", 128, required=True),
    text("T2W_TABLE", 256, required=True),
    big("T2W_WRITEID", required=True),
    Index("TBL_TO_TXN_ID_IDX", "T2W_DATABASE", "T2W_TABLE", "T2W_TXNID", unique=True),
    Index("TBL_TO_WRITE_ID_IDX", "T2W_DATABASE", "T2W_TABLE", "T2W_WRITEID", unique=True),
)
NEXT_WRITE_ID = Table(
    "NEXT_WRITE_ID",
    METADATA,
    text("NWI_DATABASE", 128, required=True),
    text("NWI_TABLE", 256, required=True),
    big("NWI_NEXT", required=True),
    Index("NEXT_WRITE_ID_IDX", "NWI_DATABASE", "NWI_TABLE", unique=True),
)
