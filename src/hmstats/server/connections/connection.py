"""One client's socket, with the bytes received and the bytes still to send.

A connection belongs to the selector's thread. A worker writes to the socket only while it holds the claim of the
connection's call; it may read `inbox`, `ended` and `doomed`, but not change them.
"""

from __future__ import annotations

import selectors
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from hmstats.model.access.principal import Principal
    from hmstats.server.calls.dispatch import Dispatcher
    from hmstats.server.calls.relaying import Sent
    from hmstats.server.layers.sasl_socket import SaslSocket
    from hmstats.server.layers.tls_socket import TlsSocket
    from hmstats.server.messages.request import Request
    from hmstats.server.protocols.protocols import WireProtocol
    from hmstats.server.rpc.caller import Session
    from hmstats.wire.messages.envelope import Pieces

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE

_READ_BYTES = 64 * 1024
_WAITING_BYTES = 256 * 1024
"""If so many bytes wait behind a running call, no more are read: the client's buffers fill and it stops sending."""

_NOTHING = memoryview(b"")


class Connection:
    """A client's connection. Idle, it holds this object and an empty buffer."""

    __slots__ = (
        "call",
        "certified",
        "closed",
        "doomed",
        "ended",
        "events",
        "fresh",
        "inbox",
        "is_in_step",
        "is_secure",
        "last",
        "lingering",
        "must_be_secure",
        "must_prove",
        "outbox",
        "protocol",
        "session",
        "socket",
        "unread",
    )

    def __init__(self, sock: socket.socket, session: Session) -> None:
        self.socket: socket.socket | TlsSocket | SaslSocket = sock
        self.session = session
        self.protocol: WireProtocol | None = None
        self.inbox = bytearray()
        self.outbox = _NOTHING
        self.call: Call | None = None
        self.fresh = True
        """Whether no request has arrived yet."""
        self.events = 0
        """The events that the selector watches for."""
        self.ended = False
        """Whether the client has closed its side for sending; it may still wait for replies."""
        self.last = False
        """Whether the connection ends after the bytes in the outbox."""
        self.lingering = False
        """Whether everything is sent and received bytes are discarded, so that the client can read its last reply."""
        self.doomed = False
        """Whether the connection is to be closed as soon as a worker has released it."""
        self.closed = False
        self.must_be_secure = False
        """Whether requests are refused until the connection is encrypted."""
        self.is_secure = False
        """Whether the connection is encrypted."""
        self.must_prove = False
        """Whether requests are refused until the user is proven."""
        self.certified: Principal | None = None
        """The user of the client's certificate, whom requests without another proof have."""
        self.is_in_step = False
        """Whether a thread works on the handshake, or on the proof of a user; nothing is received meanwhile."""
        self.unread = False
        """Whether more requests have arrived than one turn handles; nothing is received before the next turn."""

    @property
    def free(self) -> bool:
        """Whether the next request can be started."""
        return not (self.call or self.outbox or self.lingering or self.closed)

    @property
    def awaits_selector(self) -> bool:
        """Whether the selector's thread has something to do as soon as the running call has ended."""
        return self.request_begun or self.ended or self.doomed

    @property
    def request_begun(self) -> bool:
        """Whether a part of the next request has arrived."""
        return bool(self.inbox) or (self.protocol is not None and self.protocol.begun)

    @property
    def held_bytes(self) -> int:
        """Memory in bytes of the part of the next request that has arrived."""
        return len(self.inbox) + (self.protocol.held_bytes if self.protocol is not None else 0)

    @property
    def wanted_events(self) -> int:
        """The events that the selector should watch for."""
        full = not self.free and len(self.inbox) >= _WAITING_BYTES
        reading = 0 if self.ended or full or self.unread or self.is_in_step else READ
        return reading | (WRITE if self.outbox else 0)

    def receive(self) -> bytes | None:
        """The bytes that have arrived, empty at the end, None if there are none yet. Raises OSError if it is broken."""
        try:
            data = self.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return None
        self.ended = not data
        return data

    def secure(self, tls: TlsSocket, behind: bytes) -> None:
        """Go on over a socket whose handshake is complete, with the decrypted bytes that came along with its end."""
        self.is_secure, self.must_be_secure = True, False
        self.enter(tls, behind)

    def enter(self, layer: TlsSocket | SaslSocket, behind: bytes) -> None:
        """Go on over a layer, with the bytes above it that came along with the end of its handshake."""
        self.socket = layer
        self.inbox += behind

    def append(self, data: bytes) -> None:
        """Append bytes to the inbox, unless no more requests are accepted."""
        if not self.last and not self.lingering:
            self.inbox += data

    def send(self, pieces: Sequence[bytes | memoryview]) -> memoryview:
        """Send as much as the socket takes at once, and return the rest. Raises OSError if the connection is broken."""
        try:
            sent = self.socket.sendmsg(pieces)
        except BlockingIOError:
            sent = 0
        if sent == sum(map(len, pieces)):
            return _NOTHING
        joined = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return memoryview(joined)[sent:]


class Call:
    """A request and its reply.

    The first thread to take the claim answers: the worker with the reply, or the selector's thread after a timeout or
    if the client has gone. The other thread drops its answer.
    """

    __slots__ = ("_claim", "answered", "connection", "error", "last", "protocol", "request", "sent", "unsent")

    def __init__(self, connection: Connection, protocol: WireProtocol, request: Request) -> None:
        self.connection = connection
        self.protocol = protocol
        self.request = request
        self.sent: Sent | None = None
        """The call as it was sent to another metastore already, if a thread is to finish it."""
        self.answered = False
        """Whether there was a reply, of which the socket has taken all but `unsent`."""
        self.unsent = memoryview(b"")
        """The end of the reply that the socket did not take."""
        self.last = False
        """Whether the connection ends with the reply."""
        self.error: OSError | None = None
        """The reason why the reply could not be sent."""
        self._claim = threading.Lock()

    def claim(self) -> bool:
        """Take the claim; whether the caller is the first to do so."""
        return self._claim.acquire(blocking=False)

    @property
    def claimed(self) -> bool:
        """Whether a thread has taken the claim."""
        return self._claim.locked()

    def run(self, dispatcher: Dispatcher) -> bool:
        """Run the call in a worker and send its reply; whether the reply was sent by this worker."""
        if self.claimed:
            return False
        return self.reply(dispatcher.answer(self.request, self.connection.session))

    def reply(self, reply: Pieces | None) -> bool:
        """Encode the reply, and send it unless another thread has taken the claim; whether it was sent here."""
        encoded = self.protocol.encode(reply)
        if not self.claim():
            return False
        self.send(self.protocol.wrap(encoded))
        self.last = self.protocol.ends
        return True

    def send(self, data: Pieces) -> None:
        """Send the wrapped reply. The caller must hold the claim."""
        self.answered = True
        try:
            self.unsent = self.connection.send(data) if data else self.unsent
        except OSError as error:
            self.error = error
