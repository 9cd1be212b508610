"""Worker processes that die, and clients that hold them up: what is stored is old or new, and the service goes on.

HMSTATS_TEST_KILLS says how many workers are killed in the middle of writes, HMSTATS_TEST_PARENT_KILLS how many parents.
"""

import contextlib
import os
import random
import resource
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from tests.faults.harness.leaks import THREADS, check_connections, clients_of
from tests.faults.harness.worker_processes import PATIENCE_SECONDS, Workers, metastore_of, wait_until, workers
from tests.faults.harness.writers import BROKEN, go_on, patiently, summary, writing
from tests.server.requests import request

from hmstats.server.messages.compact_writer import to_compact
from hmstats.server.sockets.port import Port
from hmstats.wire.idl import hive_metastore as api

KILLS = int(os.environ.get("HMSTATS_TEST_KILLS", "3"))
MOST_KILLS = KILLS + 20
PARENT_KILLS = int(os.environ.get("HMSTATS_TEST_PARENT_KILLS", "1"))
WRITERS = 4
of_clients = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
"""What clients do to sockets reaches no database: one kind is enough."""


@pytest.mark.slow
def test_workers_that_are_killed_in_the_middle_of_writes(url: str, tmp_path: Path) -> None:
    with (
        workers(tmp_path, url, threads=THREADS) as server,
        metastore_of(server.port) as metastore,
        writing(metastore, WRITERS) as writers,
    ):
        kills = 0
        # By chance the killed workers may have served nobody: then more of them are killed.
        while kills < KILLS or (kills < MOST_KILLS and not any(writer.broken for writer in writers)):
            wait_until(server.whole)
            time.sleep(random.random() * 0.3)
            server.kill(random.choice(sorted(server.alive())))
            kills += 1
            for writer in writers:
                patiently(writer.check)
        wait_until(server.whole)
        assert server.metric("hmstats_worker_deaths") == kills
        go_on(writers)
        held = check_connections(server, url)
    assert any(writer.broken for writer in writers)
    print(f"{kills} workers killed; {summary(writers)}; {held}")


def test_workers_end_with_their_parent(url: str, tmp_path: Path) -> None:
    with workers(tmp_path, url) as server, metastore_of(server.port) as metastore:
        client = metastore.client()
        client.create_database(api.Database(name=metastore.database))
        pids = server.alive()
        server.kill(server.parent())
        wait_until(partial(_ended, pids))
        with Port(("127.0.0.1", server.port)):
            pass
        with pytest.raises(BROKEN):
            client.get_all_databases()
        (tmp_path / "next").mkdir()
        with workers(tmp_path / "next", url) as second, metastore_of(second.port) as after:
            assert after.database in after.client().get_all_databases()
    print(f"1 parent killed; {len(pids)} workers ended with it, and the port was free")


@pytest.mark.slow
def test_parents_that_are_killed_in_the_middle_of_writes(url: str, tmp_path: Path) -> None:
    """Their workers end too, answer what they have begun, and the next server goes on with what they left."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(_server_in(tmp_path / "server-0", url))
        metastore = stack.enter_context(metastore_of(server.port))
        writers = stack.enter_context(writing(metastore, WRITERS))
        for number in range(PARENT_KILLS):
            go_on(writers)
            time.sleep(random.random() * 0.3)
            pids = server.alive()
            server.kill(server.parent())
            wait_until(partial(_ended, pids))
            server = stack.enter_context(_server_in(tmp_path / f"server-{number + 1}", url))
            metastore.port = server.port
            for writer in writers:
                writer.check()
        go_on(writers)
    assert any(writer.broken for writer in writers)
    print(f"{PARENT_KILLS} parents killed; {summary(writers)}")


def _server_in(folder: Path, url: str) -> contextlib.AbstractContextManager[Workers]:
    folder.mkdir()
    return workers(folder, url)


def _ended(pids: set[int]) -> bool:
    return not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@of_clients
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


@of_clients
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


@of_clients
def test_a_few_connections_are_spread_evenly(url: str, tmp_path: Path) -> None:
    """Whomever the kernel gives them to."""
    with workers(tmp_path, url, count=3) as server, contextlib.ExitStack() as stack:
        for number in range(1, 13):
            metastore = stack.enter_context(metastore_of(server.port))
            assert "default" in metastore.client().get_all_databases()
            held = sorted(clients_of(pid, server.port) for pid in server.alive())
            assert (sum(held), held[-1] - held[0] <= 1) == (number, True), held
    print(f"{number} connections on 3 workers: {held}")


@of_clients
@pytest.mark.parametrize("count", [5_000])
def test_connections_that_come_and_go_are_all_answered(url: str, tmp_path: Path, count: int) -> None:
    """Many at once, each for one call, so that workers hand them over while others close theirs."""
    asked = request("getOption", key="x")

    def call(_: int) -> bool:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as client:
            client.sendall(asked)
            return bool(client.recv(1_000))

    with workers(tmp_path, url) as server, ThreadPoolExecutor(4) as threads:
        before = server.alive()
        assert all(threads.map(call, range(count)))
        wait_until(lambda: server.metric("hmstats_connections") == 0)
        assert server.alive() == before
    print(f"{count} connections for one call each; none failed")


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
