"""Roles, their grants, and privileges on databases, tables, partitions and columns."""

from typing import Any

from sqlalchemy import Column, Index, SmallInteger, Table, UniqueConstraint

from hmstats.store.schema.columns import METADATA, big, key, text


def _granted() -> tuple[Column[Any], ...]:
    return (Column("GRANT_OPTION", SmallInteger, nullable=False), text("GRANTOR", 128), text("GRANTOR_TYPE", 128))


def _principal() -> tuple[Column[Any], ...]:
    return (text("PRINCIPAL_NAME", 128), text("PRINCIPAL_TYPE", 128))


ROLES = Table(
    "ROLES",
    METADATA,
    key("ROLE_ID"),
    big("CREATE_TIME", required=True),
    text("OWNER_NAME", 128),
    text("ROLE_NAME", 128),
    UniqueConstraint("ROLE_NAME", name="ROLEENTITYINDEX"),
)
ROLE_MAP = Table(
    "ROLE_MAP",
    METADATA,
    key("ROLE_GRANT_ID"),
    big("ADD_TIME", required=True),
    *_granted(),
    *_principal(),
    big("ROLE_ID", refers="ROLES.ROLE_ID"),
    UniqueConstraint("PRINCIPAL_NAME", "ROLE_ID", "GRANTOR", "GRANTOR_TYPE", name="USERROLEMAPINDEX"),
    Index("ROLE_MAP_N49", "ROLE_ID"),
)
GLOBAL_PRIVS = Table(
    "GLOBAL_PRIVS",
    METADATA,
    key("USER_GRANT_ID"),
    big("CREATE_TIME", required=True),
    *_granted(),
    *_principal(),
    text("USER_PRIV", 128),
    text("AUTHORIZER", 128),
    UniqueConstraint(
        "AUTHORIZER",
        "PRINCIPAL_NAME",
        "PRINCIPAL_TYPE",
        "USER_PRIV",
        "GRANTOR",
        "GRANTOR_TYPE",
        name="GLOBALPRIVILEGEINDEX",
    ),
)
DB_PRIVS = Table(
    "DB_PRIVS",
    METADATA,
    key("DB_GRANT_ID"),
    big("CREATE_TIME", required=True),
    big("DB_ID", refers="DBS.DB_ID"),
    *_granted(),
    *_principal(),
    text("DB_PRIV", 128),
    text("AUTHORIZER", 128),
    UniqueConstraint(
        "AUTHORIZER",
        "DB_ID",
        "PRINCIPAL_NAME",
        "PRINCIPAL_TYPE",
        "DB_PRIV",
        "GRANTOR",
        "GRANTOR_TYPE",
        name="DBPRIVILEGEINDEX",
    ),
    Index("DB_PRIVS_N49", "DB_ID"),
)
TBL_PRIVS = Table(
    "TBL_PRIVS",
    METADATA,
    key("TBL_GRANT_ID"),
    big("CREATE_TIME", required=True),
    *_granted(),
    *_principal(),
    text("TBL_PRIV", 128),
    big("TBL_ID", refers="TBLS.TBL_ID"),
    text("AUTHORIZER", 128),
    Index(
        "TABLEPRIVILEGEINDEX",
        "AUTHORIZER",
        "TBL_ID",
        "PRINCIPAL_NAME",
        "PRINCIPAL_TYPE",
        "TBL_PRIV",
        "GRANTOR",
        "GRANTOR_TYPE",
    ),
    Index("TBL_PRIVS_N49", "TBL_ID"),
)
PART_PRIVS = Table(
    "PART_PRIVS",
    METADATA,
    key("PART_GRANT_ID"),
    big("CREATE_TIME", required=True),
    *_granted(),
    big("PART_ID", refers="PARTITIONS.PART_ID"),
    *_principal(),
    text("PART_PRIV", 128),
    text("AUTHORIZER", 128),
    Index(
        "PARTPRIVILEGEINDEX",
        "AUTHORIZER",
        "PART_ID",
        "PRINCIPAL_NAME",
        "PRINCIPAL_TYPE",
        "PART_PRIV",
        "GRANTOR",
        "GRANTOR_TYPE",
    ),
    Index("PART_PRIVS_N49", "PART_ID"),
)
TBL_COL_PRIVS = Table(
    "TBL_COL_PRIVS",
    METADATA,
    key("TBL_COLUMN_GRANT_ID"),
    text("COLUMN_NAME", 767),
    big("CREATE_TIME", required=True),
    *_granted(),
    *_principal(),
    text("TBL_COL_PRIV", 128),
    big("TBL_ID", refers="TBLS.TBL_ID"),
    text("AUTHORIZER", 128),
    Index(
        "TABLECOLUMNPRIVILEGEINDEX",
        "AUTHORIZER",
        "TBL_ID",
        "COLUMN_NAME",
        "PRINCIPAL_NAME",
        "PRINCIPAL_TYPE",
        "TBL_COL_PRIV",
        "GRANTOR",
        "GRANTOR_TYPE",
    ),
    Index("TBL_COL_PRIVS_N49", "TBL_ID"),
)
PART_COL_PRIVS = Table(
    "PART_COL_PRIVS",
    METADATA,
    key("PART_COLUMN_GRANT_ID"),
    text("COLUMN_NAME", 767),
    big("CREATE_TIME", required=True),
    *_granted(),
    big("PART_ID", refers="PARTITIONS.PART_ID"),
    *_principal(),
    text("PART_COL_PRIV", 128),
    text("AUTHORIZER", 128),
    Index(
        "PARTITIONCOLUMNPRIVILEGEINDEX",
        "AUTHORIZER",
        "PART_ID",
        "COLUMN_NAME",
        "PRINCIPAL_NAME",
        "PRINCIPAL_TYPE",
        "PART_COL_PRIV",
        "GRANTOR",
        "GRANTOR_TYPE",
    ),
    Index("PART_COL_PRIVS_N49", "PART_ID"),
)
