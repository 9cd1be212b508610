"""Replies that clients have not received yet: a deadline for each, and a memory budget for all."""

from collections.abc import Iterator

from hmstats.server.connections.connection import Connection
from hmstats.server.connections.deadlines import Deadlines
from hmstats.server.limits import Limits


class UnsentReplies:
    """The connections with a reply that the socket has not taken completely."""

    def __init__(self, limits: Limits) -> None:
        self.deadlines = Deadlines[Connection](limits.send_seconds)
        """When each client must have taken more of its reply, earliest first."""
        self._limits = limits
        self._held: dict[Connection, int] = {}
        """Bytes in memory by connection, which are freed only after the last byte was sent."""
        self._unsent_at_deadline: dict[Connection, int] = {}
        """Bytes that were unsent when the connection's deadline was set."""
        self._total = 0

    @property
    def too_slow(self) -> str:
        """Why a connection ends after its deadline."""
        return f"less than {self._limits.send_bytes} bytes of the reply taken in {self._limits.send_seconds:g} seconds"

    @property
    def too_much(self) -> str:
        """Why a connection ends beyond the budget."""
        return f"replies that clients have not taken hold more than {self._limits.max_unsent_bytes} bytes"

    def update(self, connection: Connection) -> None:
        """Record how much is in a connection's outbox now."""
        unsent = len(connection.outbox)
        if not unsent:
            self.remove(connection)
        elif connection not in self._held:
            self._held[connection] = len(connection.outbox.obj)  # type: ignore[arg-type]  # bytes
            self._total += self._held[connection]
            self._unsent_at_deadline[connection] = unsent
            self.deadlines.restart(connection)
        elif self._unsent_at_deadline[connection] - unsent >= self._limits.send_bytes:
            self._unsent_at_deadline[connection] = unsent
            self.deadlines.restart(connection)

    def remove(self, connection: Connection) -> None:
        """Remove a connection, which has nothing to send any more."""
        self.deadlines.stop(connection)
        self._unsent_at_deadline.pop(connection, None)
        self._total -= self._held.pop(connection, 0)

    def excess(self) -> Iterator[Connection]:
        """Connections to end, slowest first, until the rest is within the budget; a single one may exceed it."""
        while self._total > self._limits.max_unsent_bytes and len(self._held) > 1:
            connection = self.deadlines.first() or next(iter(self._held))
            self.remove(connection)
            yield connection
