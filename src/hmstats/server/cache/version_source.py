"""Sources of the versions that prove cached answers valid, for the selector's thread."""

from collections.abc import Collection
from typing import Protocol

from hmstats.server.cache.cached_answers import Versions


class Line(Protocol):
    """A connection for version checks that never block: to the database (VersionLine), or to an upstream (LogLine).

    Its methods raise MetaError if it was lost.
    """

    is_running: bool
    has_unsent: bool
    idle_seconds: float | None
    """How long the connection may wait for the next query; None if it may for ever."""

    def fileno(self) -> int:
        """The socket to register with a selector."""

    def send_query(self, table_ids: Collection[int]) -> None:
        """Send a query for the versions of these tables."""

    def receive(self) -> Versions | None:
        """The versions by table id, if the reply has arrived; None if not."""

    def close(self) -> None:
        """Close the connection."""


class VersionSource(Protocol):
    """The source of the versions of tables, which Store implements, or of the version of another metastore."""

    def cached_versions(self, table_ids: Collection[int]) -> Versions | None:
        """The versions of these tables, if they are known without a query; else None."""

    def version_line(self) -> Line | None:
        """Open a line; None if there can be none. Blocks. Raises MetaError."""
