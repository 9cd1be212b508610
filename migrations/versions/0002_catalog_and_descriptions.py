"""Functions, constraints, roles, privileges, locks and transactions as Hive 4.0.0 has them; provenance and top-k.

Facts: hive-schema-4.0.0.postgres.sql of Apache Hive; constraints and indexes have its names. Ours are
the tables whose names begin with HMSTATS_.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLES = (
    "FUNCS",
    "FUNC_RU",
    "KEY_CONSTRAINTS",
    "ROLES",
    "ROLE_MAP",
    "GLOBAL_PRIVS",
    "DB_PRIVS",
    "TBL_PRIVS",
    "PART_PRIVS",
    "TBL_COL_PRIVS",
    "PART_COL_PRIVS",
    "HIVE_LOCKS",
    "NEXT_LOCK_ID",
    "TXNS",
    "TXN_COMPONENTS",
    "TXN_TO_WRITE_ID",
    "NEXT_WRITE_ID",
    "HMSTATS_PROVENANCE",
    "HMSTATS_TOP_K",
)
"""In the order in which they are made: what is referred to comes first."""


def upgrade() -> None:
    _functions()
    _constraints()
    _roles()
    _privileges()
    _locks()
    _transactions()
    _descriptions()
    _seed()


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _big(name: str, *, required: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=not required)


def _text(name: str, length: int, *, required: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=not required)


def _functions() -> None:
    op.create_table(
        "FUNCS",
        _big("FUNC_ID", required=True),
        _text("CLASS_NAME", 4000),
        sa.Column("CREATE_TIME", sa.Integer(), nullable=False),
        _big("DB_ID"),
        _text("FUNC_NAME", 128),
        sa.Column("FUNC_TYPE", sa.Integer(), nullable=False),
        _text("OWNER_NAME", 128),
        _text("OWNER_TYPE", 10),
        sa.ForeignKeyConstraint(["DB_ID"], ["DBS.DB_ID"], name="FUNCS_FK1", deferrable=True),
        sa.PrimaryKeyConstraint("FUNC_ID", name="FUNCS_pkey"),
    )
    op.create_index("FUNCS_N49", "FUNCS", ["DB_ID"])
    op.create_index("UNIQUEFUNCTION", "FUNCS", ["FUNC_NAME", "DB_ID"], unique=True)
    op.create_table(
        "FUNC_RU",
        _big("FUNC_ID", required=True),
        sa.Column("RESOURCE_TYPE", sa.Integer(), nullable=False),
        _text("RESOURCE_URI", 4000),
        sa.Column("INTEGER_IDX", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["FUNC_ID"], ["FUNCS.FUNC_ID"], name="FUNC_RU_FK1", deferrable=True),
        sa.PrimaryKeyConstraint("FUNC_ID", "INTEGER_IDX", name="FUNC_RU_pkey"),
    )
    op.create_index("FUNC_RU_N49", "FUNC_RU", ["FUNC_ID"])


def _constraints() -> None:
    op.create_table(
        "KEY_CONSTRAINTS",
        _big("CHILD_CD_ID"),
        _big("CHILD_INTEGER_IDX"),
        _big("CHILD_TBL_ID"),
        _big("PARENT_CD_ID"),
        _big("PARENT_INTEGER_IDX", required=True),
        _big("PARENT_TBL_ID", required=True),
        _big("POSITION", required=True),
        _text("CONSTRAINT_NAME", 400, required=True),
        sa.Column("CONSTRAINT_TYPE", sa.SmallInteger(), nullable=False),
        sa.Column("UPDATE_RULE", sa.SmallInteger()),
        sa.Column("DELETE_RULE", sa.SmallInteger()),
        sa.Column("ENABLE_VALIDATE_RELY", sa.SmallInteger(), nullable=False),
        _text("DEFAULT_VALUE", 400),
        sa.PrimaryKeyConstraint("PARENT_TBL_ID", "CONSTRAINT_NAME", "POSITION", name="constraints_pk"),
    )
    op.create_index("CONSTRAINTS_CONSTRAINT_TYPE_INDEX", "KEY_CONSTRAINTS", ["CONSTRAINT_TYPE"])
    op.create_index("CONSTRAINTS_PARENT_TBLID_INDEX", "KEY_CONSTRAINTS", ["PARENT_TBL_ID"])


def _roles() -> None:
    op.create_table(
        "ROLES",
        _big("ROLE_ID", required=True),
        _big("CREATE_TIME", required=True),
        _text("OWNER_NAME", 128),
        _text("ROLE_NAME", 128),
        sa.PrimaryKeyConstraint("ROLE_ID", name="ROLES_pkey"),
        sa.UniqueConstraint("ROLE_NAME", name="ROLEENTITYINDEX"),
    )
    op.create_table(
        "ROLE_MAP",
        _big("ROLE_GRANT_ID", required=True),
        _big("ADD_TIME", required=True),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _big("ROLE_ID"),
        sa.ForeignKeyConstraint(["ROLE_ID"], ["ROLES.ROLE_ID"], name="ROLE_MAP_ROLE_ID_fkey", deferrable=True),
        sa.PrimaryKeyConstraint("ROLE_GRANT_ID", name="ROLE_MAP_pkey"),
        sa.UniqueConstraint("PRINCIPAL_NAME", "ROLE_ID", "GRANTOR", "GRANTOR_TYPE", name="USERROLEMAPINDEX"),
    )
    op.create_index("ROLE_MAP_N49", "ROLE_MAP", ["ROLE_ID"])


def _privileges() -> None:
    op.create_table(
        "GLOBAL_PRIVS",
        _big("USER_GRANT_ID", required=True),
        _big("CREATE_TIME", required=True),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _text("USER_PRIV", 128),
        _text("AUTHORIZER", 128),
        sa.PrimaryKeyConstraint("USER_GRANT_ID", name="GLOBAL_PRIVS_pkey"),
        sa.UniqueConstraint(
            "AUTHORIZER",
            "PRINCIPAL_NAME",
            "PRINCIPAL_TYPE",
            "USER_PRIV",
            "GRANTOR",
            "GRANTOR_TYPE",
            name="GLOBALPRIVILEGEINDEX",
        ),
    )
    op.create_table(
        "DB_PRIVS",
        _big("DB_GRANT_ID", required=True),
        _big("CREATE_TIME", required=True),
        _big("DB_ID"),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _text("DB_PRIV", 128),
        _text("AUTHORIZER", 128),
        sa.ForeignKeyConstraint(["DB_ID"], ["DBS.DB_ID"], name="DB_PRIVS_DB_ID_fkey", deferrable=True),
        sa.PrimaryKeyConstraint("DB_GRANT_ID", name="DB_PRIVS_pkey"),
        sa.UniqueConstraint(
            "AUTHORIZER",
            "DB_ID",
            "PRINCIPAL_NAME",
            "PRINCIPAL_TYPE",
            "DB_PRIV",
            "GRANTOR",
            "GRANTOR_TYPE",
            name="DBPRIVILEGEINDEX",
        ),
    )
    op.create_index("DB_PRIVS_N49", "DB_PRIVS", ["DB_ID"])
    op.create_table(
        "TBL_PRIVS",
        _big("TBL_GRANT_ID", required=True),
        _big("CREATE_TIME", required=True),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _text("TBL_PRIV", 128),
        _big("TBL_ID"),
        _text("AUTHORIZER", 128),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="TBL_PRIVS_TBL_ID_fkey", deferrable=True),
        sa.PrimaryKeyConstraint("TBL_GRANT_ID", name="TBL_PRIVS_pkey"),
    )
    op.create_index(
        "TABLEPRIVILEGEINDEX",
        "TBL_PRIVS",
        ["AUTHORIZER", "TBL_ID", "PRINCIPAL_NAME", "PRINCIPAL_TYPE", "TBL_PRIV", "GRANTOR", "GRANTOR_TYPE"],
    )
    op.create_index("TBL_PRIVS_N49", "TBL_PRIVS", ["TBL_ID"])
    op.create_table(
        "PART_PRIVS",
        _big("PART_GRANT_ID", required=True),
        _big("CREATE_TIME", required=True),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _big("PART_ID"),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _text("PART_PRIV", 128),
        _text("AUTHORIZER", 128),
        sa.ForeignKeyConstraint(["PART_ID"], ["PARTITIONS.PART_ID"], name="PART_PRIVS_PART_ID_fkey", deferrable=True),
        sa.PrimaryKeyConstraint("PART_GRANT_ID", name="PART_PRIVS_pkey"),
    )
    op.create_index(
        "PARTPRIVILEGEINDEX",
        "PART_PRIVS",
        ["AUTHORIZER", "PART_ID", "PRINCIPAL_NAME", "PRINCIPAL_TYPE", "PART_PRIV", "GRANTOR", "GRANTOR_TYPE"],
    )
    op.create_index("PART_PRIVS_N49", "PART_PRIVS", ["PART_ID"])
    op.create_table(
        "TBL_COL_PRIVS",
        _big("TBL_COLUMN_GRANT_ID", required=True),
        _text("COLUMN_NAME", 767),
        _big("CREATE_TIME", required=True),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _text("TBL_COL_PRIV", 128),
        _big("TBL_ID"),
        _text("AUTHORIZER", 128),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="TBL_COL_PRIVS_TBL_ID_fkey", deferrable=True),
        sa.PrimaryKeyConstraint("TBL_COLUMN_GRANT_ID", name="TBL_COL_PRIVS_pkey"),
    )
    op.create_index(
        "TABLECOLUMNPRIVILEGEINDEX",
        "TBL_COL_PRIVS",
        [
            "AUTHORIZER",
            "TBL_ID",
            "COLUMN_NAME",
            "PRINCIPAL_NAME",
            "PRINCIPAL_TYPE",
            "TBL_COL_PRIV",
            "GRANTOR",
            "GRANTOR_TYPE",
        ],
    )
    op.create_index("TBL_COL_PRIVS_N49", "TBL_COL_PRIVS", ["TBL_ID"])
    op.create_table(
        "PART_COL_PRIVS",
        _big("PART_COLUMN_GRANT_ID", required=True),
        _text("COLUMN_NAME", 767),
        _big("CREATE_TIME", required=True),
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        _text("GRANTOR", 128),
        _text("GRANTOR_TYPE", 128),
        _big("PART_ID"),
        _text("PRINCIPAL_NAME", 128),
        _text("PRINCIPAL_TYPE", 128),
        _text("PART_COL_PRIV", 128),
        _text("AUTHORIZER", 128),
        sa.ForeignKeyConstraint(
            ["PART_ID"], ["PARTITIONS.PART_ID"], name="PART_COL_PRIVS_PART_ID_fkey", deferrable=True
        ),
        sa.PrimaryKeyConstraint("PART_COLUMN_GRANT_ID", name="PART_COL_PRIVS_pkey"),
    )
    op.create_index(
        "PARTITIONCOLUMNPRIVILEGEINDEX",
        "PART_COL_PRIVS",
        [
            "AUTHORIZER",
            "PART_ID",
            "COLUMN_NAME",
            "PRINCIPAL_NAME",
            "PRINCIPAL_TYPE",
            "PART_COL_PRIV",
            "GRANTOR",
            "GRANTOR_TYPE",
        ],
    )
    op.create_index("PART_COL_PRIVS_N49", "PART_COL_PRIVS", ["PART_ID"])


def _locks() -> None:
    op.create_table(
        "HIVE_LOCKS",
        _big("HL_LOCK_EXT_ID", required=True),
        _big("HL_LOCK_INT_ID", required=True),
        _big("HL_TXNID", required=True),
        _text("HL_DB", 128, required=True),
        _text("HL_TABLE", 256),
        _text("HL_PARTITION", 767),
        sa.Column("HL_LOCK_STATE", sa.CHAR(length=1), nullable=False),
        sa.Column("HL_LOCK_TYPE", sa.CHAR(length=1), nullable=False),
        _big("HL_LAST_HEARTBEAT", required=True),
        _big("HL_ACQUIRED_AT"),
        _text("HL_USER", 128, required=True),
        _text("HL_HOST", 128, required=True),
        sa.Column("HL_HEARTBEAT_COUNT", sa.Integer()),
        _text("HL_AGENT_INFO", 128),
        _big("HL_BLOCKEDBY_EXT_ID"),
        _big("HL_BLOCKEDBY_INT_ID"),
        sa.PrimaryKeyConstraint("HL_LOCK_EXT_ID", "HL_LOCK_INT_ID", name="HIVE_LOCKS_pkey"),
    )
    op.create_index("hl_txnid_index", "HIVE_LOCKS", ["HL_TXNID"], postgresql_using="hash")
    op.create_table("NEXT_LOCK_ID", _big("NL_NEXT", required=True))


def _transactions() -> None:
    op.create_table(
        "TXNS",
        sa.Column("TXN_ID", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("TXN_STATE", sa.CHAR(length=1), nullable=False),
        _big("TXN_STARTED", required=True),
        _big("TXN_LAST_HEARTBEAT", required=True),
        _text("TXN_USER", 128, required=True),
        _text("TXN_HOST", 128, required=True),
        _text("TXN_AGENT_INFO", 128),
        _text("TXN_META_INFO", 128),
        sa.Column("TXN_HEARTBEAT_COUNT", sa.Integer()),
        sa.Column("TXN_TYPE", sa.Integer()),
        sa.PrimaryKeyConstraint("TXN_ID", name="TXNS_pkey"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "TXN_COMPONENTS",
        _big("TC_TXNID", required=True),
        _text("TC_DATABASE", 128, required=True),
        _text("TC_TABLE", 256),
        _text("TC_PARTITION", 767),
        sa.Column("TC_OPERATION_TYPE", sa.CHAR(length=1), nullable=False),
        _big("TC_WRITEID"),
        sa.ForeignKeyConstraint(["TC_TXNID"], ["TXNS.TXN_ID"], name="TXN_COMPONENTS_TC_TXNID_fkey"),
    )
    op.create_index("tc_txnid_index", "TXN_COMPONENTS", ["TC_TXNID"], postgresql_using="hash")
    op.create_table(
        "TXN_TO_WRITE_ID",
        _big("T2W_TXNID", required=True),
        _text("T2W_DATABASE", 128, required=True),
        _text("T2W_TABLE", 256, required=True),
        _big("T2W_WRITEID", required=True),
    )
    op.create_index("TBL_TO_TXN_ID_IDX", "TXN_TO_WRITE_ID", ["T2W_DATABASE", "T2W_TABLE", "T2W_TXNID"], unique=True)
    op.create_index("TBL_TO_WRITE_ID_IDX", "TXN_TO_WRITE_ID", ["T2W_DATABASE", "T2W_TABLE", "T2W_WRITEID"], unique=True)
    op.create_table(
        "NEXT_WRITE_ID",
        _text("NWI_DATABASE", 128, required=True),
        _text("NWI_TABLE", 256, required=True),
        _big("NWI_NEXT", required=True),
    )
    op.create_index("NEXT_WRITE_ID_IDX", "NEXT_WRITE_ID", ["NWI_DATABASE", "NWI_TABLE"], unique=True)


def _descriptions() -> None:
    op.create_table(
        "HMSTATS_PROVENANCE",
        _big("TBL_ID", required=True),
        _big("PART_ID", required=True),
        sa.Column("COLUMN_NAME", sa.String(length=767), autoincrement=False, nullable=False),
        sa.Column("ENGINE", sa.String(length=128), autoincrement=False, nullable=False),
        sa.Column("EXACT", sa.Boolean()),
        sa.Column("NDV_STANDARD_ERROR", sa.Double()),
        _big("ROWS_SEEN"),
        sa.Column("SAMPLE_FRACTION", sa.Double()),
        _text("WRITER", 256),
        _text("TOOL", 256),
        _big("WRITTEN_AT", required=True),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE", name="HMSTATS_PROVENANCE_pkey"),
        comment="How the statistics of each column were made, by whom and when",
    )
    op.create_index("HMSTATS_PROVENANCE_PART_ID", "HMSTATS_PROVENANCE", ["PART_ID"])
    op.create_table(
        "HMSTATS_TOP_K",
        _big("TBL_ID", required=True),
        _big("PART_ID", required=True),
        sa.Column("COLUMN_NAME", sa.String(length=767), autoincrement=False, nullable=False),
        sa.Column("ENGINE", sa.String(length=128), autoincrement=False, nullable=False),
        sa.Column("ITEMS", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE", name="HMSTATS_TOP_K_pkey"),
        comment="The frequent values of each column, as sketches",
    )
    op.create_index("HMSTATS_TOP_K_PART_ID", "HMSTATS_TOP_K", ["PART_ID"])


def _seed() -> None:
    """The first lock id, and transaction 0, which Hive writes as committed."""
    _insert("NEXT_LOCK_ID", NL_NEXT=1)
    _insert("TXNS", TXN_ID=0, TXN_STATE="c", TXN_STARTED=0, TXN_LAST_HEARTBEAT=0, TXN_USER="", TXN_HOST="")


def _insert(table: str, **values: int | str) -> None:
    columns = [
        sa.column(name, sa.BigInteger() if isinstance(value, int) else sa.String()) for name, value in values.items()
    ]
    op.bulk_insert(sa.table(table, *columns), [values])
