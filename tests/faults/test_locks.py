"""Locks when holders and servers die, and when two servers over one database are asked at once."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Barrier, Lock

import pytest
from tests.behaviour.transactions.locking import (
    ACQUIRED,
    WAITING,
    ask,
    check,
    open_transactions,
    release,
    request,
    shown,
)
from tests.behaviour.transactions.locking import component as component_of
from tests.fixtures.forked_servers import fork
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from thriftpy2.transport import TTransportException

from hmstats.wire.idl import hive_metastore as api

PATIENCE_SECONDS = 60.0
"""How long anything is waited for before the test fails."""


@pytest.fixture
def servers(postgres_url: str, tmp_path: Path) -> Iterator[list[Metastore]]:
    """Two servers over one database, as clients see them."""
    with two_servers(postgres_url, tmp_path) as found:
        yield found


@pytest.fixture
def impatient_servers(postgres_url: str, tmp_path: Path) -> Iterator[list[Metastore]]:
    """The same, with a lease that is over soon."""
    with two_servers(postgres_url, tmp_path, lock_timeout_seconds=2.0) as found:
        yield found


@contextmanager
def two_servers(database: str, folder: Path, **settings: object) -> Iterator[list[Metastore]]:
    """Two servers over one database."""
    with ExitStack() as stack:
        found = []
        for name in ("one", "other"):
            (folder / name).mkdir()
            port = stack.enter_context(serving(folder / name, database=database, settings=settings))
            metastore = Metastore("hmstats-postgres", port, 4.0, database="shared")
            stack.enter_context(metastore.clients)
            found.append(metastore)
        yield found


def wait_for(metastore: Metastore, lock_id: int) -> None:
    """Ask until the lock is granted."""
    until = time.monotonic() + PATIENCE_SECONDS
    client = metastore.client()
    while client.check_lock(api.CheckLockRequest(lockid=lock_id)).state != ACQUIRED:
        assert time.monotonic() < until, f"lock {lock_id} was never granted"
        time.sleep(0.01)


def test_one_holder_at_a_time_over_two_servers(servers: list[Metastore]) -> None:
    """Many who take turns, half of them at each server: nobody is inside with another, and everybody gets in."""
    lockers, rounds = 8, 5
    inside, entered = Lock(), []

    def work(number: int) -> None:
        mine = servers[number % 2]
        for _ in range(rounds):
            lock_id = ask(mine).lockid
            wait_for(mine, lock_id)
            assert inside.acquire(blocking=False), "two hold an exclusive lock"
            entered.append(number)
            inside.release()
            release(mine, lock_id)

    with ThreadPoolExecutor(lockers) as pool:
        for future in [pool.submit(work, number) for number in range(lockers)]:
            future.result(timeout=PATIENCE_SECONDS)
    assert sorted(entered) == sorted(list(range(lockers)) * rounds)
    assert shown(servers[0]) == []


def test_of_two_who_race_over_two_servers_one_is_granted(servers: list[Metastore]) -> None:
    barrier = Barrier(2)

    def race(metastore: Metastore) -> tuple[int, int]:
        client = metastore.client()
        barrier.wait()
        answer = client.lock(request(component_of(metastore)))
        return answer.state, answer.lockid

    for _ in range(10):
        with ThreadPoolExecutor(2) as pool:
            states, ids = zip(*pool.map(race, servers), strict=True)
        assert sorted(states) == [ACQUIRED, WAITING]
        release(servers[0], *ids)


def test_crossing_requests_over_two_servers_end(servers: list[Metastore]) -> None:
    """Locks of two tables asked for in opposite orders, with and without transactions."""

    def work(number: int) -> None:
        mine = servers[number % 2]
        tables = ("a", "b") if number < 2 else ("b", "a")
        for turn in range(5):
            transaction = open_transactions(mine)[0] if turn % 2 else None
            parts = [component_of(mine, table=table) for table in tables]
            lock_id = mine.client().lock(request(*parts, txnid=transaction)).lockid
            wait_for(mine, lock_id)
            if transaction is None:
                release(mine, lock_id)
            else:
                mine.client().commit_txn(api.CommitTxnRequest(txnid=transaction))

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work, number) for number in range(4)]:
            future.result(timeout=PATIENCE_SECONDS)
    assert shown(servers[1]) == []


def test_a_holder_that_dies_loses_its_lock(impatient_servers: list[Metastore]) -> None:
    one, other = impatient_servers
    held = ask(one).lockid
    one.clients.close()
    waiting = ask(other)
    assert waiting.state == WAITING
    wait_for(other, waiting.lockid)
    with pytest.raises(api.NoSuchLockException):
        check(one, held)
    assert [each.lockid for each in shown(one)] == [waiting.lockid]


def test_a_transaction_whose_client_dies_loses_its_locks(impatient_servers: list[Metastore]) -> None:
    one, other = impatient_servers
    (transaction,) = open_transactions(one)
    one.client().lock(request(component_of(one), txnid=transaction))
    one.clients.close()
    waiting = ask(other)
    assert waiting.state == WAITING
    wait_for(other, waiting.lockid)
    with pytest.raises(api.TxnAbortedException):
        one.client().commit_txn(api.CommitTxnRequest(txnid=transaction))


def test_a_server_that_is_killed_takes_no_lock_with_it(postgres_url: str, tmp_path: Path) -> None:
    """What was granted is still held, whoever answers; what was being asked for is there whole or not at all."""
    with serving(tmp_path, database=postgres_url) as port, ExitStack() as stack:
        survivor = Metastore("hmstats-postgres", port, 4.0, database="shared")
        stack.enter_context(survivor.clients)
        arguments = ["--port", "0", "--database", postgres_url, "--warehouse", str(tmp_path / "w")]
        with (tmp_path / "doomed.log").open("w") as log:
            doomed_server = fork(arguments, tmp_path, os.environ, log)
        doomed_port = int(doomed_server.stdout.readline().rpartition(":")[2])
        doomed = Metastore("hmstats-postgres", doomed_port, 4.0, database="shared")
        stack.enter_context(doomed.clients)
        held = ask(doomed).lockid
        with ThreadPoolExecutor(4) as pool:
            asking = [pool.submit(_ask_until_it_breaks, doomed) for _ in range(4)]
            time.sleep(0.3)
            os.kill(doomed_server.pid, signal.SIGKILL)
            doomed_server.communicate(timeout=PATIENCE_SECONDS)
            answered = sum(future.result(timeout=PATIENCE_SECONDS) for future in asking)
        assert check(survivor, held) == ACQUIRED
        parts: dict[int, int] = {}
        for each in shown(survivor, tablename=None):
            parts[each.lockid] = parts.get(each.lockid, 0) + 1
        assert parts.pop(held) == 1
        assert len(parts) >= answered > 0
        assert set(parts.values()) == {3}


def _ask_until_it_breaks(metastore: Metastore) -> int:
    """How many requests of three parts were answered."""
    answered = 0
    client = metastore.client()
    try:
        while True:
            client.lock(request(*(component_of(metastore, table=table) for table in "abc")))
            answered += 1
    except (TTransportException, OSError):
        return answered
