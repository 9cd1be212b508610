"""Closes connections of clients that neither send the request that they began nor take the answer that they asked for.

Uvicorn waits for both without an end, so that a few hundred of them use up the files that a process may have open.
"""

import asyncio
from http import HTTPStatus
from typing import NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

LOOK_SECONDS = 15.0
"""How often a connection is looked at: one that stands where it stood is closed after once to twice as long."""
LEAST_BODY_BYTES = 64 * 1024
"""How much of a body comes from one look to the next, if its client does not stand still."""
_SENTENCE = b"a request must go on arriving, found a part of one that stands still\n"


class _Place(NamedTuple):
    """The progress of a connection: its last request, its state, and the bytes that the client has not taken."""

    cycle: RequestResponseCycle | None
    awaited: object
    unsent_bytes: int


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 to one client. An answer that is still being made is waited for, however long it takes."""

    _next_check: asyncio.TimerHandle | None = None
    _received_bytes = 0
    """Bytes of bodies since the last look."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at the connection."""
        super().connection_made(transport)
        self._schedule_check()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._next_check is not None:
            self._next_check.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a body, and take them."""
        if self.conn.their_state is h11.SEND_BODY:
            self._received_bytes += len(data)
        super().data_received(data)

    def _schedule_check(self) -> None:
        self._received_bytes = 0
        self._next_check = self.loop.call_later(LOOK_SECONDS, self._check_progress, self._place())

    def _check_progress(self, last: _Place) -> None:
        place = self._place()
        if place != last or self._is_waited_for(place):
            self._schedule_check()
        elif place.unsent_bytes or not self._has_begun_request():
            self.transport.abort()
        else:
            self._refuse_rest()

    def _place(self) -> _Place:
        return _Place(self.cycle, self.conn.their_state, self.transport.get_write_buffer_size())

    def _is_waited_for(self, place: _Place) -> bool:
        """Whether the page is working on an answer, or the client makes progress that its place does not show."""
        if place.unsent_bytes or place.awaited is h11.IDLE:
            return False
        if place.awaited is not h11.SEND_BODY:
            return True
        is_wanted = place.cycle is not None and not place.cycle.response_complete
        return is_wanted and (self.flow.read_paused or self._received_bytes >= LEAST_BODY_BYTES)

    def _has_begun_request(self) -> bool:
        """Whether a part of a request has come to which no answer was begun."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0]) and self.conn.our_state is h11.IDLE
        return self.conn.our_state is h11.SEND_RESPONSE

    def _refuse_rest(self) -> None:
        """Say why the connection ends, and end it."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        status = HTTPStatus.REQUEST_TIMEOUT
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(_SENTENCE)))]
        headers.append(("Connection", "close"))
        answer = h11.Response(status_code=status, headers=headers, reason=status.phrase.encode())
        for event in (answer, h11.Data(data=_SENTENCE), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
