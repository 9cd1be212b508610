"""The tables: Hive's own under Hive's names and types (schema 4.0.0), and ours, which begin with HMSTATS_.

Names are upper case and quoted on PostgreSQL. Hive's tables keep their shape for ever; a database that is ours has
unique indexes besides, so that two writers of one column's statistics leave one row. migrations/ makes them; a test
holds both together.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

METADATA = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_name)s_key",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
    }
)
"""PostgreSQL's own naming, which most of Hive's constraints follow; the others say their names below."""


def _key(name: str, length: int | None = None, *, refers: str | None = None, called: str | None = None) -> Column[Any]:
    """A column of the primary key: a bigint, or a text of a length."""
    kind = String(length) if length else BigInteger
    return Column(name, kind, *_reference(refers, called), primary_key=True, autoincrement=False)


def _big(name: str, *, required: bool = False, refers: str | None = None, called: str | None = None) -> Column[int]:
    return Column(name, BigInteger, *_reference(refers, called), nullable=not required)


def _text(name: str, length: int | None = None, *, required: bool = False) -> Column[str]:
    return Column(name, String(length) if length else Text, nullable=not required)


def _reference(refers: str | None, called: str | None) -> list[ForeignKey]:
    """The foreign key to `refers`, named `called` where Hive departs from the naming above."""
    return [ForeignKey(refers, name=called, deferrable=True)] if refers else []


def _parameters(name: str, owner: str, parent: str) -> Table:
    """A table of parameters: a key and a value for each row of `parent`."""
    return Table(
        name,
        METADATA,
        _key(owner, refers=f"{parent}.{owner}"),
        _key("PARAM_KEY", 256),
        _text("PARAM_VALUE"),
        Index(f"{name}_N49", owner),
    )


CTLGS = Table(
    "CTLGS",
    METADATA,
    _key("CTLG_ID"),
    Column("NAME", String(256), unique=True),
    _text("DESC", 4000),
    _text("LOCATION_URI", 4000, required=True),
    _big("CREATE_TIME"),
)
DBS = Table(
    "DBS",
    METADATA,
    _key("DB_ID"),
    _text("DESC", 4000),
    _text("DB_LOCATION_URI", 4000, required=True),
    _text("NAME", 128),
    _text("OWNER_NAME", 128),
    _text("OWNER_TYPE", 10),
    Column("CTLG_NAME", String(256), ForeignKey("CTLGS.NAME", name="DBS_FK1"), nullable=False, server_default="hive"),
    _big("CREATE_TIME"),
    _text("DB_MANAGED_LOCATION_URI", 4000),
    Column("TYPE", String(32), nullable=False, server_default="NATIVE"),
    _text("DATACONNECTOR_NAME", 128),
    _text("REMOTE_DBNAME", 128),
    UniqueConstraint("NAME", "CTLG_NAME", name="UNIQUE_DATABASE"),
)
DATABASE_PARAMS = Table(
    "DATABASE_PARAMS",
    METADATA,
    _key("DB_ID", refers="DBS.DB_ID"),
    _key("PARAM_KEY", 180),
    _text("PARAM_VALUE", 4000),
    Index("DATABASE_PARAMS_N49", "DB_ID"),
)
CDS = Table("CDS", METADATA, _key("CD_ID"))
COLUMNS_V2 = Table(
    "COLUMNS_V2",
    METADATA,
    _key("CD_ID", refers="CDS.CD_ID"),
    _text("COMMENT", 4000),
    _key("COLUMN_NAME", 767),
    _text("TYPE_NAME"),
    Column("INTEGER_IDX", Integer, nullable=False),
)
SERDES = Table(
    "SERDES",
    METADATA,
    _key("SERDE_ID"),
    _text("NAME", 128),
    _text("SLIB", 4000),
    _text("DESCRIPTION", 4000),
    _text("SERIALIZER_CLASS", 4000),
    _text("DESERIALIZER_CLASS", 4000),
    Column("SERDE_TYPE", Integer),
)
SERDE_PARAMS = _parameters("SERDE_PARAMS", "SERDE_ID", "SERDES")
SDS = Table(
    "SDS",
    METADATA,
    _key("SD_ID"),
    _text("INPUT_FORMAT", 4000),
    Column("IS_COMPRESSED", Boolean, nullable=False),
    _text("LOCATION", 4000),
    _big("NUM_BUCKETS", required=True),
    _text("OUTPUT_FORMAT", 4000),
    _big("SERDE_ID", refers="SERDES.SERDE_ID"),
    _big("CD_ID", refers="CDS.CD_ID"),
    Column("IS_STOREDASSUBDIRECTORIES", Boolean, nullable=False),
    Index("SDS_N49", "SERDE_ID"),
    Index("SDS_N50", "CD_ID"),
)
SD_PARAMS = _parameters("SD_PARAMS", "SD_ID", "SDS")
BUCKETING_COLS = Table(
    "BUCKETING_COLS",
    METADATA,
    _key("SD_ID", refers="SDS.SD_ID"),
    _text("BUCKET_COL_NAME", 256),
    _key("INTEGER_IDX"),
    Index("BUCKETING_COLS_N49", "SD_ID"),
)
SORT_COLS = Table(
    "SORT_COLS",
    METADATA,
    _key("SD_ID", refers="SDS.SD_ID"),
    _text("COLUMN_NAME", 767),
    _big("ORDER", required=True),
    _key("INTEGER_IDX"),
    Index("SORT_COLS_N49", "SD_ID"),
)
SKEWED_STRING_LIST = Table("SKEWED_STRING_LIST", METADATA, _key("STRING_LIST_ID"))
SKEWED_STRING_LIST_VALUES = Table(
    "SKEWED_STRING_LIST_VALUES",
    METADATA,
    _key("STRING_LIST_ID", refers="SKEWED_STRING_LIST.STRING_LIST_ID", called="SKEWED_STRING_LIST_VALUES_fkey"),
    _text("STRING_LIST_VALUE", 256),
    _key("INTEGER_IDX"),
)
SKEWED_COL_NAMES = Table(
    "SKEWED_COL_NAMES",
    METADATA,
    _key("SD_ID", refers="SDS.SD_ID", called="SKEWED_COL_NAMES_fkey"),
    _text("SKEWED_COL_NAME", 256),
    _key("INTEGER_IDX"),
)
SKEWED_COL_VALUE_LOC_MAP = Table(
    "SKEWED_COL_VALUE_LOC_MAP",
    METADATA,
    _key("SD_ID", refers="SDS.SD_ID", called="SKEWED_COL_VALUE_LOC_MAP_fkey1"),
    _key("STRING_LIST_ID_KID", refers="SKEWED_STRING_LIST.STRING_LIST_ID", called="SKEWED_COL_VALUE_LOC_MAP_fkey2"),
    _text("LOCATION", 4000),
)
SKEWED_VALUES = Table(
    "SKEWED_VALUES",
    METADATA,
    _key("SD_ID_OID", refers="SDS.SD_ID", called="SKEWED_VALUES_fkey2"),
    _big("STRING_LIST_ID_EID", required=True, refers="SKEWED_STRING_LIST.STRING_LIST_ID", called="SKEWED_VALUES_fkey1"),
    _key("INTEGER_IDX"),
)
TBLS = Table(
    "TBLS",
    METADATA,
    _key("TBL_ID"),
    _big("CREATE_TIME", required=True),
    _big("DB_ID", refers="DBS.DB_ID"),
    _big("LAST_ACCESS_TIME", required=True),
    _text("OWNER", 767),
    _text("OWNER_TYPE", 10),
    _big("RETENTION", required=True),
    _big("SD_ID", refers="SDS.SD_ID"),
    _text("TBL_NAME", 256),
    _text("TBL_TYPE", 128),
    _text("VIEW_EXPANDED_TEXT"),
    _text("VIEW_ORIGINAL_TEXT"),
    Column("IS_REWRITE_ENABLED", Boolean, nullable=False, server_default=false()),
    Column("WRITE_ID", BigInteger, server_default="0"),
    UniqueConstraint("TBL_NAME", "DB_ID", name="UNIQUETABLE"),
    Index("TBLS_N49", "DB_ID"),
    Index("TBLS_N50", "SD_ID"),
)
TABLE_PARAMS = _parameters("TABLE_PARAMS", "TBL_ID", "TBLS")
PARTITION_KEYS = Table(
    "PARTITION_KEYS",
    METADATA,
    _key("TBL_ID", refers="TBLS.TBL_ID"),
    _text("PKEY_COMMENT", 4000),
    _key("PKEY_NAME", 128),
    _text("PKEY_TYPE", 767, required=True),
    _big("INTEGER_IDX", required=True),
    Index("PARTITION_KEYS_N49", "TBL_ID"),
)
PARTITIONS = Table(
    "PARTITIONS",
    METADATA,
    _key("PART_ID"),
    _big("CREATE_TIME", required=True),
    _big("LAST_ACCESS_TIME", required=True),
    _text("PART_NAME", 767),
    _big("SD_ID", refers="SDS.SD_ID"),
    _big("TBL_ID", refers="TBLS.TBL_ID"),
    Column("WRITE_ID", BigInteger, server_default="0"),
    UniqueConstraint("TBL_ID", "PART_NAME", name="UNIQUEPARTITION"),
    Index("PARTITIONS_N50", "SD_ID"),
)
PARTITION_PARAMS = _parameters("PARTITION_PARAMS", "PART_ID", "PARTITIONS")
PARTITION_KEY_VALS = Table(
    "PARTITION_KEY_VALS",
    METADATA,
    _key("PART_ID", refers="PARTITIONS.PART_ID"),
    _text("PART_KEY_VAL", 256),
    _key("INTEGER_IDX"),
    Index("PARTITION_KEY_VALS_N49", "PART_ID"),
)


def _statistics_columns() -> Sequence[Column[Any]]:
    """What TAB_COL_STATS and PART_COL_STATS have in common, in Hive's order."""
    return (
        _big("LONG_LOW_VALUE"),
        _big("LONG_HIGH_VALUE"),
        Column("DOUBLE_LOW_VALUE", Double),
        Column("DOUBLE_HIGH_VALUE", Double),
        _text("BIG_DECIMAL_LOW_VALUE", 4000),
        _text("BIG_DECIMAL_HIGH_VALUE", 4000),
        _big("NUM_NULLS", required=True),
        _big("NUM_DISTINCTS"),
        Column("BIT_VECTOR", LargeBinary),
        Column("AVG_COL_LEN", Double),
        _big("MAX_COL_LEN"),
        _big("NUM_TRUES"),
        _big("NUM_FALSES"),
        _big("LAST_ANALYZED", required=True),
        _text("ENGINE", 128, required=True),
        Column("HISTOGRAM", LargeBinary),
    )


