"""Delegation tokens and the keys that sign them, stored for the servers that use them."""

from sqlalchemy import Column, Integer, Table

from hmstats.store.schema.columns import METADATA, key, text

MASTER_KEYS = Table(
    "MASTER_KEYS",
    METADATA,
    Column("KEY_ID", Integer, primary_key=True, autoincrement=True),
    text("MASTER_KEY", 767),
    sqlite_autoincrement=True,
)
DELEGATION_TOKENS = Table(
    "DELEGATION_TOKENS",
    METADATA,
    key("TOKEN_IDENT", 767),
    text("TOKEN", 767),
)
