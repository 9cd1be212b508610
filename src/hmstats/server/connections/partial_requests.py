"""The memory budget of requests that have arrived in part.

A client may take `receive_seconds` for the rest of its request; without a budget, thousands of slow clients could use
up the machine's memory.
"""

from collections.abc import Iterator

from hmstats.errors import MessageTooLarge
from hmstats.server.connections.connection import Connection


class PartialRequests:
    """The connections with a part of a request, ordered by the time at which the request began."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held: dict[Connection, int] = {}
        self._total = 0

    def update(self, connection: Connection) -> None:
        """Record how many bytes of its next request a connection has received."""
        held = connection.held_bytes
        self._total += held - self._held.get(connection, 0)
        self._held[connection] = held

    def remove(self, connection: Connection) -> None:
        """Remove a connection, since its request is whole or was refused."""
        self._total -= self._held.pop(connection, 0)

    def excess(self) -> Iterator[Connection]:
        """Connections to refuse until the rest is within the budget; a single one may exceed it.

        Each is the oldest of those that hold at least an equal share, so that small requests are not refused.
        """
        while self._total > self._most_bytes and len(self._held) > 1:
            share = self._most_bytes / len(self._held)
            first = next(each for each, held in self._held.items() if held >= share)
            self.remove(first)
            yield first

    def refusal(self) -> MessageTooLarge:
        """The answer to a request beyond the budget."""
        most = self._most_bytes
        return MessageTooLarge(
            f"requests that have come in part may hold {most} bytes together, found more; try again later"
        )
