import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hmstats.server.processes.fork_server import ForkServers
from hmstats.server.processes.supervisor import Supervisor
from hmstats.server.processes.worker_process import WorkerProcess
from hmstats.server.sockets.port import Address, Port

PATIENCE_SECONDS = 30.0
SCRIPT = Path(__file__).parent / "small_worker.py"


@dataclass
class Running:
    """A supervisor that runs in a thread, and what became of it."""

    folder: Path
    address: Address
    supervisor: Supervisor
    thread: threading.Thread
    announced: threading.Event
    buried: list[int]
    outcome: list[bool] = field(default_factory=list)

    def asked(self) -> tuple[int, int]:
        """The number and process id of a worker that answers."""
        with socket.create_connection(self.address, timeout=PATIENCE_SECONDS) as connection:
            number, pid = connection.recv(100).split()
        return int(number), int(pid)

    def pids(self) -> dict[int, int]:
        """The process id of each worker that answers, by number."""
        return dict(self.asked() for _ in range(50))

    def end(self) -> bool:
        """Wait until it has ended; whether all workers were ready once."""
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive()
        return self.outcome[0]


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.01)


def _said_started(events: Sequence[Mapping[str, object]]) -> bool:
    return events[-1]["event"] == "worker_started"


@contextmanager
def supervised(
    folder: Path, count: int = 2, drain_seconds: float = PATIENCE_SECONDS, *, alone: bool = False
) -> Iterator[Running]:
    fork_servers = ForkServers([sys.executable, str(SCRIPT)], os.environ)

    def start(number: int, listening: socket.socket, neighbours: tuple[int, ...]) -> WorkerProcess:
        return WorkerProcess(fork_servers, [folder], number, listening, neighbours)

    announced, buried = threading.Event(), list[int]()
    with Port(("127.0.0.1", 0)) as port:
        supervisor = Supervisor(
            port,
            start,
            count,
            drain_seconds,
            alone=alone,
            announce=announced.set,
            buried=buried.append,
            reloading=fork_servers.renew,
        )
        running = Running(folder, port.address, supervisor, threading.Thread(), announced, buried)
        running.thread = threading.Thread(target=lambda: running.outcome.append(supervisor.run()))
        running.thread.start()
        try:
            yield running
        finally:
            supervisor.stop()
            running.thread.join(PATIENCE_SECONDS)
            assert not running.thread.is_alive()
            fork_servers.close()


@contextmanager
def ready(
    folder: Path, count: int = 2, drain_seconds: float = PATIENCE_SECONDS, *, alone: bool = False
) -> Iterator[Running]:
    with supervised(folder, count, drain_seconds, alone=alone) as running:
        assert running.announced.wait(PATIENCE_SECONDS)
        yield running


def test_workers_share_the_port_and_end_in_turn_when_stopped(tmp_path: Path) -> None:
    with ready(tmp_path, 3) as running:
        assert running.supervisor.ready == 3
        pids = running.pids()
        assert set(pids) == {0, 1, 2}
        running.supervisor.stop()
        assert running.supervisor.ready == 0
        assert running.end()
    assert (tmp_path / "told").read_text() == "0 True\n1 True\n2 True\n"
    assert running.buried == [pids[number] for number in range(3)]
    with pytest.raises(ConnectionError):
        running.asked()


def test_a_worker_that_dies_is_replaced_and_clients_only_wait(tmp_path: Path) -> None:
    with ready(tmp_path) as running:
        before = running.pids()
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: before[0] in running.buried)
        after = running.pids()
        assert after[0] != before[0]
        assert after[1] == before[1]
        assert running.supervisor.deaths == 1
        wait_until(lambda: running.supervisor.ready == 2)


def test_a_reload_replaces_every_worker_and_refuses_no_client(tmp_path: Path) -> None:
    with ready(tmp_path) as running:
        before = running.pids()
        stopped, answers = threading.Event(), list[int]()

        def ask() -> None:
            while not stopped.is_set():
                answers.append(running.asked()[1])

        client = threading.Thread(target=ask)
        client.start()
        running.supervisor.reload()
        wait_until(lambda: set(running.buried) == set(before.values()))
        wait_until(lambda: len(set(answers)) >= 3)
        stopped.set()
        client.join(PATIENCE_SECONDS)
        after = running.pids()
        assert set(after) == {0, 1}
        assert not set(after.values()) & set(before.values())
        assert running.supervisor.deaths == 0


@pytest.mark.slow
def test_a_worker_that_must_be_alone_ends_before_the_next_begins_and_no_client_is_refused(tmp_path: Path) -> None:
    with ready(tmp_path, 1, alone=True) as running:
        seen = [running.asked()[1]]
        for _ in range(2):
            with capture_logs() as events:
                running.supervisor.reload()
                wait_until(lambda: len(running.buried) == len(seen))
                seen.append(running.asked()[1])
                wait_until(partial(_said_started, events))  # which is logged after it was forked
            told = [each["event"] for each in events if each["event"].startswith("worker_")]
            assert told == ["worker_ended", "worker_started"]
        assert len(set(seen)) == 3
        assert running.buried == seen[:2]
        assert running.supervisor.deaths == 0


@pytest.mark.slow
def test_workers_stay_when_their_successors_cannot_start(tmp_path: Path) -> None:
    with ready(tmp_path) as running:
        before = running.pids()
        (tmp_path / "fail").touch()
        with capture_logs() as events:
            running.supervisor.reload()
            wait_until(lambda: running.supervisor.deaths == 1)
        assert [each["status"] for each in events if each["event"] == "worker_ended"] == [3]
        assert running.pids() == before
        (tmp_path / "fail").unlink()
        running.supervisor.reload()
        wait_until(lambda: set(running.buried) >= set(before.values()))
        assert set(running.pids()) == {0, 1}


@pytest.mark.slow
def test_a_worker_that_ends_at_once_again_and_again_leaves_its_clients_to_the_others(tmp_path: Path) -> None:
    with ready(tmp_path) as running:
        before = running.pids()
        (tmp_path / "fail-0").touch()
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: running.supervisor.deaths >= 3)
        assert running.pids() == {1: before[1]}
        (tmp_path / "fail-0").unlink()
        wait_until(lambda: set(running.pids()) == {0, 1})


def test_a_server_whose_workers_can_never_be_ready_gives_up(tmp_path: Path) -> None:
    (tmp_path / "hopeless").touch()
    with supervised(tmp_path) as running:
        assert not running.end()
    assert not running.announced.is_set()


@pytest.mark.slow
def test_a_worker_that_dies_before_all_are_ready_is_started_again(tmp_path: Path) -> None:
    """As when the database goes away in that moment."""
    (tmp_path / "fail-1").touch()
    with supervised(tmp_path) as running:
        wait_until(lambda: running.supervisor.deaths >= 2)
        assert not running.announced.is_set()
        (tmp_path / "fail-1").unlink()
        assert running.announced.wait(PATIENCE_SECONDS)
        wait_until(lambda: set(running.pids()) == {0, 1})


@pytest.mark.slow
def test_a_worker_that_does_not_end_in_time_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.server.processes.supervisor._KILL_SECONDS", 0.1)
    (tmp_path / "stay").touch()
    with ready(tmp_path, drain_seconds=0.1) as running, capture_logs() as events:
        running.supervisor.stop()
        assert running.end()
    assert [each["status"] for each in events if each["event"] == "worker_ended"] == [-signal.SIGKILL] * 2
