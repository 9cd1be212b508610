"""What one process of a server grants its clients."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Each limit ends in a sentence to the client, where one can be sent, and in a log line. None means no limit."""

    max_message_bytes: int = 100 * 1024 * 1024
    """The largest request that is read."""
    max_connections: int = 10_000
    """Connections held at once. One beyond is told so and closed."""
    threads: int = 8
    """Threads that run calls."""
    max_waiting_calls: int = 1_000
    """Whole requests that may wait for a thread. One beyond is refused at once."""
    receive_seconds: float | None = 60.0
    """Time in which a request must be whole once its first byte has come."""
    send_seconds: float | None = 60.0
    """Time in which a client must take at least one byte of its reply."""
    call_seconds: float | None = 300.0
    """Time in which a whole request must be answered, waiting included."""
    idle_seconds: float | None = None
    """Time in which a connection without a request is closed."""
    busy_poll_seconds: float = 0.0002
    """Time in which the next request, or the database's answer, is looked for without sleeping."""
    answers_bytes: int = 32 * 1024 * 1024
    """Memory for answers that are kept. What does not fit is answered anew."""
    objects_bytes: int = 32 * 1024 * 1024
    """Memory for columns' statistics that are kept, encoded, for new questions about them."""
