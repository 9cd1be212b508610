"""The tables: Hive's with Hive's names and types (schema 4.0.0), and ours, which begin with HMSTATS_.

Names are upper case and quoted on PostgreSQL. Hive's tables never change their columns; hmstats' own databases have
unique indexes besides, so that two writers of one column's statistics leave one row. migrations/ creates them; a test
compares both.

columns                                  helpers for definitions
catalog, storage, statistics             databases, tables, partitions; their files; their column statistics
constraints, views, functions, types     other objects of tables and databases
connectors, events                       data connectors; marks of events on partitions
privileges, tokens                       privileges, roles; delegation tokens
transactions                             locks, transactions and write ids
service                                  ids, the schema's version, properties, the notification log
ours, history, health                    our own tables; statistics before each write; their health
mirrors                                  another metastore's tables
"""

from hmstats.store.schema.catalog import (
    CATALOG_PARAMS,
    CTLGS,
    DATABASE_PARAMS,
    DBS,
    PARTITION_KEY_VALS,
    PARTITION_KEYS,
    PARTITION_PARAMS,
    PARTITIONS,
    TABLE_PARAMS,
    TBLS,
)
from hmstats.store.schema.columns import (
    METADATA,
)
from hmstats.store.schema.connectors import DATACONNECTOR_PARAMS, DATACONNECTORS
from hmstats.store.schema.constraints import (
    KEY_CONSTRAINTS,
)
from hmstats.store.schema.events import PARTITION_EVENTS
from hmstats.store.schema.functions import (
    FUNC_RU,
    FUNCS,
)
from hmstats.store.schema.health import (
    HMSTATS_BLAME,
    HMSTATS_HEALTH,
    HMSTATS_HEALTH_PROGRESS,
    HMSTATS_RUN,
    HMSTATS_RUN_LEASE,
)
from hmstats.store.schema.history import (
    HMSTATS_HISTORY,
    HMSTATS_HISTORY_COLUMN,
    HMSTATS_HISTORY_PARAMETER,
    HMSTATS_HISTORY_PARTITION,
    HMSTATS_HISTORY_SKETCH,
    HMSTATS_PENDING,
    HMSTATS_PENDING_COLUMN,
)
from hmstats.store.schema.mirrors import HMSTATS_MIRROR, HMSTATS_MIRROR_CALL, HMSTATS_MIRROR_SEEN
from hmstats.store.schema.ours import (
    HMSTATS_API_TOKEN,
    HMSTATS_AUDIT,
    HMSTATS_AUDIT_OBJECT,
    HMSTATS_COLUMN_PROVENANCE,
    HMSTATS_DELEGATION_TOKEN,
    HMSTATS_FILE_CHANGE,
    HMSTATS_NUMBER_BLOCK,
    HMSTATS_NUMBER_INDEX,
    HMSTATS_OWN_CHANGE,
    HMSTATS_PARTIAL_STATE,
    HMSTATS_PREFERENCE,
    HMSTATS_PROVENANCE,
    HMSTATS_STATISTICS_LOCK,
    HMSTATS_TABLE_CHANGE,
    HMSTATS_TABLE_VERSION,
    HMSTATS_TOP_K,
    HMSTATS_VECTOR_BLOCK,
    HMSTATS_VECTOR_INDEX,
)
from hmstats.store.schema.privileges import (
    DB_PRIVS,
    GLOBAL_PRIVS,
    PART_COL_PRIVS,
    PART_PRIVS,
    ROLE_MAP,
    ROLES,
    TBL_COL_PRIVS,
    TBL_PRIVS,
)
from hmstats.store.schema.service import (
    METASTORE_DB_PROPERTIES,
    NOTIFICATION_LOG,
    NOTIFICATION_SEQUENCE,
    RUNTIME_STATS,
    SEQUENCE_TABLE,
    VERSION,
)
from hmstats.store.schema.statistics import (
    PART_COL_STATS,
    TAB_COL_STATS,
)
from hmstats.store.schema.storage import (
    BUCKETING_COLS,
    CDS,
    COLUMNS_V2,
    SD_PARAMS,
    SDS,
    SERDE_PARAMS,
    SERDES,
    SKEWED_COL_NAMES,
    SKEWED_COL_VALUE_LOC_MAP,
    SKEWED_STRING_LIST,
    SKEWED_STRING_LIST_VALUES,
    SKEWED_VALUES,
    SORT_COLS,
)
from hmstats.store.schema.tokens import DELEGATION_TOKENS, MASTER_KEYS
from hmstats.store.schema.transactions import (
    HIVE_LOCKS,
    NEXT_LOCK_ID,
    NEXT_WRITE_ID,
    TXN_COMPONENTS,
    TXN_TO_WRITE_ID,
    TXNS,
)
from hmstats.store.schema.types import TYPE_FIELDS, TYPES
from hmstats.store.schema.views import MV_CREATION_METADATA, MV_TABLES_USED

