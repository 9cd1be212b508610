"""Ids from SEQUENCE_TABLE, by Hive's own protocol, so that Hive may write to the same database.

A row's NEXT_VAL is the first id that nobody has reserved. It is read with a lock, moved on, and committed at once. On
PostgreSQL a process reserves blocks, in a transaction of its own, and hands out ids from them; what is left of a
block when the process ends is never used. SQLite has one writer at a time: there ids are taken within the writer's
own transaction.
"""

import threading
from enum import Enum

from sqlalchemy import Connection, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from hmstats.store.schema import SEQUENCE_TABLE

_BLOCK = 1_000
_FIRST = 1


class Sequence(Enum):
    """The sequences by the names that Hive gives them: its model classes."""

    DATABASE = "org.apache.hadoop.hive.metastore.model.MDatabase"
    TABLE = "org.apache.hadoop.hive.metastore.model.MTable"
    STORAGE = "org.apache.hadoop.hive.metastore.model.MStorageDescriptor"
    COLUMNS = "org.apache.hadoop.hive.metastore.model.MColumnDescriptor"
    SERDE = "org.apache.hadoop.hive.metastore.model.MSerDeInfo"
    STRING_LIST = "org.apache.hadoop.hive.metastore.model.MStringList"
    PARTITION = "org.apache.hadoop.hive.metastore.model.MPartition"
    TABLE_STATISTICS = "org.apache.hadoop.hive.metastore.model.MTableColumnStatistics"
    PARTITION_STATISTICS = "org.apache.hadoop.hive.metastore.model.MPartitionColumnStatistics"


class Ids:
    """Hands out ids. One object serves all threads of a process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._left: dict[Sequence, range] = {}

    def take(self, connection: Connection, sequence: Sequence, count: int) -> range:
        """`count` ids in a row that nobody else has. `connection` is the writer's, used where there is only one."""
        if connection.dialect.name == "sqlite":
            return _reserve(connection, sequence, count)
        with self._lock:
            left = self._left.get(sequence, range(0))
            if len(left) < count:
                with self._engine.begin() as own:
                    left = _reserve(own, sequence, max(count, _BLOCK))
            self._left[sequence] = left[count:]
            return left[:count]


def _reserve(connection: Connection, sequence: Sequence, count: int) -> range:
    row = SEQUENCE_TABLE.c.SEQUENCE_NAME == sequence.value
    query = select(SEQUENCE_TABLE.c.NEXT_VAL).where(row).with_for_update()
    first = connection.execute(query).scalar_one_or_none()
    if first is None:
        new = {"SEQUENCE_NAME": sequence.value, "NEXT_VAL": _FIRST}
        if connection.dialect.name == "sqlite":
            connection.execute(SEQUENCE_TABLE.insert(), new)
        else:  # another process may have made the row a moment ago
            connection.execute(insert(SEQUENCE_TABLE).values(new).on_conflict_do_nothing())
        first = connection.execute(query).scalar_one()
    connection.execute(update(SEQUENCE_TABLE).where(row).values(NEXT_VAL=first + count))
    return range(first, first + count)
