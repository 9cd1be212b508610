"""Handshakes of TLS and SASL: which connections need one, and the threads that run the steps.

A step is the work of a signature, or of a ticket, so it runs in a thread of its own kind: calls have theirs, and the
selector's thread goes on serving others. While a step runs, its connection is not read.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import structlog

from hmstats.errors import HmstatsError, ProtocolError
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.connections.connection import Connection
from hmstats.server.connections.deadlines import Deadlines
from hmstats.server.connections.workers import Workers
from hmstats.server.layers.certificates import Certificates
from hmstats.server.layers.sasl_socket import SaslSocket, refusal
from hmstats.server.layers.tls_socket import FIRST_BYTE, REFUSAL, TlsSocket
from hmstats.server.limits import Limits
from hmstats.server.monitoring.metrics import AUTHENTICATIONS, HANDSHAKES
from hmstats.wire.sasl_messages import begins_sasl, take_message

TLS_ONLY = "this server speaks over TLS only: its setting tls is require"
_NO_SASL = "this server speaks no SASL: its setting authentication is empty"
_THREADS = 2
_MOST_SLOW_WAITING = 20
"""The most long steps that wait for a thread; the client of one more must try again."""

_log = structlog.get_logger("hmstats.server")


@dataclass(frozen=True, slots=True)
class Tls:
    """Whether a server speaks TLS, and whether it speaks anything else."""

    certificates: Certificates
    required: bool = False


class _Step:
    """Bytes of a client's handshake, and what became of them."""

    def __init__(self, connection: Connection, layer: TlsSocket | SaslSocket, data: bytes) -> None:
        self.connection = connection
        self.layer = layer
        self.data = data
        self.done = False
        self.behind = b""
        """Bytes of the first request, which came along with the end of the handshake."""
        self.error: OSError | HmstatsError | None = None

    def run(self) -> None:
        """Run the step, in a thread of the handshakes, unless its connection is to be closed."""
        if self.connection.doomed:
            return
        try:
            done = self.layer.shake_hands(self.data)
            self.behind = self.layer.decrypted() if done else b""
            self.done = done
        except (OSError, HmstatsError) as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - the guard of a thread of the handshakes
            _log.error("handshake_broke", error=type(error).__name__)
            self.error = ProtocolError("unexpected error; the server's log has it")


class _Opening(_Step):
    """A large frame of a client whose handshake is complete."""

    layer: SaslSocket

    def __init__(self, connection: Connection, layer: SaslSocket) -> None:
        super().__init__(connection, layer, b"")

    def run(self) -> None:
        """Open the frame, in a thread of the handshakes, unless its connection is to be closed."""
        if self.connection.doomed:
            return
        try:
            self.behind = self.layer.open_large()
        except OSError as error:
            self.error = error


