"""Worker processes that die, and clients that hold them up: what is stored is old or new, and the service goes on.

HMSTATS_TEST_KILLS says how many workers are killed in the middle of writes.
"""

import contextlib
import os
import random
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.faults.worker_processes import PATIENCE_SECONDS, Workers, metastore_of, wait_until, workers
from tests.fixtures.metastores import Metastore
from tests.fixtures.postgres import fresh_database
from tests.server.requests import request
from thriftpy2.transport import TTransportException

from hmstats.server.compact_writer import to_compact
from hmstats.server.port import Port
from hmstats.wire.idl import hive_metastore as api

KILLS = int(os.environ.get("HMSTATS_TEST_KILLS", "25"))
WRITERS = 4
PARTITIONS = [f"k={number}" for number in range(10)]
COLUMNS = ("l", "d", "s")
_BROKEN = (TTransportException, OSError, EOFError)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/hmstats.sqlite"
        return
    server, template = (request.getfixturevalue(f"postgres_{each}") for each in ("server", "template"))
    with fresh_database(server, template) as found:
        yield found


@dataclass
class Writer:
    """Writes one number after the other into all statistics of a table."""

    metastore: Metastore
    table: str
    sent: int = 0
    answered: int = 0
    broken: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Write until stopped, each time anew when the connection breaks."""
        client = None
        while not self.stopped.is_set():
            try:
                client = client or self.metastore.client()
                self.sent += 1
                client.set_aggr_stats_for(self._request(self.sent))
                self.answered = self.sent
            except _BROKEN:
                self.broken += 1
                client = None

    def _request(self, number: int) -> Any:
        columns = [statistics_of(each, numDVs=number) for each in COLUMNS]
        sets = [statistics(self.metastore, *columns, partition=each, table=self.table) for each in PARTITIONS]
        return api.SetPartitionsStatsRequest(colStats=sets, needMerge=False)

    def check(self) -> None:
        """What is stored is whole, and of the last answered write or one after it."""
        at_least = self.answered
        wanted = api.PartitionsStatsRequest(
            dbName=self.metastore.database, tblName=self.table, colNames=COLUMNS, partNames=PARTITIONS, engine="hive"
        )
        found = self.metastore.client().get_partitions_statistics_req(wanted).partStats
        numbers = {_distinct(each.statsData) for columns in found.values() for each in columns}
        assert len(numbers) <= 1, f"statistics of several writes at once: {numbers}"
        assert at_least <= max(numbers, default=0) <= self.sent


def _distinct(data: Any) -> int:
    (filled,) = (value for value in vars(data).values() if value is not None)
    return int(filled.numDVs)


@pytest.mark.slow
def test_workers_that_are_killed_in_the_middle_of_writes(url: str, tmp_path: Path) -> None:
    with workers(tmp_path, url) as server, metastore_of(server.port) as metastore, contextlib.ExitStack() as stack:
        metastore.client().create_database(api.Database(name=metastore.database))
        writers = [stack.enter_context(_writing(metastore, f"t{number}")) for number in range(WRITERS)]
        for _ in range(KILLS):
            wait_until(server.whole)
            time.sleep(random.random() * 0.3)
            server.kill(random.choice(sorted(server.alive())))
            for writer in writers:
                _patiently(writer.check)
        wait_until(server.whole)
        assert server.metric("hmstats_worker_deaths") == KILLS
        answered = [writer.answered for writer in writers]
        wait_until(lambda: all(writer.answered > before for writer, before in zip(writers, answered, strict=True)))
    sent, done, broken = (sum(getattr(each, name) for each in writers) for name in ("sent", "answered", "broken"))
    assert broken
    print(f"{KILLS} workers killed; {sent} writes sent, the last answered ones {done} in, {broken} connections broken")


@contextlib.contextmanager
def _writing(metastore: Metastore, table: str) -> Iterator[Writer]:
    metastore.table(table, keys=("k",))
    metastore.add_partitions(*([each.removeprefix("k=")] for each in PARTITIONS), table=table)
    writer = Writer(metastore, table)
    thread = threading.Thread(target=writer.run)
    thread.start()
    try:
        yield writer
    finally:
        writer.stopped.set()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def _patiently(check: Callable[[], None]) -> None:
    """Again when the connection broke: the worker that was asked may be the one that was killed."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            check()
        except _BROKEN:
            assert time.monotonic() < until
        else:
            return


def test_workers_end_with_their_parent(url: str, tmp_path: Path) -> None:
    with workers(tmp_path, url) as server, metastore_of(server.port) as metastore:
        client = metastore.client()
        client.create_database(api.Database(name=metastore.database))
        pids = server.alive()
        server.kill(server.parent())
        wait_until(lambda: not any(_runs(pid) for pid in pids))
        with Port(("127.0.0.1", server.port)):
            pass
        with pytest.raises(_BROKEN):
            client.get_all_databases()
        (tmp_path / "next").mkdir()
        with workers(tmp_path / "next", url) as second, metastore_of(second.port) as after:
            assert after.database in after.client().get_all_databases()
    print(f"1 parent killed; {len(pids)} workers ended with it, and the port was free")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("count", [50])
def test_silent_and_half_way_clients(url: str, tmp_path: Path, count: int) -> None:
    halves = (
        b"",
        b"\x80",
        request("get_all_databases")[:-1],
        to_compact(request("getOption", key="x"))[:-1],
        b"\0\0\0\xff\x80\x01",
        b"POST / HTTP/1.1\r\nContent-",
    )
    with workers(tmp_path, url, receive_seconds=0.5, idle_seconds=0.5) as server, contextlib.ExitStack() as stack:
        before = server.alive()
        clients = []
        for number in range(count):
            clients.append(stack.enter_context(socket.create_connection(("127.0.0.1", server.port))))
            clients[-1].sendall(halves[number % len(halves)])
        _answers(server)
        for client in clients:
            client.settimeout(PATIENCE_SECONDS)
            while client.recv(1_000):
                pass
        stack.close()
        wait_until(lambda: server.metric("hmstats_connections") == 0)
        _answers(server)
        assert server.alive() == before
    print(f"{count} silent or half-way clients dropped; no worker and no connection lost")


def test_two_thousand_idle_connections(url: str, tmp_path: Path) -> None:
    count = 2_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < 2 * count:
        pytest.skip("the hard limit of open files is too low for thousands of connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with workers(tmp_path, url) as server, contextlib.ExitStack() as stack:
        before = server.alive()
        for _ in range(count):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        wait_until(lambda: server.metric("hmstats_connections") == count)
        for _ in range(10):
            _answers(server)
        stack.close()
        wait_until(lambda: server.metric("hmstats_connections") == 0)
        _answers(server)
        assert server.alive() == before
    print(f"{count} idle connections held and closed; no worker lost")


def test_no_call_fails_while_workers_are_replaced(url: str, tmp_path: Path) -> None:
    """Each call on a connection of its own, as Trino makes them."""
    with workers(tmp_path, url) as server:
        before = server.alive()
        stopped, calls = threading.Event(), list[int]()

        def call() -> None:
            while not stopped.is_set():
                _answers(server)
                calls.append(1)

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        os.kill(server.parent(), signal.SIGHUP)
        wait_until(lambda: not before & server.alive())
        stopped.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        wait_until(server.whole)
        assert server.metric("hmstats_worker_deaths") == 0
    assert calls
    print(f"{len(before)} workers replaced; {len(calls)} calls answered meanwhile, none failed")


def _answers(server: Workers) -> None:
    with metastore_of(server.port) as metastore:
        assert "default" in metastore.client().get_all_databases()
