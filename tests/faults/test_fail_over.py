"""Servers that are killed in turn, or their database, under clients of ours: no call fails, and none sees what is old.

HMSTATS_TEST_FAIL_OVERS says how often.
"""

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.harness.database_process import postgres
from tests.faults.harness.server_process import addresses, two_servers
from tests.faults.harness.worker_processes import PATIENCE_SECONDS, metastore_of, wait_until
from tests.fixtures.servers import serving

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

KILLS = int(os.environ.get("HMSTATS_TEST_FAIL_OVERS", "2"))
CLIENTS = 3


@dataclass
class Busy:
    """A client that writes a number to a table of its own and reads it back, again and again."""

    uris: str
    table: TableName
    stopped: threading.Event
    rounds: int = 0
    used: set[str] = field(default_factory=set)
    error: Exception | None = None

    def run(self) -> None:
        """Work until stopped or until a call fails."""
        try:
            with client.connect(self.uris, patience_seconds=PATIENCE_SECONDS) as metastore:
                while not self.stopped.is_set():
                    self._write_and_read(metastore, self.rounds + 1)
                    self.rounds += 1
                    self.used.add(metastore.address)
        except Exception as error:  # noqa: BLE001 - a thread's error is the test's
            self.error = error

    def _write_and_read(self, metastore: client.Metastore, number: int) -> None:
        written = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=9, nulls=number, ndv=5))
        metastore.put_table_statistics(self.table, StatisticsSet((written,)))
        (found,) = metastore.table_statistics(self.table, ["l"])
        assert isinstance(found.data, LongStatistics)
        assert found.data.nulls == number, f"wrote {number}, read {found.data.nulls}"


@pytest.mark.slow
def test_our_client_while_two_servers_are_killed_in_turn(postgres_url: str, tmp_path: Path) -> None:
    with two_servers(tmp_path, postgres_url) as servers, _busy(addresses(servers), servers[0].port) as busy:
        for number in range(KILLS):
            _go_on(busy)
            time.sleep(random.random() * 0.2)
            servers[number % 2].kill()
            _go_on(busy)
            if number + 1 < KILLS:
                servers[number % 2].start()
    assert all(len(each.used) == len(servers) for each in busy)
    print(f"{KILLS} servers killed in turn; {_rounds(busy)}")


@pytest.mark.slow
def test_our_client_while_the_database_is_killed(tmp_path: Path) -> None:
    """It is told that the database is away, and waits for it."""
    with postgres() as database:
        migrate.upgrade(database.url)
        with (
            serving(tmp_path, database=database.url, settings={"workers": 1}) as port,
            _busy(f"thrift://127.0.0.1:{port}", port) as busy,
        ):
            for _ in range(KILLS):
                _go_on(busy)
                database.kill()
                time.sleep(random.random())
                database.start()
                _go_on(busy)
    print(f"{KILLS} times the database was killed; {_rounds(busy)}")


@contextmanager
def _busy(uris: str, port: int) -> Iterator[list[Busy]]:
    """Clients at work, each on a table of its own that is made through the server at a port; fails when a call does."""
    with metastore_of(port) as metastore:
        metastore.client().create_database(api.Database(name=metastore.database))
        for number in range(CLIENTS):
            metastore.table(f"t{number}")
    stopped = threading.Event()
    busy = [Busy(uris, TableName("hive", "faults", f"t{number}"), stopped) for number in range(CLIENTS)]
    threads = [threading.Thread(target=each.run) for each in busy]
    for each in threads:
        each.start()
    try:
        yield busy
    finally:
        stopped.set()
        for each in threads:
            each.join(PATIENCE_SECONDS)
    _check(busy)


def _rounds(busy: list[Busy]) -> str:
    rounds = sum(each.rounds for each in busy)
    return f"{rounds} times written and read back by {CLIENTS} clients, no call failed"


def _go_on(busy: list[Busy]) -> None:
    """Return once every client has done some more."""
    before = [each.rounds for each in busy]
    wait_until(
        lambda: any(each.error for each in busy) or all(b.rounds > n + 2 for b, n in zip(busy, before, strict=True))
    )
    _check(busy)


def _check(busy: list[Busy]) -> None:
    for each in busy:
        if each.error:
            raise each.error
