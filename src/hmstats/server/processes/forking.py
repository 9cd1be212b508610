"""The loop of a fork server: forks and reaps processes as its parent orders (fork_server.py).

The process must have one thread only: others would not live on in a forked process, but the locks that they hold would.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

REFUSED = "refused: "
"""Begins an answer instead of a process's id; the reason follows."""
_ORDER_BYTES = 65_536
_MOST_FILENOS = 253
"""As many file descriptors as Linux sends in one message."""
_POLL_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Forked:
    """The task of a forked process."""

    arguments: Sequence[str]
    filenos: Sequence[int]
    """Its own copies of the file descriptors, which it must close."""


def run_fork_server(channel: socket.socket, processes: int | None = None) -> Forked | None:
    """Carry out orders until the channel is closed, or so many processes are forked.

    Returns None then, and the task in each forked process.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they reach the whole group; the parent says when to end
    count = 0
    while count != processes:
        text, filenos, *_ = socket.recv_fds(channel, _ORDER_BYTES, _MOST_FILENOS)
        if not text:
            return None
        order = json.loads(text)
        if "reap" in order:
            channel.sendall(str(_reap(order["reap"], order["seconds"])).encode())
            continue
        try:
            pid = os.fork()
        except OSError as error:  # too many processes, or no memory: both may pass
            answer = f"{REFUSED}{error.strerror}"
        else:
            answer, count = str(pid), count + 1
            if pid == 0:
                channel.close()
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                return Forked(order["fork"], filenos)
        for each in filenos:
            os.close(each)
        channel.sendall(answer.encode())
    return None


def _reap(pid: int, kill_seconds: float) -> int:
    """The exit status of a child, which is killed if it has not ended after so many seconds."""
    until = time.monotonic() + kill_seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_POLL_SECONDS)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
