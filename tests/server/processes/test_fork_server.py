import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hmstats.server.processes.fork_server import ForkServer, ForkServers
from hmstats.server.processes.lifeline import READY
from hmstats.settings import MOST_WORKERS

COMMAND = [sys.executable, str(Path(__file__).parent / "small_worker.py")]
KILL_SECONDS = 30.0


@pytest.fixture
def fork_servers() -> Iterator[ForkServers]:
    fork_servers = ForkServers(COMMAND, os.environ)
    yield fork_servers
    fork_servers.close()


class _Worker:
    """A small worker, and what it needs; ended by the closing of its lifeline."""

    def __init__(self, fork_servers: ForkServers, folder: Path) -> None:
        self.lifeline, theirs = socket.socketpair()
        self.lifeline.settimeout(KILL_SECONDS)
        with socket.create_server(("127.0.0.1", 0)) as listening, theirs:
            self.server, self.pid = fork_servers.fork([folder, 0], [listening.fileno(), theirs.fileno()])

    def end(self, kill_seconds: float = KILL_SECONDS) -> int | None:
        """Its exit status."""
        self.lifeline.close()
        return self.server.reap(self.pid, kill_seconds)


def _has_ended(pid: int) -> bool:
    """Whether the process is gone, or dead and not waited for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _wait_for_end(pid: int) -> None:
    until = time.monotonic() + KILL_SECONDS
    while not _has_ended(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_worker_is_forked_with_its_file_descriptors_and_reaped(fork_servers: ForkServers, tmp_path: Path) -> None:
    worker = _Worker(fork_servers, tmp_path)
    assert worker.lifeline.recv(64) == READY
    assert worker.pid != worker.server.pid
    assert worker.end() == 0
    assert _has_ended(worker.pid)


def test_a_worker_gets_the_file_descriptors_of_as_many_neighbours_as_there_may_be(
    fork_servers: ForkServers, tmp_path: Path
) -> None:
    lifeline, theirs = socket.socketpair()
    lifeline.settimeout(KILL_SECONDS)
    with lifeline, socket.create_server(("127.0.0.1", 0)) as listening, theirs:
        own = (listening.fileno(), theirs.fileno())
        numbers_and_inbox = own  # any two that are open
        outboxes = [theirs.fileno()] * MOST_WORKERS
        server, pid = fork_servers.fork([tmp_path, 0], [*own, *numbers_and_inbox, *outboxes])
        assert lifeline.recv(64) == READY
        os.kill(pid, signal.SIGKILL)
        assert server.reap(pid, KILL_SECONDS) == -signal.SIGKILL


def test_the_status_of_a_worker_that_was_killed_is_the_signal(fork_servers: ForkServers, tmp_path: Path) -> None:
    worker = _Worker(fork_servers, tmp_path)
    assert worker.lifeline.recv(64) == READY
    os.kill(worker.pid, signal.SIGSEGV)
    assert worker.end() == -signal.SIGSEGV


def test_a_worker_that_does_not_end_is_killed(fork_servers: ForkServers, tmp_path: Path) -> None:
    (tmp_path / "stay").touch()
    worker = _Worker(fork_servers, tmp_path)
    assert worker.lifeline.recv(64) == READY
    assert worker.end(kill_seconds=0.1) == -signal.SIGKILL


def test_a_fork_server_that_died_is_replaced_and_its_workers_go_on(fork_servers: ForkServers, tmp_path: Path) -> None:
    first = _Worker(fork_servers, tmp_path)
    assert first.lifeline.recv(64) == READY
    os.kill(first.server.pid, signal.SIGKILL)
    _wait_for_end(first.server.pid)
    with capture_logs() as events:
        second = _Worker(fork_servers, tmp_path)
    assert [each["event"] for each in events] == ["fork_server_ended"]
    assert second.server is not first.server
    assert second.lifeline.recv(64) == READY
    assert not _has_ended(first.pid)
    assert first.end() is None
    _wait_for_end(first.pid)
    assert second.end() == 0


@pytest.mark.slow
def test_a_renewed_fork_server_ends_with_its_last_worker(fork_servers: ForkServers, tmp_path: Path) -> None:
    workers = [_Worker(fork_servers, tmp_path) for _ in range(2)]
    fork_servers.renew()
    after = _Worker(fork_servers, tmp_path)
    assert after.server.pid != workers[0].server.pid
    assert workers[0].end() == 0
    assert not _has_ended(workers[0].server.pid)
    assert workers[1].end() == 0
    assert _has_ended(workers[0].server.pid)
    assert after.end() == 0


@pytest.mark.slow
def test_a_fork_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Nothing tells it but that its channel is closed."""
    program = (
        "import os, sys, time\n"
        "from hmstats.server.processes.fork_server import ForkServer\n"
        f"server = ForkServer({COMMAND!r}, os.environ)\n"
        "print(server.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    _wait_for_end(int(done.stdout))


def test_a_program_that_cannot_fork_is_an_error_each_time() -> None:
    fork_servers = ForkServers([sys.executable, "-c", "pass"], os.environ)
    for _ in range(2):
        with pytest.raises(OSError, match=r"fork server has ended|Broken pipe|Connection reset"):
            fork_servers.fork([], [])


def test_a_process_that_the_system_refuses_is_an_error_and_the_fork_server_goes_on() -> None:
    program = (
        "import os, socket, sys\n"
        "from hmstats.server.processes.forking import run_fork_server\n"
        "def refused(): raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
        "os.fork = refused\n"
        "run_fork_server(socket.socket(fileno=int(sys.argv[1])))\n"
    )
    fork_servers = ForkServers([sys.executable, "-c", program], os.environ)
    for _ in range(2):
        with pytest.raises(OSError, match="Resource temporarily unavailable"), capture_logs() as events:
            fork_servers.fork([], [])
        assert events == []
    fork_servers.close()


def test_a_fork_server_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.server.processes.fork_server._ANSWER_SECONDS", 0.1)
    server = ForkServer([sys.executable, "-c", "import time; time.sleep(600)"], os.environ)
    with pytest.raises(TimeoutError):
        server.fork([], [])
    assert _has_ended(server.pid)
