"""Hive's tables as schema 4.0.0 has them, unique statistics, and the version of each table.

Facts: hive-schema-4.0.0.postgres.sql of Apache Hive; constraints and indexes have its names. Ours are
the indexes and the table whose names begin with HMSTATS_.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_MODEL = "org.apache.hadoop.hive.metastore.model."
_TABLES = (
    "CTLGS",
    "DBS",
    "DATABASE_PARAMS",
    "CDS",
    "COLUMNS_V2",
    "SERDES",
    "SERDE_PARAMS",
    "SDS",
    "SD_PARAMS",
    "BUCKETING_COLS",
    "SORT_COLS",
    "SKEWED_STRING_LIST",
    "SKEWED_STRING_LIST_VALUES",
    "SKEWED_COL_NAMES",
    "SKEWED_COL_VALUE_LOC_MAP",
    "SKEWED_VALUES",
    "TBLS",
    "TABLE_PARAMS",
    "PARTITION_KEYS",
    "PARTITIONS",
    "PARTITION_PARAMS",
    "PARTITION_KEY_VALS",
    "TAB_COL_STATS",
    "PART_COL_STATS",
    "SEQUENCE_TABLE",
    "VERSION",
    "NOTIFICATION_LOG",
    "NOTIFICATION_SEQUENCE",
    "HMSTATS_TABLE_VERSION",
)
"""In the order in which they are made: what is referred to comes first."""


def upgrade() -> None:
    _catalogs()
    _columns_and_serdes()
    _storage()
    _skew()
    _tables()
    _partitions()
    _statistics()
    _service()
    _seed()


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _big(name: str, *, required: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=not required)


def _text(name: str, length: int | None = None, *, required: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length) if length else sa.Text(), nullable=not required)


def _catalogs() -> None:
    op.create_table(
        "CTLGS",
        _big("CTLG_ID", required=True),
        _text("NAME", 256),
        _text("DESC", 4000),
        _text("LOCATION_URI", 4000, required=True),
        _big("CREATE_TIME"),
        sa.PrimaryKeyConstraint("CTLG_ID", name="CTLGS_pkey"),
        sa.UniqueConstraint("NAME", name="CTLGS_NAME_key"),
    )
    op.create_table(
        "DBS",
        _big("DB_ID", required=True),
        _text("DESC", 4000),
        _text("DB_LOCATION_URI", 4000, required=True),
        _text("NAME", 128),
        _text("OWNER_NAME", 128),
        _text("OWNER_TYPE", 10),
        sa.Column("CTLG_NAME", sa.String(256), nullable=False, server_default="hive"),
        _big("CREATE_TIME"),
        _text("DB_MANAGED_LOCATION_URI", 4000),
        sa.Column("TYPE", sa.String(32), nullable=False, server_default="NATIVE"),
        _text("DATACONNECTOR_NAME", 128),
        _text("REMOTE_DBNAME", 128),
        sa.PrimaryKeyConstraint("DB_ID", name="DBS_pkey"),
        sa.UniqueConstraint("NAME", "CTLG_NAME", name="UNIQUE_DATABASE"),
        sa.ForeignKeyConstraint(["CTLG_NAME"], ["CTLGS.NAME"], name="DBS_FK1"),
    )
    op.create_table(
        "DATABASE_PARAMS",
        _big("DB_ID", required=True),
        _text("PARAM_KEY", 180, required=True),
        _text("PARAM_VALUE", 4000),
        sa.PrimaryKeyConstraint("DB_ID", "PARAM_KEY", name="DATABASE_PARAMS_pkey"),
        sa.ForeignKeyConstraint(["DB_ID"], ["DBS.DB_ID"], name="DATABASE_PARAMS_DB_ID_fkey", deferrable=True),
    )
    op.create_index("DATABASE_PARAMS_N49", "DATABASE_PARAMS", ["DB_ID"])


def _columns_and_serdes() -> None:
    op.create_table(
        "CDS",
        _big("CD_ID", required=True),
        sa.PrimaryKeyConstraint("CD_ID", name="CDS_pkey"),
    )
    op.create_table(
        "COLUMNS_V2",
        _big("CD_ID", required=True),
        _text("COMMENT", 4000),
        _text("COLUMN_NAME", 767, required=True),
        _text("TYPE_NAME"),
        sa.Column("INTEGER_IDX", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("CD_ID", "COLUMN_NAME", name="COLUMNS_V2_pkey"),
        sa.ForeignKeyConstraint(["CD_ID"], ["CDS.CD_ID"], name="COLUMNS_V2_CD_ID_fkey", deferrable=True),
    )
    op.create_table(
        "SERDES",
        _big("SERDE_ID", required=True),
        _text("NAME", 128),
        _text("SLIB", 4000),
        _text("DESCRIPTION", 4000),
        _text("SERIALIZER_CLASS", 4000),
        _text("DESERIALIZER_CLASS", 4000),
        sa.Column("SERDE_TYPE", sa.Integer()),
        sa.PrimaryKeyConstraint("SERDE_ID", name="SERDES_pkey"),
    )
    op.create_table(
        "SERDE_PARAMS",
        _big("SERDE_ID", required=True),
        _text("PARAM_KEY", 256, required=True),
        _text("PARAM_VALUE"),
        sa.PrimaryKeyConstraint("SERDE_ID", "PARAM_KEY", name="SERDE_PARAMS_pkey"),
        sa.ForeignKeyConstraint(["SERDE_ID"], ["SERDES.SERDE_ID"], name="SERDE_PARAMS_SERDE_ID_fkey", deferrable=True),
    )
    op.create_index("SERDE_PARAMS_N49", "SERDE_PARAMS", ["SERDE_ID"])


def _storage() -> None:
    op.create_table(
        "SDS",
        _big("SD_ID", required=True),
        _text("INPUT_FORMAT", 4000),
        sa.Column("IS_COMPRESSED", sa.Boolean(), nullable=False),
        _text("LOCATION", 4000),
        _big("NUM_BUCKETS", required=True),
        _text("OUTPUT_FORMAT", 4000),
        _big("SERDE_ID"),
        _big("CD_ID"),
        sa.Column("IS_STOREDASSUBDIRECTORIES", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("SD_ID", name="SDS_pkey"),
        sa.ForeignKeyConstraint(["SERDE_ID"], ["SERDES.SERDE_ID"], name="SDS_SERDE_ID_fkey", deferrable=True),
        sa.ForeignKeyConstraint(["CD_ID"], ["CDS.CD_ID"], name="SDS_CD_ID_fkey", deferrable=True),
    )
    op.create_index("SDS_N49", "SDS", ["SERDE_ID"])
    op.create_index("SDS_N50", "SDS", ["CD_ID"])
    op.create_table(
        "SD_PARAMS",
        _big("SD_ID", required=True),
        _text("PARAM_KEY", 256, required=True),
        _text("PARAM_VALUE"),
        sa.PrimaryKeyConstraint("SD_ID", "PARAM_KEY", name="SD_PARAMS_pkey"),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="SD_PARAMS_SD_ID_fkey", deferrable=True),
    )
    op.create_index("SD_PARAMS_N49", "SD_PARAMS", ["SD_ID"])
    op.create_table(
        "BUCKETING_COLS",
        _big("SD_ID", required=True),
        _text("BUCKET_COL_NAME", 256),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("SD_ID", "INTEGER_IDX", name="BUCKETING_COLS_pkey"),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="BUCKETING_COLS_SD_ID_fkey", deferrable=True),
    )
    op.create_index("BUCKETING_COLS_N49", "BUCKETING_COLS", ["SD_ID"])
    op.create_table(
        "SORT_COLS",
        _big("SD_ID", required=True),
        _text("COLUMN_NAME", 767),
        _big("ORDER", required=True),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("SD_ID", "INTEGER_IDX", name="SORT_COLS_pkey"),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="SORT_COLS_SD_ID_fkey", deferrable=True),
    )
    op.create_index("SORT_COLS_N49", "SORT_COLS", ["SD_ID"])


def _skew() -> None:
    op.create_table(
        "SKEWED_STRING_LIST",
        _big("STRING_LIST_ID", required=True),
        sa.PrimaryKeyConstraint("STRING_LIST_ID", name="SKEWED_STRING_LIST_pkey"),
    )
    op.create_table(
        "SKEWED_STRING_LIST_VALUES",
        _big("STRING_LIST_ID", required=True),
        _text("STRING_LIST_VALUE", 256),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("STRING_LIST_ID", "INTEGER_IDX", name="SKEWED_STRING_LIST_VALUES_pkey"),
        sa.ForeignKeyConstraint(
            ["STRING_LIST_ID"],
            ["SKEWED_STRING_LIST.STRING_LIST_ID"],
            name="SKEWED_STRING_LIST_VALUES_fkey",
            deferrable=True,
        ),
    )
    op.create_table(
        "SKEWED_COL_NAMES",
        _big("SD_ID", required=True),
        _text("SKEWED_COL_NAME", 256),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("SD_ID", "INTEGER_IDX", name="SKEWED_COL_NAMES_pkey"),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="SKEWED_COL_NAMES_fkey", deferrable=True),
    )
    op.create_table(
        "SKEWED_COL_VALUE_LOC_MAP",
        _big("SD_ID", required=True),
        _big("STRING_LIST_ID_KID", required=True),
        _text("LOCATION", 4000),
        sa.PrimaryKeyConstraint("SD_ID", "STRING_LIST_ID_KID", name="SKEWED_COL_VALUE_LOC_MAP_pkey"),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="SKEWED_COL_VALUE_LOC_MAP_fkey1", deferrable=True),
        sa.ForeignKeyConstraint(
            ["STRING_LIST_ID_KID"],
            ["SKEWED_STRING_LIST.STRING_LIST_ID"],
            name="SKEWED_COL_VALUE_LOC_MAP_fkey2",
            deferrable=True,
        ),
    )
    op.create_table(
        "SKEWED_VALUES",
        _big("SD_ID_OID", required=True),
        _big("STRING_LIST_ID_EID", required=True),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("SD_ID_OID", "INTEGER_IDX", name="SKEWED_VALUES_pkey"),
        sa.ForeignKeyConstraint(["SD_ID_OID"], ["SDS.SD_ID"], name="SKEWED_VALUES_fkey2", deferrable=True),
        sa.ForeignKeyConstraint(
            ["STRING_LIST_ID_EID"], ["SKEWED_STRING_LIST.STRING_LIST_ID"], name="SKEWED_VALUES_fkey1", deferrable=True
        ),
    )


def _tables() -> None:
    op.create_table(
        "TBLS",
        _big("TBL_ID", required=True),
        _big("CREATE_TIME", required=True),
        _big("DB_ID"),
        _big("LAST_ACCESS_TIME", required=True),
        _text("OWNER", 767),
        _text("OWNER_TYPE", 10),
        _big("RETENTION", required=True),
        _big("SD_ID"),
        _text("TBL_NAME", 256),
        _text("TBL_TYPE", 128),
        _text("VIEW_EXPANDED_TEXT"),
        _text("VIEW_ORIGINAL_TEXT"),
        sa.Column("IS_REWRITE_ENABLED", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("WRITE_ID", sa.BigInteger(), nullable=True, server_default="0"),
        sa.PrimaryKeyConstraint("TBL_ID", name="TBLS_pkey"),
        sa.UniqueConstraint("TBL_NAME", "DB_ID", name="UNIQUETABLE"),
        sa.ForeignKeyConstraint(["DB_ID"], ["DBS.DB_ID"], name="TBLS_DB_ID_fkey", deferrable=True),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="TBLS_SD_ID_fkey", deferrable=True),
    )
    op.create_index("TBLS_N49", "TBLS", ["DB_ID"])
    op.create_index("TBLS_N50", "TBLS", ["SD_ID"])
    op.create_table(
        "TABLE_PARAMS",
        _big("TBL_ID", required=True),
        _text("PARAM_KEY", 256, required=True),
        _text("PARAM_VALUE"),
        sa.PrimaryKeyConstraint("TBL_ID", "PARAM_KEY", name="TABLE_PARAMS_pkey"),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="TABLE_PARAMS_TBL_ID_fkey", deferrable=True),
    )
    op.create_index("TABLE_PARAMS_N49", "TABLE_PARAMS", ["TBL_ID"])
    op.create_table(
        "PARTITION_KEYS",
        _big("TBL_ID", required=True),
        _text("PKEY_COMMENT", 4000),
        _text("PKEY_NAME", 128, required=True),
        _text("PKEY_TYPE", 767, required=True),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("TBL_ID", "PKEY_NAME", name="PARTITION_KEYS_pkey"),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="PARTITION_KEYS_TBL_ID_fkey", deferrable=True),
    )
    op.create_index("PARTITION_KEYS_N49", "PARTITION_KEYS", ["TBL_ID"])


def _partitions() -> None:
    op.create_table(
        "PARTITIONS",
        _big("PART_ID", required=True),
        _big("CREATE_TIME", required=True),
        _big("LAST_ACCESS_TIME", required=True),
        _text("PART_NAME", 767),
        _big("SD_ID"),
        _big("TBL_ID"),
        sa.Column("WRITE_ID", sa.BigInteger(), nullable=True, server_default="0"),
        sa.PrimaryKeyConstraint("PART_ID", name="PARTITIONS_pkey"),
        sa.UniqueConstraint("TBL_ID", "PART_NAME", name="UNIQUEPARTITION"),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], name="PARTITIONS_SD_ID_fkey", deferrable=True),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="PARTITIONS_TBL_ID_fkey", deferrable=True),
    )
    op.create_index("PARTITIONS_N50", "PARTITIONS", ["SD_ID"])
    op.create_table(
        "PARTITION_PARAMS",
        _big("PART_ID", required=True),
        _text("PARAM_KEY", 256, required=True),
        _text("PARAM_VALUE"),
        sa.PrimaryKeyConstraint("PART_ID", "PARAM_KEY", name="PARTITION_PARAMS_pkey"),
        sa.ForeignKeyConstraint(
            ["PART_ID"], ["PARTITIONS.PART_ID"], name="PARTITION_PARAMS_PART_ID_fkey", deferrable=True
        ),
    )
    op.create_index("PARTITION_PARAMS_N49", "PARTITION_PARAMS", ["PART_ID"])
    op.create_table(
        "PARTITION_KEY_VALS",
        _big("PART_ID", required=True),
        _text("PART_KEY_VAL", 256),
        _big("INTEGER_IDX", required=True),
        sa.PrimaryKeyConstraint("PART_ID", "INTEGER_IDX", name="PARTITION_KEY_VALS_pkey"),
        sa.ForeignKeyConstraint(
            ["PART_ID"], ["PARTITIONS.PART_ID"], name="PARTITION_KEY_VALS_PART_ID_fkey", deferrable=True
        ),
    )
    op.create_index("PARTITION_KEY_VALS_N49", "PARTITION_KEY_VALS", ["PART_ID"])


def _statistics_columns() -> list[sa.Column[Any]]:
    return [
        _big("LONG_LOW_VALUE"),
        _big("LONG_HIGH_VALUE"),
        sa.Column("DOUBLE_LOW_VALUE", sa.Double()),
        sa.Column("DOUBLE_HIGH_VALUE", sa.Double()),
        _text("BIG_DECIMAL_LOW_VALUE", 4000),
        _text("BIG_DECIMAL_HIGH_VALUE", 4000),
        _big("NUM_NULLS", required=True),
        _big("NUM_DISTINCTS"),
        sa.Column("BIT_VECTOR", sa.LargeBinary()),
        sa.Column("AVG_COL_LEN", sa.Double()),
        _big("MAX_COL_LEN"),
        _big("NUM_TRUES"),
        _big("NUM_FALSES"),
        _big("LAST_ANALYZED", required=True),
        _text("ENGINE", 128, required=True),
        sa.Column("HISTOGRAM", sa.LargeBinary()),
    ]


def _statistics() -> None:
    op.create_table(
        "TAB_COL_STATS",
        _big("CS_ID", required=True),
        _text("CAT_NAME", 256),
        _text("DB_NAME", 128),
        _text("TABLE_NAME", 256),
        _text("COLUMN_NAME", 767),
        _text("COLUMN_TYPE", 128),
        _big("TBL_ID", required=True),
        *_statistics_columns(),
        sa.PrimaryKeyConstraint("CS_ID", name="TAB_COL_STATS_pkey"),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="TAB_COL_STATS_fkey", deferrable=True),
    )
    op.create_index("HMSTATS_TAB_COL_STATS_UNIQUE", "TAB_COL_STATS", ["TBL_ID", "COLUMN_NAME", "ENGINE"], unique=True)
    op.create_index("TAB_COL_STATS_IDX", "TAB_COL_STATS", ["DB_NAME", "TABLE_NAME", "COLUMN_NAME", "CAT_NAME"])
    op.create_index("TAB_COL_STATS_N49", "TAB_COL_STATS", ["TBL_ID"])
    op.create_table(
        "PART_COL_STATS",
        _big("CS_ID", required=True),
        _text("CAT_NAME", 256),
        _text("DB_NAME", 128),
        _text("TABLE_NAME", 256),
        _text("PARTITION_NAME", 767),
        _text("COLUMN_NAME", 767),
        _text("COLUMN_TYPE", 128),
        _big("PART_ID", required=True),
        *_statistics_columns(),
        sa.PrimaryKeyConstraint("CS_ID", name="PART_COL_STATS_pkey"),
        sa.ForeignKeyConstraint(["PART_ID"], ["PARTITIONS.PART_ID"], name="PART_COL_STATS_fkey", deferrable=True),
    )
    op.create_index(
        "HMSTATS_PART_COL_STATS_UNIQUE", "PART_COL_STATS", ["PART_ID", "COLUMN_NAME", "ENGINE"], unique=True
    )
    op.create_index("PART_COL_STATS_N49", "PART_COL_STATS", ["PART_ID"])
    op.create_index(
        "PCS_STATS_IDX", "PART_COL_STATS", ["DB_NAME", "TABLE_NAME", "COLUMN_NAME", "PARTITION_NAME", "CAT_NAME"]
    )


def _service() -> None:
    op.create_table(
        "SEQUENCE_TABLE",
        _text("SEQUENCE_NAME", 255, required=True),
        _big("NEXT_VAL", required=True),
        sa.PrimaryKeyConstraint("SEQUENCE_NAME", name="SEQUENCE_TABLE_pkey"),
    )
    op.create_table(
        "VERSION",
        _big("VER_ID", required=True),
        _text("SCHEMA_VERSION", 127, required=True),
        _text("VERSION_COMMENT", 255, required=True),
        sa.PrimaryKeyConstraint("VER_ID", name="VERSION_pkey"),
    )
    op.create_table(
        "NOTIFICATION_LOG",
        _big("NL_ID", required=True),
        _big("EVENT_ID", required=True),
        sa.Column("EVENT_TIME", sa.Integer(), nullable=False),
        _text("EVENT_TYPE", 32, required=True),
        _text("CAT_NAME", 256),
        _text("DB_NAME", 128),
        _text("TBL_NAME", 256),
        _text("MESSAGE"),
        _text("MESSAGE_FORMAT", 16),
        sa.PrimaryKeyConstraint("NL_ID", name="NOTIFICATION_LOG_pkey"),
    )
    op.create_index("NOTIFICATION_LOG_EVENT_ID", "NOTIFICATION_LOG", ["EVENT_ID"], unique=True)
    op.create_table(
        "NOTIFICATION_SEQUENCE",
        _big("NNI_ID", required=True),
        _big("NEXT_EVENT_ID", required=True),
        sa.PrimaryKeyConstraint("NNI_ID", name="NOTIFICATION_SEQUENCE_pkey"),
        sa.CheckConstraint('"NNI_ID" = 1', name="ONE_ROW_CONSTRAINT"),
    )
    op.create_table(
        "HMSTATS_TABLE_VERSION",
        _big("TBL_ID", required=True),
        _big("VERSION", required=True),
        sa.PrimaryKeyConstraint("TBL_ID", name="HMSTATS_TABLE_VERSION_pkey"),
        comment="Counts every write that touches a table, its partitions or statistics",
    )


def _seed() -> None:
    """The rows that Hive's own schema begins with."""
    _insert("CTLGS", CTLG_ID=1, NAME="hive", DESC="Default catalog for Hive", LOCATION_URI="TBD")
    _insert("VERSION", VER_ID=1, SCHEMA_VERSION="4.0.0", VERSION_COMMENT="Hive release version 4.0.0")
    _insert("NOTIFICATION_SEQUENCE", NNI_ID=1, NEXT_EVENT_ID=1)
    _insert("SEQUENCE_TABLE", SEQUENCE_NAME=f"{_MODEL}MNotificationLog", NEXT_VAL=1)
    _insert("SEQUENCE_TABLE", SEQUENCE_NAME=f"{_MODEL}MTxnWriteNotificationLog", NEXT_VAL=1)


def _insert(table: str, **values: int | str) -> None:
    columns = [
        sa.column(name, sa.BigInteger() if isinstance(value, int) else sa.String()) for name, value in values.items()
    ]
    op.bulk_insert(sa.table(table, *columns), [values])
