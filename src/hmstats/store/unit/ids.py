"""Ids from SEQUENCE_TABLE, by Hive's own protocol, so that Hive may write to the same database.

A row's NEXT_VAL is the first id that is not reserved. It is incremented under a row lock, which Hive takes too.
On PostgreSQL a process reserves blocks, in short transactions of their own, and hands out ids from them; the rest
of a block is never used after the process ends. SQLite has one writer at a time: ids are taken within the writer's
own transaction.
"""

import threading
from enum import Enum

from sqlalchemy import Connection, Engine, update
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.schema import SEQUENCE_TABLE

_BLOCK = 1_000
_CALLS = 100
"""Fewest calls that a block serves, if all take as many ids as the one that reserves it."""
_FIRST = 1


class Sequence(Enum):
    """The sequences; the values are Hive's names of them, its model classes."""

    CATALOG = "org.apache.hadoop.hive.metastore.model.MCatalog"
    DATABASE = "org.apache.hadoop.hive.metastore.model.MDatabase"
    TABLE = "org.apache.hadoop.hive.metastore.model.MTable"
    STORAGE = "org.apache.hadoop.hive.metastore.model.MStorageDescriptor"
    COLUMNS = "org.apache.hadoop.hive.metastore.model.MColumnDescriptor"
    SERDE = "org.apache.hadoop.hive.metastore.model.MSerDeInfo"
    STRING_LIST = "org.apache.hadoop.hive.metastore.model.MStringList"
    PARTITION = "org.apache.hadoop.hive.metastore.model.MPartition"
    TABLE_STATISTICS = "org.apache.hadoop.hive.metastore.model.MTableColumnStatistics"
    PARTITION_STATISTICS = "org.apache.hadoop.hive.metastore.model.MPartitionColumnStatistics"
    NOTIFICATION = "org.apache.hadoop.hive.metastore.model.MNotificationLog"
    TYPE = "org.apache.hadoop.hive.metastore.model.MType"
    PARTITION_EVENT = "org.apache.hadoop.hive.metastore.model.MPartitionEvent"
    MATERIALIZED_VIEW = "org.apache.hadoop.hive.metastore.model.MCreationMetadata"
    FUNCTION = "org.apache.hadoop.hive.metastore.model.MFunction"
    RUNTIME_STAT = "org.apache.hadoop.hive.metastore.model.MRuntimeStat"
    ROLE = "org.apache.hadoop.hive.metastore.model.MRole"
    ROLE_GRANT = "org.apache.hadoop.hive.metastore.model.MRoleMap"
    GLOBAL_PRIVILEGE = "org.apache.hadoop.hive.metastore.model.MGlobalPrivilege"
    DATABASE_PRIVILEGE = "org.apache.hadoop.hive.metastore.model.MDBPrivilege"
    TABLE_PRIVILEGE = "org.apache.hadoop.hive.metastore.model.MTablePrivilege"
    PARTITION_PRIVILEGE = "org.apache.hadoop.hive.metastore.model.MPartitionPrivilege"
    TABLE_COLUMN_PRIVILEGE = "org.apache.hadoop.hive.metastore.model.MTableColumnPrivilege"
    PARTITION_COLUMN_PRIVILEGE = "org.apache.hadoop.hive.metastore.model.MPartitionColumnPrivilege"


class Ids:
    """Hands out ids. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._unused: dict[Sequence, range] = {}

    def reserve(self, connection: Connection, sequence: Sequence, count: int) -> range:
        """Take `count` consecutive unused ids; `connection` is the writer's, used on SQLite."""
        if connection.dialect.name == "sqlite":
            return _reserve(connection, sequence, count)
        with self._lock:
            ranges = self._unused
            unused = ranges.get(sequence, range(0))
            if len(unused) < count:
                with self._engine.begin() as own:
                    unused = _reserve(own, sequence, max(_BLOCK, count * _CALLS))
            ranges[sequence] = unused[count:]
            return unused[:count]

    def forget(self) -> None:
        """Drop the reserved blocks. Does not block, even while another thread reserves."""
        self._unused = {}


def _reserve(connection: Connection, sequence: Sequence, count: int) -> range:
    """Increment the sequence, and create it if it is missing; its row is locked until the transaction ends."""
    is_sequence = SEQUENCE_TABLE.c.SEQUENCE_NAME == sequence.value
    next_id = SEQUENCE_TABLE.c.NEXT_VAL + count
    increment = update(SEQUENCE_TABLE).where(is_sequence).values(NEXT_VAL=next_id).returning(SEQUENCE_TABLE.c.NEXT_VAL)
    end = connection.execute(increment).scalar_one_or_none()
    if end is None:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        first_row = dialect.insert(SEQUENCE_TABLE).values(SEQUENCE_NAME=sequence.value, NEXT_VAL=_FIRST)
        # Another process may have made the row a moment ago.
        connection.execute(first_row.on_conflict_do_nothing())
        end = connection.execute(increment).scalar_one()
    return range(end - count, end)