__all__ = [
    "BUCKETING_COLS",
    "CATALOG_PARAMS",
    "CDS",
    "COLUMNS_V2",
    "CTLGS",
    "DATABASE_PARAMS",
    "DATACONNECTORS",
    "DATACONNECTOR_PARAMS",
    "DBS",
    "DB_PRIVS",
    "DELEGATION_TOKENS",
    "FUNCS",
    "FUNC_RU",
    "GLOBAL_PRIVS",
    "HIVE_LOCKS",
    "HMSTATS_API_TOKEN",
    "HMSTATS_AUDIT",
    "HMSTATS_AUDIT_OBJECT",
    "HMSTATS_BLAME",
    "HMSTATS_COLUMN_PROVENANCE",
    "HMSTATS_DELEGATION_TOKEN",
    "HMSTATS_FILE_CHANGE",
    "HMSTATS_HEALTH",
    "HMSTATS_HEALTH_PROGRESS",
    "HMSTATS_HISTORY",
    "HMSTATS_HISTORY_COLUMN",
    "HMSTATS_HISTORY_PARAMETER",
    "HMSTATS_HISTORY_PARTITION",
    "HMSTATS_HISTORY_SKETCH",
    "HMSTATS_MIRROR",
    "HMSTATS_MIRROR_CALL",
    "HMSTATS_MIRROR_SEEN",
    "HMSTATS_NUMBER_BLOCK",
    "HMSTATS_NUMBER_INDEX",
    "HMSTATS_OWN_CHANGE",
    "HMSTATS_PARTIAL_STATE",
    "HMSTATS_PENDING",
    "HMSTATS_PENDING_COLUMN",
    "HMSTATS_PREFERENCE",
    "HMSTATS_PROVENANCE",
    "HMSTATS_RUN",
    "HMSTATS_RUN_LEASE",
    "HMSTATS_STATISTICS_LOCK",
    "HMSTATS_TABLE_CHANGE",
    "HMSTATS_TABLE_VERSION",
    "HMSTATS_TOP_K",
    "HMSTATS_VECTOR_BLOCK",
    "HMSTATS_VECTOR_INDEX",
    "KEY_CONSTRAINTS",
    "MASTER_KEYS",
    "METADATA",
    "METASTORE_DB_PROPERTIES",
    "MV_CREATION_METADATA",
    "MV_TABLES_USED",
    "NEXT_LOCK_ID",
    "NEXT_WRITE_ID",
    "NOTIFICATION_LOG",
    "NOTIFICATION_SEQUENCE",
    "PARTITIONS",
    "PARTITION_EVENTS",
    "PARTITION_KEYS",
    "PARTITION_KEY_VALS",
    "PARTITION_PARAMS",
    "PART_COL_PRIVS",
    "PART_COL_STATS",
    "PART_PRIVS",
    "ROLES",
    "ROLE_MAP",
    "RUNTIME_STATS",
    "SDS",
    "SD_PARAMS",
    "SEQUENCE_TABLE",
    "SERDES",
    "SERDE_PARAMS",
    "SKEWED_COL_NAMES",
    "SKEWED_COL_VALUE_LOC_MAP",
    "SKEWED_STRING_LIST",
    "SKEWED_STRING_LIST_VALUES",
    "SKEWED_VALUES",
    "SORT_COLS",
    "TABLE_PARAMS",
    "TAB_COL_STATS",
    "TBLS",
    "TBL_COL_PRIVS",
    "TBL_PRIVS",
    "TXNS",
    "TXN_COMPONENTS",
    "TXN_TO_WRITE_ID",
    "TYPES",
    "TYPE_FIELDS",
    "VERSION",
]
