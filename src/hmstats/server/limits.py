"""Limits of one server process: sizes, times, threads, connections and caches."""

from dataclasses import dataclass, replace

from hmstats.wire.messages.allowance import MOST_CONTAINERS, Allowance

_UNPROVEN_BYTES = 64 * 1024
_UNPROVEN_CONTAINERS = 1_000
"""The most bytes and containers in a request without a proven user, which is read to be refused with a sentence."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits; None means no limit.

    If one is exceeded, the client gets an error, if possible, and a line is logged.
    """

    max_message_bytes: int = 100 * 1024 * 1024
    """The largest request that is read."""
    max_message_containers: int = MOST_CONTAINERS
    """Structs, lists, sets and maps in a request."""
    max_connections: int = 10_000
    """Open connections. One more gets an error and is closed."""
    threads: int = 8
    """Threads that run calls."""
    max_waiting_calls: int = 1_000
    """Whole requests in the queue for a thread. One more is refused at once."""
    max_waiting_bytes: int = 256 * 1024 * 1024
    """Bytes of whole requests in the queue for a thread. A single request may be larger."""
    max_partial_bytes: int = 256 * 1024 * 1024
    """Bytes of all requests that have arrived in part. If they are more, the oldest large one is refused."""
    receive_seconds: float | None = 60.0
    """How long the rest of a request may take after its first byte."""
    send_seconds: float | None = 60.0
    """Time in which a client must take `send_bytes` of its reply, or the rest."""
    send_bytes: int = 64 * 1024
    """Bytes of a reply that a client must take within `send_seconds`."""
    max_unsent_bytes: int = 256 * 1024 * 1024
    """Bytes of all unsent replies. If they are more, the connection that has waited longest is ended."""
    call_seconds: float | None = 300.0
    """How long a whole request may take, including its time in the queue."""
    relay_seconds: float | None = None
    """How long a call that another metastore answers may take until its reply begins, time in the queue included."""
    handshake_seconds: float = 10.0
    """How long a TLS handshake may take; from the connection's begin on, if TLS or a proven user is required."""
    max_handshakes: int = 1_000
    """Connections that are not encrypted or proven yet. One more ends the one that has waited longest."""
    idle_seconds: float | None = None
    """How long a connection may stay open without a request."""
    busy_poll_seconds: float = 0.0002
    """How long the selector polls for the next event before it sleeps."""
    answers_bytes: int = 32 * 1024 * 1024
    """Memory of the cache of answers; 0 turns it off."""
    objects_bytes: int = 32 * 1024 * 1024
    """Memory of the cache of encoded statistics by column, for new questions about them, and as much for
    partitions and blocks."""

    @property
    def allowance(self) -> Allowance:
        """The limits of one request."""
        return Allowance(self.max_message_bytes, self.max_message_containers)

    @property
    def before_proof(self) -> "Limits":
        """The limits of a client that has not proven its user."""
        return replace(
            self,
            max_message_bytes=min(self.max_message_bytes, _UNPROVEN_BYTES),
            max_message_containers=_UNPROVEN_CONTAINERS,
        )
