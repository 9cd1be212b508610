"""Detects that PostgreSQL may have lost commits, and clears the caches of what was read of it.

After a failover, a restored backup, or a crash without durable commits, a database may be older than what was read of
it. Versions then continue from older ones and may equal cached ones for other contents, and reserved ids are given
twice. All of these end the connections. So a stamp is read from each new connection before its first use; if the stamp
has changed, all caches of the database are cleared first. A dump that is restored in a running server changes nothing
but the database's own id there: no database is dropped while there are connections to it.

A pooler may keep a client's connection while it changes the server's behind it: there every check of versions asks for
the stamp too.
"""

import threading
from collections.abc import Callable
from typing import Any

STAMP = (
    "CAST(1000000 * EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS bigint)"
    " # CAST(1000000 * COALESCE(EXTRACT(EPOCH FROM pg_stat_get_bgwriter_stat_reset_time()), 0) AS bigint)"
    " # (SELECT CAST(oid AS bigint) FROM pg_database WHERE datname = current_database())"
)
"""SQL of a number that changes when the server starts or recovers from a crash, which resets its counters, and when the
name becomes another database's.
"""
STAMP_QUERY = f"SELECT {STAMP}, pg_backend_pid()"
"""Query for a new connection: the stamp, and the id of the server's process, which reveals a pooler."""


class LostCommitDetector:
    """Detects that one database may have lost commits, by its stamps. Thread-safe."""

    def __init__(self) -> None:
        self._stamp: int | None = None
        self._lock = threading.Lock()
        self._clear_caches: list[Callable[[], None]] = []
        self.has_pooler = False
        """Whether a pooler is between, so that connections outlive the server's."""

    def on_change(self, clear: Callable[[], None]) -> None:
        """Register `clear`, which runs before anything is read of a database that may be older; it must not block."""
        self._clear_caches.append(clear)

    def read_stamp(self, connection: Any) -> None:
        """Read the stamp from a new connection of the driver, and check it."""
        cursor = connection.cursor()
        cursor.execute(STAMP_QUERY)
        self.check_answer(connection, cursor.fetchone())
        connection.rollback()

    def check_answer(self, connection: Any, answer: tuple[int, int]) -> None:
        """Check a new connection's answer to STAMP_QUERY."""
        stamp, process_id = answer
        self.has_pooler = self.has_pooler or process_id != connection.info.backend_pid
        self.check_stamp(stamp)

    def check_stamp(self, stamp: int) -> bool:
        """Remember a stamp, and clear the caches first if it has changed. Returns whether it is unchanged."""
        with self._lock:
            before, unchanged = self._stamp, stamp == self._stamp
            if not unchanged and before is not None:
                for clear in self._clear_caches:
                    clear()
            self._stamp = stamp
        return unchanged or before is None