TAB_COL_STATS = Table(
    "TAB_COL_STATS",
    METADATA,
    _key("CS_ID"),
    _text("CAT_NAME", 256),
    _text("DB_NAME", 128),
    _text("TABLE_NAME", 256),
    _text("COLUMN_NAME", 767),
    _text("COLUMN_TYPE", 128),
    _big("TBL_ID", required=True, refers="TBLS.TBL_ID", called="TAB_COL_STATS_fkey"),
    *_statistics_columns(),
    Index("TAB_COL_STATS_IDX", "DB_NAME", "TABLE_NAME", "COLUMN_NAME", "CAT_NAME"),
    Index("TAB_COL_STATS_N49", "TBL_ID"),
    Index("HMSTATS_TAB_COL_STATS_UNIQUE", "TBL_ID", "COLUMN_NAME", "ENGINE", unique=True),
)
PART_COL_STATS = Table(
    "PART_COL_STATS",
    METADATA,
    _key("CS_ID"),
    _text("CAT_NAME", 256),
    _text("DB_NAME", 128),
    _text("TABLE_NAME", 256),
    _text("PARTITION_NAME", 767),
    _text("COLUMN_NAME", 767),
    _text("COLUMN_TYPE", 128),
    _big("PART_ID", required=True, refers="PARTITIONS.PART_ID", called="PART_COL_STATS_fkey"),
    *_statistics_columns(),
    Index("PCS_STATS_IDX", "DB_NAME", "TABLE_NAME", "COLUMN_NAME", "PARTITION_NAME", "CAT_NAME"),
    Index("PART_COL_STATS_N49", "PART_ID"),
    Index("HMSTATS_PART_COL_STATS_UNIQUE", "PART_ID", "COLUMN_NAME", "ENGINE", unique=True),
)
SEQUENCE_TABLE = Table(
    "SEQUENCE_TABLE",
    METADATA,
    _key("SEQUENCE_NAME", 255),
    _big("NEXT_VAL", required=True),
)
VERSION = Table(
    "VERSION",
    METADATA,
    _key("VER_ID"),
    _text("SCHEMA_VERSION", 127, required=True),
    _text("VERSION_COMMENT", 255, required=True),
)
NOTIFICATION_LOG = Table(
    "NOTIFICATION_LOG",
    METADATA,
    _key("NL_ID"),
    _big("EVENT_ID", required=True),
    Column("EVENT_TIME", Integer, nullable=False),
    _text("EVENT_TYPE", 32, required=True),
    _text("CAT_NAME", 256),
    _text("DB_NAME", 128),
    _text("TBL_NAME", 256),
    _text("MESSAGE"),
    _text("MESSAGE_FORMAT", 16),
    Index("NOTIFICATION_LOG_EVENT_ID", "EVENT_ID", unique=True),
)
NOTIFICATION_SEQUENCE = Table(
    "NOTIFICATION_SEQUENCE",
    METADATA,
    _key("NNI_ID"),
    _big("NEXT_EVENT_ID", required=True),
    CheckConstraint('"NNI_ID" = 1', name="ONE_ROW_CONSTRAINT"),
)

HMSTATS_TABLE_VERSION = Table(
    "HMSTATS_TABLE_VERSION",
    METADATA,
    _key("TBL_ID"),
    _big("VERSION", required=True),
    comment="Counts every write that touches a table, its partitions or statistics",
)
