"""Closes connections of clients that neither send the request that they began nor take the answer that they asked for.

Uvicorn waits for both without an end, so that a few hundred of them use up the files that a process may have open.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK_SECONDS = 15.0
"""How often a connection is looked at: one that stands where it stood is closed after once to twice as long."""
_ARRIVING = (h11.IDLE, h11.SEND_BODY)
"""States of a client of which a head or a body is still to come."""


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 to one client. An answer that is still being made is waited for, however long it takes."""

    _next_check: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at the connection."""
        super().connection_made(transport)
        self._schedule_check()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._next_check is not None:
            self._next_check.cancel()
        super().connection_lost(exc)

    def _schedule_check(self) -> None:
        self._next_check = self.loop.call_later(LOOK_SECONDS, self._check_progress, self._progress())

    def _check_progress(self, last: tuple[object, ...]) -> None:
        waits = self.conn.their_state in _ARRIVING or self.transport.get_write_buffer_size()
        if waits and self._progress() == last:
            self.transport.abort()
            return
        self._schedule_check()

    def _progress(self) -> tuple[object, ...]:
        """Where the connection stands: its last request, what is awaited, and the bytes that were not taken."""
        return self.cycle, self.conn.their_state, self.transport.get_write_buffer_size()
