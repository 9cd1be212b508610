"""Hive's tables as schema 4.0.0 has them, unique statistics, and the version of each table."""

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "CDS",
        sa.Column("CD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("CD_ID"),
    )
    op.create_table(
        "CTLGS",
        sa.Column("CTLG_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("NAME", sa.String(length=256), nullable=True),
        sa.Column("DESC", sa.String(length=4000), nullable=True),
        sa.Column("LOCATION_URI", sa.String(length=4000), nullable=False),
        sa.Column("CREATE_TIME", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("CTLG_ID"),
        sa.UniqueConstraint("NAME"),
    )
    op.create_table(
        "HMSTATS_TABLE_VERSION",
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("VERSION", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID"),
        comment="Counts every write that touches a table, its partitions or statistics",
    )
    op.create_table(
        "NOTIFICATION_LOG",
        sa.Column("NL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("EVENT_ID", sa.BigInteger(), nullable=False),
        sa.Column("EVENT_TIME", sa.Integer(), nullable=False),
        sa.Column("EVENT_TYPE", sa.String(length=32), nullable=False),
        sa.Column("CAT_NAME", sa.String(length=256), nullable=True),
        sa.Column("DB_NAME", sa.String(length=128), nullable=True),
        sa.Column("TBL_NAME", sa.String(length=256), nullable=True),
        sa.Column("MESSAGE", sa.Text(), nullable=True),
        sa.Column("MESSAGE_FORMAT", sa.String(length=16), nullable=True),
        sa.PrimaryKeyConstraint("NL_ID"),
        sa.UniqueConstraint("EVENT_ID"),
    )
    op.create_table(
        "NOTIFICATION_SEQUENCE",
        sa.Column("NNI_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("NEXT_EVENT_ID", sa.BigInteger(), nullable=False),
        sa.CheckConstraint('"NNI_ID" = 1', name="ONE_ROW_CONSTRAINT"),
        sa.PrimaryKeyConstraint("NNI_ID"),
    )
    op.create_table(
        "SEQUENCE_TABLE",
        sa.Column("SEQUENCE_NAME", sa.String(length=255), autoincrement=False, nullable=False),
        sa.Column("NEXT_VAL", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("SEQUENCE_NAME"),
    )
    op.create_table(
        "SERDES",
        sa.Column("SERDE_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("NAME", sa.String(length=128), nullable=True),
        sa.Column("SLIB", sa.String(length=4000), nullable=True),
        sa.Column("DESCRIPTION", sa.String(length=4000), nullable=True),
        sa.Column("SERIALIZER_CLASS", sa.String(length=4000), nullable=True),
        sa.Column("DESERIALIZER_CLASS", sa.String(length=4000), nullable=True),
        sa.Column("SERDE_TYPE", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("SERDE_ID"),
    )
    op.create_table(
        "SKEWED_STRING_LIST",
        sa.Column("STRING_LIST_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("STRING_LIST_ID"),
    )
    op.create_table(
        "VERSION",
        sa.Column("VER_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("SCHEMA_VERSION", sa.String(length=127), nullable=False),
        sa.Column("VERSION_COMMENT", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("VER_ID"),
    )
    op.create_table(
        "COLUMNS_V2",
        sa.Column("CD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("COMMENT", sa.String(length=4000), nullable=True),
        sa.Column("COLUMN_NAME", sa.String(length=767), autoincrement=False, nullable=False),
        sa.Column("TYPE_NAME", sa.Text(), nullable=True),
        sa.Column("INTEGER_IDX", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["CD_ID"], ["CDS.CD_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("CD_ID", "COLUMN_NAME"),
    )
    op.create_index("COLUMNS_V2_N49", "COLUMNS_V2", ["CD_ID"], unique=False)
    op.create_table(
        "DBS",
        sa.Column("DB_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("DESC", sa.String(length=4000), nullable=True),
        sa.Column("DB_LOCATION_URI", sa.String(length=4000), nullable=False),
        sa.Column("NAME", sa.String(length=128), nullable=True),
        sa.Column("OWNER_NAME", sa.String(length=128), nullable=True),
        sa.Column("OWNER_TYPE", sa.String(length=10), nullable=True),
        sa.Column("CTLG_NAME", sa.String(length=256), server_default="hive", nullable=False),
        sa.Column("CREATE_TIME", sa.BigInteger(), nullable=True),
        sa.Column("DB_MANAGED_LOCATION_URI", sa.String(length=4000), nullable=True),
        sa.Column("TYPE", sa.String(length=32), server_default="NATIVE", nullable=False),
        sa.Column("DATACONNECTOR_NAME", sa.String(length=128), nullable=True),
        sa.Column("REMOTE_DBNAME", sa.String(length=128), nullable=True),
        sa.ForeignKeyConstraint(
            ["CTLG_NAME"],
            ["CTLGS.NAME"],
        ),
        sa.PrimaryKeyConstraint("DB_ID"),
        sa.UniqueConstraint("NAME", "CTLG_NAME", name="UNIQUE_DATABASE"),
    )
    op.create_table(
        "SDS",
        sa.Column("SD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("INPUT_FORMAT", sa.String(length=4000), nullable=True),
        sa.Column("IS_COMPRESSED", sa.Boolean(), nullable=False),
        sa.Column("LOCATION", sa.String(length=4000), nullable=True),
        sa.Column("NUM_BUCKETS", sa.BigInteger(), nullable=False),
        sa.Column("OUTPUT_FORMAT", sa.String(length=4000), nullable=True),
        sa.Column("SERDE_ID", sa.BigInteger(), nullable=True),
        sa.Column("CD_ID", sa.BigInteger(), nullable=True),
        sa.Column("IS_STOREDASSUBDIRECTORIES", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["CD_ID"], ["CDS.CD_ID"], deferrable=True),
        sa.ForeignKeyConstraint(["SERDE_ID"], ["SERDES.SERDE_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID"),
    )
    op.create_index("SDS_N49", "SDS", ["SERDE_ID"], unique=False)
    op.create_index("SDS_N50", "SDS", ["CD_ID"], unique=False)
    op.create_table(
        "SERDE_PARAMS",
        sa.Column("SERDE_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAM_KEY", sa.String(length=256), autoincrement=False, nullable=False),
        sa.Column("PARAM_VALUE", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["SERDE_ID"], ["SERDES.SERDE_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SERDE_ID", "PARAM_KEY"),
    )
    op.create_index("SERDE_PARAMS_N49", "SERDE_PARAMS", ["SERDE_ID"], unique=False)
    op.create_table(
        "SKEWED_STRING_LIST_VALUES",
        sa.Column("STRING_LIST_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("STRING_LIST_VALUE", sa.String(length=256), nullable=True),
        sa.Column("INTEGER_IDX", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["STRING_LIST_ID"], ["SKEWED_STRING_LIST.STRING_LIST_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("STRING_LIST_ID", "INTEGER_IDX"),
    )
    op.create_table(
        "BUCKETING_COLS",
        sa.Column("SD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("BUCKET_COL_NAME", sa.String(length=256), nullable=True),
        sa.Column("INTEGER_IDX", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID", "INTEGER_IDX"),
    )
    op.create_index("BUCKETING_COLS_N49", "BUCKETING_COLS", ["SD_ID"], unique=False)
    op.create_table(
        "DATABASE_PARAMS",
        sa.Column("DB_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAM_KEY", sa.String(length=180), autoincrement=False, nullable=False),
        sa.Column("PARAM_VALUE", sa.String(length=4000), nullable=True),
        sa.ForeignKeyConstraint(["DB_ID"], ["DBS.DB_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("DB_ID", "PARAM_KEY"),
    )
    op.create_index("DATABASE_PARAMS_N49", "DATABASE_PARAMS", ["DB_ID"], unique=False)
    op.create_table(
        "SD_PARAMS",
        sa.Column("SD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAM_KEY", sa.String(length=256), autoincrement=False, nullable=False),
        sa.Column("PARAM_VALUE", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID", "PARAM_KEY"),
    )
    op.create_index("SD_PARAMS_N49", "SD_PARAMS", ["SD_ID"], unique=False)
    op.create_table(
        "SKEWED_COL_NAMES",
        sa.Column("SD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("SKEWED_COL_NAME", sa.String(length=256), nullable=True),
        sa.Column("INTEGER_IDX", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID", "INTEGER_IDX"),
    )
    op.create_table(
        "SKEWED_COL_VALUE_LOC_MAP",
        sa.Column("SD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("STRING_LIST_ID_KID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("LOCATION", sa.String(length=4000), nullable=True),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.ForeignKeyConstraint(["STRING_LIST_ID_KID"], ["SKEWED_STRING_LIST.STRING_LIST_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID", "STRING_LIST_ID_KID"),
    )
    op.create_table(
        "SKEWED_VALUES",
        sa.Column("SD_ID_OID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("STRING_LIST_ID_EID", sa.BigInteger(), nullable=False),
        sa.Column("INTEGER_IDX", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["SD_ID_OID"], ["SDS.SD_ID"], deferrable=True),
        sa.ForeignKeyConstraint(["STRING_LIST_ID_EID"], ["SKEWED_STRING_LIST.STRING_LIST_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID_OID", "INTEGER_IDX"),
    )
    op.create_table(
        "SORT_COLS",
        sa.Column("SD_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=True),
        sa.Column("ORDER", sa.BigInteger(), nullable=False),
        sa.Column("INTEGER_IDX", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("SD_ID", "INTEGER_IDX"),
    )
    op.create_index("SORT_COLS_N49", "SORT_COLS", ["SD_ID"], unique=False)
    op.create_table(
        "TBLS",
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("CREATE_TIME", sa.BigInteger(), nullable=False),
        sa.Column("DB_ID", sa.BigInteger(), nullable=True),
        sa.Column("LAST_ACCESS_TIME", sa.BigInteger(), nullable=False),
        sa.Column("OWNER", sa.String(length=767), nullable=True),
        sa.Column("OWNER_TYPE", sa.String(length=10), nullable=True),
        sa.Column("RETENTION", sa.BigInteger(), nullable=False),
        sa.Column("SD_ID", sa.BigInteger(), nullable=True),
        sa.Column("TBL_NAME", sa.String(length=256), nullable=True),
        sa.Column("TBL_TYPE", sa.String(length=128), nullable=True),
        sa.Column("VIEW_EXPANDED_TEXT", sa.Text(), nullable=True),
        sa.Column("VIEW_ORIGINAL_TEXT", sa.Text(), nullable=True),
        sa.Column("IS_REWRITE_ENABLED", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("WRITE_ID", sa.BigInteger(), server_default="0", nullable=True),
        sa.ForeignKeyConstraint(["DB_ID"], ["DBS.DB_ID"], deferrable=True),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("TBL_ID"),
        sa.UniqueConstraint("TBL_NAME", "DB_ID", name="UNIQUETABLE"),
    )
    op.create_index("TBLS_N49", "TBLS", ["DB_ID"], unique=False)
    op.create_index("TBLS_N50", "TBLS", ["SD_ID"], unique=False)
    op.create_table(
        "PARTITIONS",
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("CREATE_TIME", sa.BigInteger(), nullable=False),
        sa.Column("LAST_ACCESS_TIME", sa.BigInteger(), nullable=False),
        sa.Column("PART_NAME", sa.String(length=767), nullable=True),
        sa.Column("SD_ID", sa.BigInteger(), nullable=True),
        sa.Column("TBL_ID", sa.BigInteger(), nullable=True),
        sa.Column("WRITE_ID", sa.BigInteger(), server_default="0", nullable=True),
        sa.ForeignKeyConstraint(["SD_ID"], ["SDS.SD_ID"], deferrable=True),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("PART_ID"),
        sa.UniqueConstraint("PART_NAME", "TBL_ID", name="UNIQUEPARTITION"),
    )
    op.create_index("PARTITIONS_N49", "PARTITIONS", ["TBL_ID"], unique=False)
    op.create_index("PARTITIONS_N50", "PARTITIONS", ["SD_ID"], unique=False)
    op.create_table(
        "PARTITION_KEYS",
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PKEY_COMMENT", sa.String(length=4000), nullable=True),
        sa.Column("PKEY_NAME", sa.String(length=128), autoincrement=False, nullable=False),
        sa.Column("PKEY_TYPE", sa.String(length=767), nullable=False),
        sa.Column("INTEGER_IDX", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("TBL_ID", "PKEY_NAME"),
    )
    op.create_index("PARTITION_KEYS_N49", "PARTITION_KEYS", ["TBL_ID"], unique=False)
    op.create_table(
        "TABLE_PARAMS",
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAM_KEY", sa.String(length=256), autoincrement=False, nullable=False),
        sa.Column("PARAM_VALUE", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("TBL_ID", "PARAM_KEY"),
    )
    op.create_index("TABLE_PARAMS_N49", "TABLE_PARAMS", ["TBL_ID"], unique=False)
    op.create_table(
        "TAB_COL_STATS",
        sa.Column("CS_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("CAT_NAME", sa.String(length=256), nullable=True),
        sa.Column("DB_NAME", sa.String(length=128), nullable=True),
        sa.Column("TABLE_NAME", sa.String(length=256), nullable=True),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=True),
        sa.Column("COLUMN_TYPE", sa.String(length=128), nullable=True),
        sa.Column("TBL_ID", sa.BigInteger(), nullable=False),
        sa.Column("LONG_LOW_VALUE", sa.BigInteger(), nullable=True),
        sa.Column("LONG_HIGH_VALUE", sa.BigInteger(), nullable=True),
        sa.Column("DOUBLE_LOW_VALUE", sa.Double(), nullable=True),
        sa.Column("DOUBLE_HIGH_VALUE", sa.Double(), nullable=True),
        sa.Column("BIG_DECIMAL_LOW_VALUE", sa.String(length=4000), nullable=True),
        sa.Column("BIG_DECIMAL_HIGH_VALUE", sa.String(length=4000), nullable=True),
        sa.Column("NUM_NULLS", sa.BigInteger(), nullable=False),
        sa.Column("NUM_DISTINCTS", sa.BigInteger(), nullable=True),
        sa.Column("BIT_VECTOR", sa.LargeBinary(), nullable=True),
        sa.Column("AVG_COL_LEN", sa.Double(), nullable=True),
        sa.Column("MAX_COL_LEN", sa.BigInteger(), nullable=True),
        sa.Column("NUM_TRUES", sa.BigInteger(), nullable=True),
        sa.Column("NUM_FALSES", sa.BigInteger(), nullable=True),
        sa.Column("LAST_ANALYZED", sa.BigInteger(), nullable=False),
        sa.Column("ENGINE", sa.String(length=128), nullable=False),
        sa.Column("HISTOGRAM", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("CS_ID"),
    )
    op.create_index("HMSTATS_TAB_COL_STATS_UNIQUE", "TAB_COL_STATS", ["TBL_ID", "COLUMN_NAME", "ENGINE"], unique=True)
    op.create_index(
        "TAB_COL_STATS_IDX", "TAB_COL_STATS", ["DB_NAME", "TABLE_NAME", "COLUMN_NAME", "CAT_NAME"], unique=False
    )
    op.create_index("TAB_COL_STATS_N49", "TAB_COL_STATS", ["TBL_ID"], unique=False)
    op.create_table(
        "PARTITION_KEY_VALS",
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PART_KEY_VAL", sa.String(length=256), nullable=True),
        sa.Column("INTEGER_IDX", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["PART_ID"], ["PARTITIONS.PART_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("PART_ID", "INTEGER_IDX"),
    )
    op.create_index("PARTITION_KEY_VALS_N49", "PARTITION_KEY_VALS", ["PART_ID"], unique=False)
    op.create_table(
        "PARTITION_PARAMS",
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAM_KEY", sa.String(length=256), autoincrement=False, nullable=False),
        sa.Column("PARAM_VALUE", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["PART_ID"], ["PARTITIONS.PART_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("PART_ID", "PARAM_KEY"),
    )
    op.create_index("PARTITION_PARAMS_N49", "PARTITION_PARAMS", ["PART_ID"], unique=False)
    op.create_table(
        "PART_COL_STATS",
        sa.Column("CS_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("CAT_NAME", sa.String(length=256), nullable=True),
        sa.Column("DB_NAME", sa.String(length=128), nullable=True),
        sa.Column("TABLE_NAME", sa.String(length=256), nullable=True),
        sa.Column("PARTITION_NAME", sa.String(length=767), nullable=True),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=True),
        sa.Column("COLUMN_TYPE", sa.String(length=128), nullable=True),
        sa.Column("PART_ID", sa.BigInteger(), nullable=False),
        sa.Column("LONG_LOW_VALUE", sa.BigInteger(), nullable=True),
        sa.Column("LONG_HIGH_VALUE", sa.BigInteger(), nullable=True),
        sa.Column("DOUBLE_LOW_VALUE", sa.Double(), nullable=True),
        sa.Column("DOUBLE_HIGH_VALUE", sa.Double(), nullable=True),
        sa.Column("BIG_DECIMAL_LOW_VALUE", sa.String(length=4000), nullable=True),
        sa.Column("BIG_DECIMAL_HIGH_VALUE", sa.String(length=4000), nullable=True),
        sa.Column("NUM_NULLS", sa.BigInteger(), nullable=False),
        sa.Column("NUM_DISTINCTS", sa.BigInteger(), nullable=True),
        sa.Column("BIT_VECTOR", sa.LargeBinary(), nullable=True),
        sa.Column("AVG_COL_LEN", sa.Double(), nullable=True),
        sa.Column("MAX_COL_LEN", sa.BigInteger(), nullable=True),
        sa.Column("NUM_TRUES", sa.BigInteger(), nullable=True),
        sa.Column("NUM_FALSES", sa.BigInteger(), nullable=True),
        sa.Column("LAST_ANALYZED", sa.BigInteger(), nullable=False),
        sa.Column("ENGINE", sa.String(length=128), nullable=False),
        sa.Column("HISTOGRAM", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["PART_ID"], ["PARTITIONS.PART_ID"], deferrable=True),
        sa.PrimaryKeyConstraint("CS_ID"),
    )
    op.create_index(
        "HMSTATS_PART_COL_STATS_UNIQUE", "PART_COL_STATS", ["PART_ID", "COLUMN_NAME", "ENGINE"], unique=True
    )
    op.create_index("PART_COL_STATS_N49", "PART_COL_STATS", ["PART_ID"], unique=False)
    op.create_index(
        "PCS_STATS_IDX",
        "PART_COL_STATS",
        ["DB_NAME", "TABLE_NAME", "COLUMN_NAME", "PARTITION_NAME", "CAT_NAME"],
        unique=False,
    )
    seed()


def seed() -> None:
    """The rows that Hive's own schema begins with."""
    _insert("CTLGS", CTLG_ID=1, NAME="hive", DESC="Default catalog for Hive", LOCATION_URI="TBD")
    _insert("VERSION", VER_ID=1, SCHEMA_VERSION="4.0.0", VERSION_COMMENT="Hive release version 4.0.0")
    _insert("NOTIFICATION_SEQUENCE", NNI_ID=1, NEXT_EVENT_ID=1)
    for model in ("MNotificationLog", "MTxnWriteNotificationLog"):
        _insert("SEQUENCE_TABLE", SEQUENCE_NAME=f"org.apache.hadoop.hive.metastore.model.{model}", NEXT_VAL=1)


def _insert(table: str, **values: int | str) -> None:
    types = {name: sa.BigInteger() if isinstance(value, int) else sa.String() for name, value in values.items()}
    columns = [sa.column(name, kind) for name, kind in types.items()]
    op.bulk_insert(sa.table(table, *columns), [values])


def downgrade() -> None:
    op.drop_index("PCS_STATS_IDX", table_name="PART_COL_STATS")
    op.drop_index("PART_COL_STATS_N49", table_name="PART_COL_STATS")
    op.drop_index("HMSTATS_PART_COL_STATS_UNIQUE", table_name="PART_COL_STATS")
    op.drop_table("PART_COL_STATS")
    op.drop_index("PARTITION_PARAMS_N49", table_name="PARTITION_PARAMS")
    op.drop_table("PARTITION_PARAMS")
    op.drop_index("PARTITION_KEY_VALS_N49", table_name="PARTITION_KEY_VALS")
    op.drop_table("PARTITION_KEY_VALS")
    op.drop_index("TAB_COL_STATS_N49", table_name="TAB_COL_STATS")
    op.drop_index("TAB_COL_STATS_IDX", table_name="TAB_COL_STATS")
    op.drop_index("HMSTATS_TAB_COL_STATS_UNIQUE", table_name="TAB_COL_STATS")
    op.drop_table("TAB_COL_STATS")
    op.drop_index("TABLE_PARAMS_N49", table_name="TABLE_PARAMS")
    op.drop_table("TABLE_PARAMS")
    op.drop_index("PARTITION_KEYS_N49", table_name="PARTITION_KEYS")
    op.drop_table("PARTITION_KEYS")
    op.drop_index("PARTITIONS_N50", table_name="PARTITIONS")
    op.drop_index("PARTITIONS_N49", table_name="PARTITIONS")
    op.drop_table("PARTITIONS")
    op.drop_index("TBLS_N50", table_name="TBLS")
    op.drop_index("TBLS_N49", table_name="TBLS")
    op.drop_table("TBLS")
    op.drop_index("SORT_COLS_N49", table_name="SORT_COLS")
    op.drop_table("SORT_COLS")
    op.drop_table("SKEWED_VALUES")
    op.drop_table("SKEWED_COL_VALUE_LOC_MAP")
    op.drop_table("SKEWED_COL_NAMES")
    op.drop_index("SD_PARAMS_N49", table_name="SD_PARAMS")
    op.drop_table("SD_PARAMS")
    op.drop_index("DATABASE_PARAMS_N49", table_name="DATABASE_PARAMS")
    op.drop_table("DATABASE_PARAMS")
    op.drop_index("BUCKETING_COLS_N49", table_name="BUCKETING_COLS")
    op.drop_table("BUCKETING_COLS")
    op.drop_table("SKEWED_STRING_LIST_VALUES")
    op.drop_index("SERDE_PARAMS_N49", table_name="SERDE_PARAMS")
    op.drop_table("SERDE_PARAMS")
    op.drop_index("SDS_N50", table_name="SDS")
    op.drop_index("SDS_N49", table_name="SDS")
    op.drop_table("SDS")
    op.drop_table("DBS")
    op.drop_index("COLUMNS_V2_N49", table_name="COLUMNS_V2")
    op.drop_table("COLUMNS_V2")
    op.drop_table("VERSION")
    op.drop_table("SKEWED_STRING_LIST")
    op.drop_table("SERDES")
    op.drop_table("SEQUENCE_TABLE")
    op.drop_table("NOTIFICATION_SEQUENCE")
    op.drop_table("NOTIFICATION_LOG")
    op.drop_table("HMSTATS_TABLE_VERSION")
    op.drop_table("CTLGS")
    op.drop_table("CDS")
