"""Idle connections to the upstream, never more than there may be calls at a time.

A thread that needs a connection always gets one: an idle one of its user, a new one, or a new one in place of another
user's connection, the one that has been idle longest.
"""

import threading
import time
from collections.abc import Callable

from hmstats.client.connection.address import Address
from hmstats.gateway.upstream.connection import UpstreamConnection, User

Open = Callable[[Address, User], UpstreamConnection]


class Pool:
    """At most `most` connections, idle ones and those in use. Thread-safe."""

    def __init__(self, open_connection: Open, most: int, idle_seconds: float) -> None:
        self._connect = open_connection
        self._most = most
        self._idle_seconds = idle_seconds
        self._idle: list[UpstreamConnection] = []
        """Idle connections, the one that has been idle longest first."""
        self.in_use = 0
        """The number of connections with a call."""
        self._closed = False
        self._lock = threading.Lock()

    def idle(self, address: Address, user: User) -> UpstreamConnection | None:
        """The user's connection that was used last; None if there is none that is still open."""
        while (found := self._take_idle(address, user)) is not None:
            if found.is_quiet:
                return found
            self.drop(found)
        return None

    def open(self, address: Address, user: User) -> UpstreamConnection:
        """Open a connection. Raises what opening raises."""
        with self._lock:
            oldest = self._idle.pop(0) if self._idle and len(self._idle) + self.in_use >= self._most else None
            self.in_use += 1
        if oldest is not None:
            oldest.close()
        try:
            return self._connect(address, user)
        except BaseException:
            self._end_use()
            raise

    def give_back(self, connection: UpstreamConnection) -> None:
        """Keep a connection for the next call."""
        connection.rest()
        with self._lock:
            self.in_use -= 1
            closed = self._closed
            if not closed:
                self._idle.append(connection)
        if closed:
            connection.close()

    def drop(self, connection: UpstreamConnection) -> None:
        """Close a connection that is in use."""
        self._end_use()
        connection.close()

    def let_go(self) -> None:
        """Stop counting a connection in use that now belongs to one client alone."""
        self._end_use()

    def close_idle(self) -> None:
        """Close the connections that have been idle too long."""
        before = time.monotonic() - self._idle_seconds
        with self._lock:
            old = [each for each in self._idle if each.idle_since < before]
            self._idle = [each for each in self._idle if each.idle_since >= before]
        for each in old:
            each.close()

    def close(self) -> None:
        """Close all idle connections, and the others after their call."""
        with self._lock:
            self._closed = True
            old, self._idle = self._idle, []
        for each in old:
            each.close()

    @property
    def waiting(self) -> int:
        """The number of idle connections."""
        return len(self._idle)

    def _take_idle(self, address: Address, user: User) -> UpstreamConnection | None:
        with self._lock:
            for place in reversed(range(len(self._idle))):
                each = self._idle[place]
                if each.user == user and each.address == address:
                    self.in_use += 1
                    return self._idle.pop(place)
        return None

    def _end_use(self) -> None:
        with self._lock:
            self.in_use -= 1
