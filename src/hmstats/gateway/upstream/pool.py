"""Connections to the upstream that wait for the next call. There are never more of them than calls may be under way.

So a thread that needs a connection always finds a place: one of its own user, a free one, or that of another user's
connection that has waited longest, which is closed for it.
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
        """The one that has waited longest comes first."""
        self.in_use = 0
        """How many connections have a call."""
        self._closed = False
        self._lock = threading.Lock()

    def idle(self, address: Address, user: User) -> UpstreamConnection | None:
        """The user's connection that has waited shortest; None if there is none that still stands."""
        while (found := self._take_idle(address, user)) is not None:
            if found.is_quiet:
                return found
            self.drop(found)
        return None

    def open(self, address: Address, user: User) -> UpstreamConnection:
        """A new connection. Raises what opening one raises."""
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
        """Let a connection wait for the next call."""
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
        """Forget a connection in use, which is its client's alone from now on."""
        self._end_use()

    def close_idle(self) -> None:
        """Close the connections that have waited too long."""
        before = time.monotonic() - self._idle_seconds
        with self._lock:
            old = [each for each in self._idle if each.idle_since < before]
            self._idle = [each for each in self._idle if each.idle_since >= before]
        for each in old:
            each.close()

    def close(self) -> None:
        """Close all that wait, and the others after their call."""
        with self._lock:
            self._closed = True
            old, self._idle = self._idle, []
        for each in old:
            each.close()

    @property
    def waiting(self) -> int:
        """How many connections wait for a call."""
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
