"""One client's socket, the bytes that came and those that are still to leave.

A connection belongs to the selector's thread. Only while a worker holds its call's claim does that worker write to the
socket; `inbox`, `ended` and `doomed` may be looked at by it, not changed.
"""

from __future__ import annotations

import selectors
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from hmstats.server.calls import Call
    from hmstats.server.protocols import WireProtocol
    from hmstats.server.session import Session

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE

_READ_BYTES = 64 * 1024
_WAITING_BYTES = 256 * 1024
"""Once so many bytes wait behind a running call, no more are read: the client's own buffers fill and it stops."""

_NOTHING = memoryview(b"")


class Connection:
    """A client's connection. Idle, it holds this object and an empty buffer."""

    __slots__ = (
        "call",
        "closed",
        "doomed",
        "ended",
        "events",
        "fresh",
        "inbox",
        "last",
        "lingering",
        "outbox",
        "protocol",
        "session",
        "socket",
    )

    def __init__(self, sock: socket.socket, session: Session) -> None:
        self.socket = sock
        self.session = session
        self.protocol: WireProtocol | None = None
        self.inbox = bytearray()
        self.outbox = _NOTHING
        self.call: Call | None = None
        self.fresh = True
        """No request has come yet."""
        self.events = 0
        """What the selector watches for."""
        self.ended = False
        """The client sends no more; it may still wait for replies."""
        self.last = False
        """What is in the outbox is the last that is sent."""
        self.lingering = False
        """All is sent; what still comes is thrown away, so that the client can read its last reply before the end."""
        self.doomed = False
        """To be closed as soon as a worker has let go of it."""
        self.closed = False

    @property
    def free(self) -> bool:
        """Whether the next request can be taken up."""
        return not (self.call or self.outbox or self.lingering or self.closed)

    @property
    def awaits_selector(self) -> bool:
        """Whether there is something to do as soon as the running call has ended."""
        return self.request_begun or self.ended or self.doomed

    @property
    def request_begun(self) -> bool:
        """Whether a part of the next request has come."""
        return bool(self.inbox) or (self.protocol is not None and self.protocol.begun)

    @property
    def wanted_events(self) -> int:
        """What the selector should watch for."""
        full = not self.free and len(self.inbox) >= _WAITING_BYTES
        reading = 0 if self.ended or full else READ
        return reading | (WRITE if self.outbox else 0)

    def receive(self) -> bytes | None:
        """The bytes that have come, none at the end; None when there are none yet. Raises OSError when it is broken."""
        try:
            data = self.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return None
        self.ended = not data
        return data

    def put(self, data: bytes) -> None:
        """Into the inbox, unless no more requests are taken up."""
        if not self.last and not self.lingering:
            self.inbox += data

    def send(self, pieces: Sequence[bytes | memoryview]) -> memoryview:
        """Send what the socket takes at once; the rest is returned. Raises OSError when the connection is broken."""
        try:
            sent = self.socket.sendmsg(pieces)
        except BlockingIOError:
            sent = 0
        if sent == sum(map(len, pieces)):
            return _NOTHING
        whole = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return memoryview(whole)[sent:]
