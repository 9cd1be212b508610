"""A reading transaction that several reads share, so that all of them see one snapshot of the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine


class SharedSnapshot:
    """The shared transaction, begun by the first read. Not thread-safe."""

    def __init__(self) -> None:
        self._connection: Connection | None = None

    @property
    def has_begun(self) -> bool:
        """Whether anything was read in it."""
        return self._connection is not None

    @contextmanager
    def lend(self, readers: Engine) -> Iterator[Connection]:
        """Lend the transaction's connection; an error ends the transaction, since PostgreSQL cannot continue it."""
        if self._connection is None:
            self._connection = readers.connect()
        try:
            yield self._connection
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the transaction."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class TriedSnapshot:
    """The transaction of a unit that will not be kept, which reads share: they see what the unit has changed."""

    has_begun = True

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def lend(self, _readers: Engine) -> Iterator[Connection]:
        """Lend the unit's connection."""
        yield self._connection
