"""Detects that PostgreSQL may have lost commits, and clears the caches of what was read of it.

After a failover, a restored backup, or a crash without durable commits, a database may be older than what was read of
it. Versions then continue from older ones and may equal cached ones for other contents, and reserved ids are given
twice. All of these end the connections. So each new connection is asked for a stamp before its first use; if the stamp
has changed, all caches of the database are cleared first.

A pooler may keep a client's connection while it changes the server's behind it: there every check of versions asks for
the stamp too.
"""

import threading
from collections.abc import Callable
from typing import Any

STAMP = (
    "CAST(1000000 * EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS bigint)"
    " # CAST(1000000 * COALESCE(EXTRACT(EPOCH FROM pg_stat_get_bgwriter_stat_reset_time()), 0) AS bigint)"
)
"""SQL of a number that changes when the server starts or recovers from a crash, which resets its counters."""
QUESTION = f"SELECT {STAMP}, pg_backend_pid()"
"""Query for a new connection: the stamp, and the id of the server's process, which reveals a pooler."""


class History:
    """The history of one database, by its stamps. Thread-safe."""

    def __init__(self) -> None:
        self._stamp: int | None = None
        self._lock = threading.Lock()
        self._forget: list[Callable[[], None]] = []
        self.pooled = False
        """Whether a pooler is between, so that connections outlive the server's."""

    def on_change(self, forget: Callable[[], None]) -> None:
        """Register `forget`, called before anything is read of a database that may be older; it must not block."""
        self._forget.append(forget)

    def ask(self, connection: Any) -> None:
        """Ask a new connection of the driver for its stamp, and note it."""
        cursor = connection.cursor()
        cursor.execute(QUESTION)
        self.answered(connection, cursor.fetchone())
        connection.rollback()

    def answered(self, connection: Any, answer: tuple[int, int]) -> None:
        """Note a new connection's answer to QUESTION."""
        stamp, process_id = answer
        self.pooled = self.pooled or process_id != connection.info.backend_pid
        self.note(stamp)

    def note(self, stamp: int) -> bool:
        """Note a stamp, and clear the caches first if it has changed. Returns whether it is unchanged."""
        with self._lock:
            before, same = self._stamp, stamp == self._stamp
            if not same and before is not None:
                for forget in self._forget:
                    forget()
            self._stamp = stamp
        return same or before is None
