"""The fork server as the parent of the workers uses it: a process that has loaded all modules and forks workers.

A forked worker is ready in a tenth of the time that a fresh process takes to load its modules, and shares their memory
with the others. The process itself runs `forking.run_fork_server`.
"""

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

from hmstats.server.processes.forking import REFUSED

_ANSWER_SECONDS = 60.0
"""How long the fork server may take for an order; the first one includes loading all modules."""
_ANSWER_BYTES = 256


class ForkServer:
    """A running fork server; it ends when its channel is closed, or with the process that holds the channel."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start `command` with the file descriptor of its end of the channel as one more argument."""
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                env=dict(environment),
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C reaches the parent alone, which finishes running calls
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
            )
        self._channel.settimeout(_ANSWER_SECONDS)
        self._children = 0
        self._retired = False
        self.ended = False

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def fork(self, arguments: Sequence[object], filenos: Sequence[int]) -> int:
        """Fork a process that gets the arguments and copies of the file descriptors; returns its id.

        Raises OSError if the system refuses a process, or the fork server has ended or does not answer.
        """
        pid = self._order({"fork": [str(each) for each in arguments]}, filenos)
        self._children += 1
        return pid

    def reap(self, pid: int, kill_seconds: float) -> int | None:
        """The exit status of a forked process that ends now; a negative one is a signal's number.

        It is killed if it has not ended after so many seconds. None if the fork server itself has ended.
        """
        with contextlib.suppress(OSError):
            status = self._order({"reap": pid, "seconds": kill_seconds})
            self._children -= 1
            if self._retired:
                self.retire()
            return status
        return None

    def retire(self) -> None:
        """End once all forked processes have been reaped."""
        self._retired = True
        if self._children == 0:
            self._end()

    def _order(self, order: Mapping[str, object], filenos: Sequence[int] = ()) -> int:
        try:
            socket.send_fds(self._channel, [json.dumps(order).encode()], filenos)
            answer = self._channel.recv(_ANSWER_BYTES).decode()
            if not answer:
                raise ConnectionResetError("the fork server has ended")
        except OSError:
            self._end()
            raise
        if answer.startswith(REFUSED):
            raise OSError(answer.removeprefix(REFUSED))
        return int(answer)

    def _end(self) -> None:
        self.ended = True
        self._channel.close()
        self._process.kill()
        self._process.wait()


class ForkServers:
    """The fork server in use. One that has died is replaced; one that is renewed lives as long as its workers."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._current: ForkServer | None = None

    def fork(self, arguments: Sequence[object], filenos: Sequence[int]) -> tuple[ForkServer, int]:
        """Fork a process; returns the fork server that did it, and the process's id.

        Raises OSError if the system refuses a process, or no fork server can be started.
        """
        if self._current is not None:
            try:
                return self._current, self._current.fork(arguments, filenos)
            except OSError as error:
                if not self._current.ended:
                    raise
                _log_end(self._current.pid, error)
        self._current = ForkServer(self._command, self._environment)
        try:
            return self._current, self._current.fork(arguments, filenos)
        except OSError:
            if self._current.ended:
                self._current = None
            raise

    def renew(self, *arguments: str) -> None:
        """Start a fork server, in place of the one that is there: it loads all modules as they are on the disk now.

        The arguments are for this one only.
        """
        self.close()
        self._current = ForkServer([*self._command, *arguments], self._environment)

    def close(self) -> None:
        """End the fork server when its last worker has been reaped."""
        if self._current is not None:
            self._current.retire()
        self._current = None


def _log_end(pid: int, error: OSError) -> None:
    import structlog  # noqa: PLC0415 - its modules take longer to load than to start a fork server

    structlog.get_logger("hmstats.parent").error("fork_server_ended", pid=pid, reason=str(error))
