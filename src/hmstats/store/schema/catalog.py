"""Catalogs, databases, tables and partitions."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, UniqueConstraint, false

from hmstats.store.schema.columns import METADATA, big, key, parameters, text

CTLGS = Table(
    "CTLGS",
    METADATA,
    key("CTLG_ID"),
    Column("NAME", String(256), unique=True),
    text("DESC", 4000),
    text("LOCATION_URI", 4000, required=True),
    big("CREATE_TIME"),
)

CATALOG_PARAMS = Table(
    "CATALOG_PARAMS",
    METADATA,
    key("CTLG_ID", refers="CTLGS.CTLG_ID", called="CATALOG_PARAMS_FK1"),
    key("PARAM_KEY", 180),
    text("PARAM_VALUE", 4000),
)

DBS = Table(
    "DBS",
    METADATA,
    key("DB_ID"),
    text("DESC", 4000),
    text("DB_LOCATION_URI", 4000, required=True),
    text("NAME", 128),
    text("OWNER_NAME", 128),
    text("OWNER_TYPE", 10),
    Column("CTLG_NAME", String(256), ForeignKey("CTLGS.NAME", name="DBS_FK1"), nullable=False, server_default="hive"),
    big("CREATE_TIME"),
    text("DB_MANAGED_LOCATION_URI", 4000),
    Column("TYPE", String(32), nullable=False, server_default="NATIVE"),
    text("DATACONNECTOR_NAME", 128),
    text("REMOTE_DBNAME", 128),
    UniqueConstraint("NAME", "CTLG_NAME", name="UNIQUE_DATABASE"),
)

DATABASE_PARAMS = Table(
    "DATABASE_PARAMS",
    METADATA,
    key("DB_ID", refers="DBS.DB_ID"),
    key("PARAM_KEY", 180),
    text("PARAM_VALUE", 4000),
    Index("DATABASE_PARAMS_N49", "DB_ID"),
)

TBLS = Table(
    "TBLS",
    METADATA,
    key("TBL_ID"),
    big("CREATE_TIME", required=True),
    big("DB_ID", refers="DBS.DB_ID"),
    big("LAST_ACCESS_TIME", required=True),
    text("OWNER", 767),
    text("OWNER_TYPE", 10),
    big("RETENTION", required=True),
    big("SD_ID", refers="SDS.SD_ID"),
    text("TBL_NAME", 256),
    text("TBL_TYPE", 128),
    text("VIEW_EXPANDED_TEXT"),
    text("VIEW_ORIGINAL_TEXT"),
    Column("IS_REWRITE_ENABLED", Boolean, nullable=False, server_default=false()),
    Column("WRITE_ID", BigInteger, server_default="0"),
    UniqueConstraint("TBL_NAME", "DB_ID", name="UNIQUETABLE"),
    Index("TBLS_N49", "DB_ID"),
    Index("TBLS_N50", "SD_ID"),
)

TABLE_PARAMS = parameters("TABLE_PARAMS", "TBL_ID", "TBLS")

PARTITION_KEYS = Table(
    "PARTITION_KEYS",
    METADATA,
    key("TBL_ID", refers="TBLS.TBL_ID"),
    text("PKEY_COMMENT", 4000),
    key("PKEY_NAME", 128),
    text("PKEY_TYPE", 767, required=True),
    big("INTEGER_IDX", required=True),
    Index("PARTITION_KEYS_N49", "TBL_ID"),
)

PARTITIONS = Table(
    "PARTITIONS",
    METADATA,
    key("PART_ID"),
    big("CREATE_TIME", required=True),
    big("LAST_ACCESS_TIME", required=True),
    text("PART_NAME", 767),
    big("SD_ID", refers="SDS.SD_ID"),
    big("TBL_ID", refers="TBLS.TBL_ID"),
    Column("WRITE_ID", BigInteger, server_default="0"),
    UniqueConstraint("TBL_ID", "PART_NAME", name="UNIQUEPARTITION"),
    Index("PARTITIONS_N50", "SD_ID"),
)

PARTITION_PARAMS = parameters("PARTITION_PARAMS", "PART_ID", "PARTITIONS")

PARTITION_KEY_VALS = Table(
    "PARTITION_KEY_VALS",
    METADATA,
    key("PART_ID", refers="PARTITIONS.PART_ID"),
    text("PART_KEY_VAL", 256),
    key("INTEGER_IDX"),
    Index("PARTITION_KEY_VALS_N49", "PART_ID"),
)
