"""Storage of data: column descriptors, serdes, storage descriptors, skew."""

from sqlalchemy import Boolean, Column, Index, Integer, Table

from hmstats.store.schema.columns import METADATA, big, key, parameters, text

LOCATION_INDEX = "HMSTATS_SDS_LOCATION"
"""Created after the migrations (location_index.py); SP-GiST, since a location may exceed a B-tree's limit."""
CDS = Table("CDS", METADATA, key("CD_ID"))
COLUMNS_V2 = Table(
    "COLUMNS_V2",
    METADATA,
    key("CD_ID", refers="CDS.CD_ID"),
    text("COMMENT", 4000),
    key("COLUMN_NAME", 767),
    text("TYPE_NAME"),
    Column("INTEGER_IDX", Integer, nullable=False),
)
SERDES = Table(
    "SERDES",
    METADATA,
    key("SERDE_ID"),
    text("NAME", 128),
    text("SLIB", 4000),
    text("DESCRIPTION", 4000),
    text("SERIALIZER_CLASS", 4000),
    text("DESERIALIZER_CLASS", 4000),
    Column("SERDE_TYPE", Integer),
)
SERDE_PARAMS = parameters("SERDE_PARAMS", "SERDE_ID", "SERDES")
SDS = Table(
    "SDS",
    METADATA,
    key("SD_ID"),
    text("INPUT_FORMAT", 4000),
    Column("IS_COMPRESSED", Boolean, nullable=False),
    text("LOCATION", 4000),
    big("NUM_BUCKETS", required=True),
    text("OUTPUT_FORMAT", 4000),
    big("SERDE_ID", refers="SERDES.SERDE_ID"),
    big("CD_ID", refers="CDS.CD_ID"),
    Column("IS_STOREDASSUBDIRECTORIES", Boolean, nullable=False),
    Index("SDS_N49", "SERDE_ID"),
    Index("SDS_N50", "CD_ID"),
    Index(LOCATION_INDEX, "LOCATION", postgresql_using="spgist"),
)
SD_PARAMS = parameters("SD_PARAMS", "SD_ID", "SDS")
BUCKETING_COLS = Table(
    "BUCKETING_COLS",
    METADATA,
    key("SD_ID", refers="SDS.SD_ID"),
    text("BUCKET_COL_NAME", 256),
    key("INTEGER_IDX"),
    Index("BUCKETING_COLS_N49", "SD_ID"),
)
SORT_COLS = Table(
    "SORT_COLS",
    METADATA,
    key("SD_ID", refers="SDS.SD_ID"),
    text("COLUMN_NAME", 767),
    big("ORDER", required=True),
    key("INTEGER_IDX"),
    Index("SORT_COLS_N49", "SD_ID"),
)
SKEWED_STRING_LIST = Table("SKEWED_STRING_LIST", METADATA, key("STRING_LIST_ID"))
SKEWED_STRING_LIST_VALUES = Table(
    "SKEWED_STRING_LIST_VALUES",
    METADATA,
    key("STRING_LIST_ID", refers="SKEWED_STRING_LIST.STRING_LIST_ID", called="SKEWED_STRING_LIST_VALUES_fkey"),
    text("STRING_LIST_VALUE", 256),
    key("INTEGER_IDX"),
)
SKEWED_COL_NAMES = Table(
    "SKEWED_COL_NAMES",
    METADATA,
    key("SD_ID", refers="SDS.SD_ID", called="SKEWED_COL_NAMES_fkey"),
    text("SKEWED_COL_NAME", 256),
    key("INTEGER_IDX"),
)
SKEWED_COL_VALUE_LOC_MAP = Table(
    "SKEWED_COL_VALUE_LOC_MAP",
    METADATA,
    key("SD_ID", refers="SDS.SD_ID", called="SKEWED_COL_VALUE_LOC_MAP_fkey1"),
    key("STRING_LIST_ID_KID", refers="SKEWED_STRING_LIST.STRING_LIST_ID", called="SKEWED_COL_VALUE_LOC_MAP_fkey2"),
    text("LOCATION", 4000),
)
SKEWED_VALUES = Table(
    "SKEWED_VALUES",
    METADATA,
    key("SD_ID_OID", refers="SDS.SD_ID", called="SKEWED_VALUES_fkey2"),
    big("STRING_LIST_ID_EID", required=True, refers="SKEWED_STRING_LIST.STRING_LIST_ID", called="SKEWED_VALUES_fkey1"),
    key("INTEGER_IDX"),
)
