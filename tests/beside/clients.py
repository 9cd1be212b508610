"""Clients that change tables, partitions and statistics of one database at random, each through one of two servers."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.behaviour.structs import STRUCTS, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

PLAIN, PARTED = ("t0", "t1", "t2"), ("p0", "p1")
PARTITIONS = tuple(f"k={letter}" for letter in "abcdef")
SAID = (
    api.NoSuchObjectException,
    api.InvalidObjectException,
    api.InvalidOperationException,
    api.AlreadyExistsException,
)
"""What a metastore says when another client was faster: the partition is gone, or the table is there already."""


@dataclass
class Client:
    """One client with a seed of its own; `locks` has one for each table, so that no two change one table at once."""

    metastore: Metastore
    seed: int
    locks: dict[str, threading.Lock]
    done: Counter[str] = field(default_factory=Counter)

    def run(self, ended: threading.Event) -> None:
        """Change something after the other until told to end."""
        self._client = self.metastore.client()
        self._random = random.Random(self.seed)
        while not ended.is_set():
            change = self._random.choice(_CHANGES)
            table = self._random.choice(PLAIN if change in _OF_PLAIN else PARTED)
            with self.locks[table]:
                try:
                    change(self, table)
                    self.done[change.__name__] += 1
                except SAID:
                    self.done["too late"] += 1

    def _columns(self) -> list[Any]:
        names = self._random.sample(list(STRUCTS), self._random.randint(1, 4))
        return [statistics_of(name, numNulls=self._random.randint(0, 99), **self._more(name)) for name in sorted(names)]

    def _more(self, column: str) -> dict[str, int]:
        return {} if column in ("b", "bin") else {"numDVs": self._random.randint(0, 99)}

    def of_table(self, table: str) -> None:
        """Write statistics of some columns of a table."""
        self._client.update_table_column_statistics(statistics(self.metastore, *self._columns(), table=table))

    def delete_of_table(self, table: str) -> None:
        """Delete the statistics of one column of a table."""
        column = self._random.choice(list(STRUCTS))
        self._client.delete_table_column_statistics(self.metastore.database, table, column, "hive")

    def parameters(self, table: str) -> None:
        """Change the parameters of a table."""
        found = self.metastore.read_table(table)
        found.parameters[self._random.choice("xyz")] = str(self._random.random())
        self._client.alter_table(self.metastore.database, table, found)

    def make_again(self, table: str) -> None:
        """Drop a table and make it again."""
        self._client.drop_table(self.metastore.database, table, True)
        self.metastore.table(table)

    def of_partition(self, table: str) -> None:
        """Write statistics of some columns of a partition."""
        partition = self._random.choice(PARTITIONS)
        sent = statistics(self.metastore, *self._columns(), partition=partition, table=table)
        self._client.update_partition_column_statistics(sent)

    def of_partitions(self, table: str) -> None:
        """Write statistics of all partitions there are."""
        names = self._client.get_partition_names(self.metastore.database, table, -1)
        if names:
            objects = self._columns()
            each = [statistics(self.metastore, *objects, partition=name, table=table) for name in names]
            self._client.set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=each))

    def add(self, table: str) -> None:
        """Add a partition."""
        self.metastore.add_partitions((self._random.choice(PARTITIONS)[2:],), table=table)

    def drop(self, table: str) -> None:
        """Drop a partition."""
        name = self._random.choice(PARTITIONS)
        self._client.drop_partition_by_name(self.metastore.database, table, name, True)


_OF_PLAIN: tuple[Callable[[Client, str], None], ...] = (
    Client.of_table,
    Client.delete_of_table,
    Client.parameters,
    Client.make_again,
)
_CHANGES: tuple[Callable[[Client, str], None], ...] = (
    *_OF_PLAIN,
    *(Client.of_table, Client.of_partition, Client.of_partitions) * 2,
    Client.add,
    Client.drop,
)