class Handshakes:
    """The connections of a selector that are not secure yet, or whose user is not proven yet.

    All but the steps runs in the selector's thread.
    """

    def __init__(
        self, tls: Tls | None, authentication: Authentication | None, limits: Limits, wake: Callable[[], None]
    ) -> None:
        self._tls = tls
        self._authentication = authentication
        self._wake = wake
        self._max_message_bytes = limits.max_message_bytes
        self._most = limits.max_handshakes
        self.deadlines = Deadlines[Connection](limits.handshake_seconds)
        self._layers: dict[Connection, TlsSocket | SaslSocket] = {}
        """The layer that each connection is about to get."""
        self._slow_connections: set[Connection] = set()
        """The connections whose steps compute for long."""
        self._by_address: dict[str, dict[Connection, None]] = {}
        """The connections with a deadline by the client's address, in the order in which they came."""
        self._ended: deque[_Step] = deque()
        self._threads: Workers[_Step] = Workers(_THREADS, self._most, self._run)
        self._slow_threads: Workers[_Step] = Workers(_THREADS, min(_MOST_SLOW_WAITING, self._most), self._run)

    def start(self) -> None:
        """Start the threads."""
        sasl = self._authentication.sasl if self._authentication is not None else ()
        if self._tls is not None or sasl:
            self._threads.start()
        if any(each.slow for each in sasl):
            self._slow_threads.start()

    def stop(self) -> None:
        """Let the threads end."""
        self._threads.stop()
        self._slow_threads.stop()

    def expect(self, connection: Connection) -> None:
        """Note a new connection; its time begins if it must become secure, or prove its user."""
        connection.must_be_secure = self._tls is not None and self._tls.required
        if connection.must_be_secure or connection.must_prove:
            self._await(connection)

    def excess(self) -> Iterator[Connection]:
        """The connections to close, as many as there are too many.

        Each is the one that has waited longest of the address that has the most, so that a flood from one address ends
        its own handshakes.
        """
        while len(self.deadlines) > self._most:
            busiest: dict[Connection, None] = max(self._by_address.values(), key=len)
            oldest = next(iter(busiest))
            self.remove(oldest)
            yield oldest

    def remove(self, connection: Connection) -> None:
        """Remove a connection that is secure and proven as it must be, or closed."""
        self.deadlines.stop(connection)
        self._layers.pop(connection, None)
        self._slow_connections.discard(connection)
        address = _address(connection)
        waiting = self._by_address.get(address, {})
        waiting.pop(connection, None)
        if not waiting:
            self._by_address.pop(address, None)

    def take_bytes(self, connection: Connection) -> bool:
        """Take the bytes of a handshake from the inbox; whether the connection is in one.

        Raises ProtocolError if the server does not take such a layer, or not there: `refusal` has the answer.
        """
        layer = self._layers.get(connection)
        if layer is None:
            if connection.inbox[:1] == bytes((FIRST_BYTE,)) and not connection.is_secure:
                layer = self._begin_tls(connection)
            elif begins_sasl(connection.inbox):
                layer = self._begin_sasl(connection)
            else:
                return False
        if layer is not None and connection.inbox and not connection.is_in_step:
            self._submit(connection, layer)
        return True

    def open(self, connection: Connection) -> None:
        """Begin to open a large frame, if the connection's layer has one. Raises ConnectionError if too many wait."""
        layer = connection.socket
        if isinstance(layer, SaslSocket) and layer.has_large and not connection.is_in_step:
            if not self._threads.submit(_Opening(connection, layer)):
                raise ConnectionError("the server has many handshakes under way")
            connection.is_in_step = True

    def refusal(self, connection: Connection, error: ProtocolError) -> bytes:
        """The answer to a client whose handshake is refused; empty if it could not understand any."""
        in_sasl = isinstance(self._layers.get(connection), SaslSocket) or begins_sasl(connection.inbox)
        return refusal(error) if in_sasl else b""

    def finished(self) -> Iterator[tuple[Connection, OSError | HmstatsError | None]]:
        """The connections of finished steps, with the error of a failed handshake."""
        while self._ended:
            step = self._ended.popleft()
            connection = step.connection
            connection.is_in_step = False
            if isinstance(step, _Opening):
                connection.append(step.behind)
                yield connection, step.error
                continue
            counter = AUTHENTICATIONS if isinstance(step.layer, SaslSocket) else HANDSHAKES
            if step.done:
                self._enter(connection, step.layer, step.behind)
                counter.labels("done").inc()
            elif step.error is not None:
                counter.labels("failed").inc()
            yield connection, step.error

    def _enter(self, connection: Connection, layer: TlsSocket | SaslSocket, behind: bytes) -> None:
        """Goes on over a layer whose handshake is complete."""
        if isinstance(layer, SaslSocket):
            connection.session.authenticate(layer.principal)
            connection.must_prove = False
            connection.enter(layer, behind)
        else:
            connection.secure(layer, behind)
        if connection.must_prove:
            self._layers.pop(connection)
        else:
            self.remove(connection)

    def _begin_tls(self, connection: Connection) -> TlsSocket:
        if self._tls is None:
            with contextlib.suppress(OSError):
                connection.socket.sendmsg((REFUSAL,))
            raise ProtocolError("the client began TLS, which this server does not speak: its setting tls is off")
        assert not isinstance(connection.socket, TlsSocket | SaslSocket)
        layer = self._layers[connection] = TlsSocket(connection.socket, self._tls.certificates.context)
        self._await(connection)
        return layer

    def _begin_sasl(self, connection: Connection) -> SaslSocket | None:
        """Begins the mechanism that a client names; None if its name has not come yet."""
        assert not isinstance(connection.socket, SaslSocket)
        if connection.must_be_secure:
            raise ProtocolError(TLS_ONLY)
        if self._authentication is None:
            raise ProtocolError(_NO_SASL)
        self._await(connection)
        start = bytearray(connection.inbox)
        message = take_message(start)
        if message is None:
            return None
        name = message.payload.decode("ascii", "backslashreplace")
        mechanism = self._authentication.sasl_mechanism(name, secure=connection.is_secure)
        conversation = mechanism.begin(connection.session.peer, connection.is_secure)
        connection.inbox[:] = start
        layer = self._layers[connection] = SaslSocket(connection.socket, conversation, self._max_message_bytes)
        if mechanism.slow:
            self._slow_connections.add(connection)
        return layer

    def _submit(self, connection: Connection, layer: TlsSocket | SaslSocket) -> None:
        step = _Step(connection, layer, bytes(connection.inbox))
        connection.inbox.clear()
        connection.is_in_step = True
        threads = self._slow_threads if connection in self._slow_connections else self._threads
        if not threads.submit(step):
            connection.is_in_step = False
            raise ProtocolError("the server has many handshakes under way; try again later")

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
