"""A unit of work: what a writer has in hand during one transaction."""

from dataclasses import dataclass

from sqlalchemy import Connection

from hmstats.store.ids import Ids, Sequence

__all__ = ["Connection", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction. `now_seconds` is the time of the whole unit, in epoch seconds."""

    connection: Connection
    now_seconds: int
    _ids: Ids

    def ids(self, sequence: Sequence, count: int) -> range:
        """`count` new ids of a sequence."""
        return self._ids.take(self.connection, sequence, count)
