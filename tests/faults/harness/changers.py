"""Threads that change tables, partitions and statistics at random, until their process is killed.

Each has a database of its own, which is a lake's (lake.py). Partitions that are added in bulk have no files.
"""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, NoReturn
from unittest.mock import patch

from hmstats.errors import MetastoreError
from hmstats.files import directories
from hmstats.model.catalog.objects import Column, Partition, Storage, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

NAMES = ("t", "other", "u")
BULK = 50
"""Partitions that are added, and get statistics, by one call."""
FIRST_OF_BULK = 1_000
"""The value of the first of them."""
_COPY_SECONDS = 0.02


class Changer:
    """Changes one database. A change that cannot be is refused, and another one is tried."""

    def __init__(self, store: Store, warehouse: Warehouse, database: str, seed: int) -> None:
        self._random = random.Random(f"{seed} {database}")
        self._database = database
        self._tables = Tables(store, warehouse)
        self._read = Partitions(store)
        self._alterations = TableAlterations(store, warehouse)
        self._partitions = PartitionChanges(store, warehouse)
        self._moves = PartitionMoves(store, warehouse)
        self._truncation = Truncation(store, warehouse)
        self._statistics = StatisticsWriter(store)
        self._next_bulk = FIRST_OF_BULK

    def run(self, began: threading.Event) -> NoReturn:
        """Change something again and again; the event is set when the first change was made."""
        often: list[Callable[[], object]] = [self._rename, self._rename_partition, self._exchange]
        seldom = [self._add_in_bulk, self._truncate, self._drop_partition, self._drop_table]
        while True:
            change = self._random.choice([*often * 4, *seldom])
            try:
                change()
                began.set()
            except MetastoreError:
                time.sleep(0.001)

    def _name(self) -> TableName:
        return TableName("hive", self._database, self._random.choice(NAMES))

    def _value(self) -> str:
        return str(self._random.randint(1, 4))

    def _rename(self) -> None:
        name = self._name()
        self._alterations.alter(name, replace(self._tables.get(name), name=self._name()))

    def _rename_partition(self) -> None:
        name, values = self._name(), [self._value()]
        self._moves.rename(name, values, replace(self._read.get(name, values), values=(self._value(),)))

    def _exchange(self) -> None:
        self._moves.exchange({"k": self._value()}, self._name(), self._name())

    def _add_in_bulk(self) -> None:
        name, first = self._name(), self._next_bulk
        self._next_bulk += BULK
        storage = Storage(columns=(Column("c", "bigint"),))
        new = [Partition(values=(str(first + each),), storage=storage) for each in range(BULK)]
        self._partitions.add(name, new)
        data = (ColumnStatistics("c", "bigint", LongStatistics(nulls=1, ndv=2)),)
        self._statistics.update_partitions(name, [StatisticsSet(data, f"k={first + each}") for each in range(BULK)])

    def _truncate(self) -> None:
        self._truncation.truncate(self._name(), self._random.choice([None, [f"k={self._value()}"]]))

    def _drop_partition(self) -> None:
        self._partitions.drop(self._name(), [self._value()], delete_data=True)

    def _drop_table(self) -> None:
        self._tables.drop(self._name(), delete_data=True)


def change_until_killed(
    store: Store, warehouse: Warehouse, databases: list[str], seed: int, after_seconds: float, *, copies: bool
) -> NoReturn:
    """Have a thread change each database, and kill this process; with `copies` as if its disk were an object store."""
    if copies:
        patch.object(directories, "renames", return_value=False).start()
        patch.object(directories, "_copy_file", _slow(directories._copy_file)).start()
    began = threading.Event()
    for each in databases:
        threading.Thread(target=Changer(store, warehouse, each, seed).run, args=(began,), daemon=True).start()
    began.wait()
    time.sleep(after_seconds)
    while True:
        os.kill(os.getpid(), signal.SIGKILL)


def _slow(work: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(work)
    def slow(*arguments: Any, **named: Any) -> Any:
        time.sleep(_COPY_SECONDS)
        return work(*arguments, **named)

    return slow
