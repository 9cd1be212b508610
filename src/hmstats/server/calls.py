"""One whole request on its way through a worker thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hmstats.server.connection import Connection
    from hmstats.server.messages import Pieces
    from hmstats.server.protocols import WireProtocol


class Call:
    """A request, and what became of its reply.

    Whoever takes the claim first answers: the worker when the reply is ready, or the selector's thread when the time is
    up or the client gone. The loser drops what it has.
    """

    __slots__ = ("_claim", "answered", "connection", "error", "last", "protocol", "request", "unsent")

    def __init__(self, connection: Connection, protocol: WireProtocol, request: bytes) -> None:
        self.connection = connection
        self.protocol = protocol
        self.request = request
        self.answered = False
        """Whether there was a reply, sent as far as the socket took it."""
        self.unsent = memoryview(b"")
        """The end of the reply that the socket did not take."""
        self.last = False
        """Whether the connection ends with the reply."""
        self.error: OSError | None = None
        """Why the reply could not be sent."""
        self._claim = threading.Lock()

    def claim(self) -> bool:
        """Whether the caller is the first who wants to answer."""
        return self._claim.acquire(blocking=False)

    def run(self) -> bool:
        """In a worker: answer, unless someone else did. Whether it was answered here."""
        if self._claim.locked():
            return False
        return self.give(self.protocol.answer(self.request, self.connection.session))

    def give(self, reply: Pieces | None) -> bool:
        """Send the reply, unless someone else did. Whether it was sent here."""
        if not self.claim():
            return False
        self.send(self.protocol.wrap(reply))
        self.last = self.protocol.ends
        return True

    def send(self, data: Pieces) -> None:
        """Send what brings the reply to the client. The claim must be the caller's."""
        self.answered = True
        try:
            self.unsent = self.connection.send(data) if data else self.unsent
        except OSError as error:
            self.error = error
