"""Streams a reply of another metastore to the client while it still arrives, in a relaying thread.

Small replies are sent whole, as those of this server's own calls are. For a large one the thread holds no more than it
has last received: it waits until the client's socket takes more, so that memory stays flat whatever the size.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING

from hmstats.errors import ClientGone, UpstreamClosed

if TYPE_CHECKING:
    from hmstats.server.calls.dispatch import Dispatcher
    from hmstats.server.connections.connection import Call
    from hmstats.server.limits import Limits
    from hmstats.wire.messages.envelope import Pieces

_LOOK_SECONDS = 1.0
"""How often a thread that waits for a client looks whether the connection is to be closed."""


def relay(call: Call, dispatcher: Dispatcher, limits: Limits) -> bool:
    """Have another metastore answer a call; whether this thread has settled the call."""
    sent, call.sent = call.sent, None
    if call.claimed:
        if sent is not None:
            sent.abandon()
        return False
    stream = StreamedReply(call, limits)
    try:
        rest = dispatcher.answer_relayed(call.request, call.connection.session, stream, sent)
    except (UpstreamClosed, ClientGone) as error:
        call.error = ConnectionError(str(error))
        return stream.begun or call.claim()
    if not stream.begun:
        return call.reply(rest)
    call.send(rest or ())
    return True


class StreamedReply:
    """The reply to one call, in a protocol whose replies need not be whole to be sent."""

    def __init__(self, call: Call, limits: Limits) -> None:
        self.begun = False
        """Whether a part was sent, so that this thread has the claim of the call."""
        self._call = call
        self._send_seconds = limits.send_seconds
        self._send_bytes = limits.send_bytes

    @property
    def possible(self) -> bool:
        """Whether the client's protocol takes a reply in parts."""
        return self._call.protocol.streams

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for the reply any more."""
        return self._call.connection.doomed if self.begun else self._call.claimed

    def send(self, pieces: Pieces) -> None:
        """Send a part, and return when the client's socket has taken it. Raises ClientGone."""
        if not self.begun:
            if not self._call.claim():
                raise ClientGone("the call was given up before its reply began")
            self.begun = True
        try:
            self._send(pieces)
        except OSError as error:
            raise ClientGone(f"the client left in the middle of its reply: {error.strerror or error}") from error

    def _send(self, pieces: Pieces) -> None:
        connection = self._call.connection
        rest = connection.send(pieces)
        counted, since = len(rest), time.monotonic()
        writable = select.poll()
        writable.register(connection.socket.fileno(), select.POLLOUT)
        while rest:
            writable.poll(_LOOK_SECONDS * 1000)
            if self.abandoned:
                raise ClientGone("the connection was closed in the middle of its reply")
            rest = connection.send((rest,))
            now = time.monotonic()
            if counted - len(rest) >= self._send_bytes:
                counted, since = len(rest), now
            elif self._send_seconds is not None and now - since > self._send_seconds and rest:
                raise ClientGone(f"less than {self._send_bytes} bytes taken in {self._send_seconds:g} seconds")
