"""TLS handshakes: which connections need one, and the threads that run the steps.

A step is the work of a signature, so it runs in a thread of its own kind: calls have theirs, and the selector's thread
goes on serving others. While a step runs, its connection is not read.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hmstats.errors import ProtocolError
from hmstats.server.connections.connection import Connection
from hmstats.server.connections.deadlines import Deadlines
from hmstats.server.connections.workers import Workers
from hmstats.server.layers.certificates import Certificates
from hmstats.server.layers.tls_socket import FIRST_BYTE, REFUSAL, TlsSocket
from hmstats.server.limits import Limits
from hmstats.server.monitoring.metrics import HANDSHAKES

_THREADS = 2


@dataclass(frozen=True, slots=True)
class Tls:
    """Whether a server speaks TLS, and whether it speaks anything else."""

    certificates: Certificates
    required: bool = False


class _Step:
    """Bytes of a client's handshake, and what became of them."""

    def __init__(self, connection: Connection, tls: TlsSocket, data: bytes) -> None:
        self.connection = connection
        self.tls = tls
        self.data = data
        self.done = False
        self.behind = b""
        """Bytes of the first request, which came along with the end of the handshake."""
        self.error: OSError | None = None

    def run(self) -> None:
        """Run the step, in a thread of the handshakes, unless its connection is to be closed."""
        if self.connection.doomed:
            return
        try:
            done = self.tls.shake_hands(self.data)
            self.behind = self.tls.decrypted() if done else b""
            self.done = done
        except OSError as error:
            self.error = error


class Handshakes:
    """The connections of a selector that are not secure yet, or whose user is not proven yet.

    All but the steps runs in the selector's thread.
    """

    def __init__(self, tls: Tls | None, limits: Limits, wake: Callable[[], None]) -> None:
        self._tls = tls
        self._wake = wake
        self._most = limits.max_handshakes
        self.deadlines = Deadlines[Connection](limits.handshake_seconds)
        self._sockets: dict[Connection, TlsSocket] = {}
        self._by_address: dict[str, dict[Connection, None]] = {}
        """The connections with a deadline by the client's address, in the order in which they came."""
        self._ended: deque[_Step] = deque()
        self._threads: Workers[_Step] = Workers(_THREADS, self._most, self._run)

    def start(self) -> None:
        """Start the threads."""
        if self._tls is not None:
            self._threads.start()

    def stop(self) -> None:
        """Let the threads end."""
        self._threads.stop()

    def expect(self, connection: Connection) -> None:
        """Note a new connection; its time begins if it must become secure, or prove its user."""
        connection.must_be_secure = self._tls is not None and self._tls.required
        if connection.must_be_secure or connection.must_prove:
            self._await(connection)

    def beyond(self) -> Iterator[Connection]:
        """The connections to close, as many as there are too many.

        Each is the one that has waited longest of the address that has the most, so that a flood from one address ends
        its own handshakes.
        """
        while len(self.deadlines) > self._most:
            busiest: dict[Connection, None] = max(self._by_address.values(), key=len)
            oldest = next(iter(busiest))
            self.forget(oldest)
            yield oldest

    def forget(self, connection: Connection) -> None:
        """Remove a connection that is secure and proven as it must be, or closed."""
        self.deadlines.stop(connection)
        self._sockets.pop(connection, None)
        address = _address(connection)
        waiting = self._by_address.get(address, {})
        waiting.pop(connection, None)
        if not waiting:
            self._by_address.pop(address, None)

    def take(self, connection: Connection) -> bool:
        """Take the bytes of a handshake from the inbox; whether the connection is in one.

        Raises ProtocolError if the server speaks no TLS; the client is sent an alert.
        """
        begins = connection.inbox[:1] == bytes((FIRST_BYTE,)) and not connection.is_secure
        if connection not in self._sockets and not begins:
            return False
        if self._tls is None:
            with contextlib.suppress(OSError):
                connection.socket.sendmsg((REFUSAL,))
            raise ProtocolError("the client began TLS, which this server does not speak: its setting tls is off")
        if connection.inbox and not connection.in_step:
            self._begin(connection, self._tls)
        return True

    def settled(self) -> Iterator[tuple[Connection, OSError | None]]:
        """The connections of finished steps, with the error of a failed handshake."""
        while self._ended:
            step = self._ended.popleft()
            connection = step.connection
            connection.in_step = False
            if step.done:
                if connection.must_prove:
                    self._sockets.pop(connection)
                else:
                    self.forget(connection)
                connection.secure(step.tls, step.behind)
                HANDSHAKES.labels("done").inc()
            elif step.error is not None:
                HANDSHAKES.labels("failed").inc()
            yield connection, step.error

    def _begin(self, connection: Connection, tls: Tls) -> None:
        if connection not in self._sockets:
            assert not isinstance(connection.socket, TlsSocket)
            self._sockets[connection] = TlsSocket(connection.socket, tls.certificates.context)
            self._await(connection)
        step = _Step(connection, self._sockets[connection], bytes(connection.inbox))
        connection.inbox.clear()
        connection.in_step = True
        if not self._threads.submit(step):
            connection.in_step = False
            raise ProtocolError(f"{self._most} handshakes wait already")

    def _await(self, connection: Connection) -> None:
        self.deadlines.start(connection)
        self._by_address.setdefault(_address(connection), {})[connection] = None

    def _run(self, step: _Step) -> None:
        step.run()
        self._ended.append(step)
        self._wake()


def _address(connection: Connection) -> str:
    """The client's address without its port."""
    return connection.session.peer.rpartition(":")[0]
