"""A unit of work: what a writer has in hand during one transaction."""

from dataclasses import dataclass, field

from sqlalchemy import Connection

from hmstats.model.events import Event
from hmstats.store.ids import Ids, Sequence
from hmstats.store.shape import WHOLE, Shape

__all__ = ["Connection", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction. `now_seconds` is the time of the whole unit, in epoch seconds.

    `events` is what happened so far, for the log; None where no log is kept. `shape` is what the database has.
    `counted` are the tables whose numbers change with it (versions.py).
    """

    connection: Connection
    now_seconds: int
    _ids: Ids
    events: list[Event] | None = None
    shape: Shape = WHOLE
    counted: set[int] = field(default_factory=set)

    def ids(self, sequence: Sequence, count: int) -> range:
        """`count` new ids of a sequence."""
        return self._ids.take(self.connection, sequence, count)

    def record(self, *events: Event) -> None:
        """Say what happened; it is written to the log at the end of the unit."""
        if self.events is not None:
            self.events.extend(events)
