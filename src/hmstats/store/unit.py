"""A unit of work: what a writer has in hand during one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from hmstats.model.events import Event
from hmstats.store import expected_table
from hmstats.store.expected_table import ExpectedTable
from hmstats.store.ids import Ids
from hmstats.store.ids import Sequence as IdSequence
from hmstats.store.prepared import Prepared
from hmstats.store.shape import WHOLE, Shape
from hmstats.store.writing_connection import COMMIT, run_together

__all__ = ["Connection", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction. `now_seconds` is the time of the whole unit, in epoch seconds.

    `events` is what happened so far, for the log; None where no log is kept. `shape` is what the database has.
    `counted` are the tables whose numbers change with it (versions.py). `prepares`: its session is its own, so that
    statements may be prepared there. One that `expects` a table to be as it says reads nothing (expected_table.py).
    """

    connection: Connection
    now_seconds: int
    _ids: Ids
    events: list[Event] | None = None
    shape: Shape = WHOLE
    counted: set[int] = field(default_factory=set)
    prepares: bool = False
    expects: ExpectedTable | None = None
    _waiting: list[tuple[str, Sequence[Any], Prepared | None]] = field(default_factory=list)

    def ids(self, sequence: IdSequence, count: int) -> range:
        """`count` new ids of a sequence."""
        return self._ids.take(self.connection, sequence, count)

    def later(self, text: str, values: Sequence[Any], prepared: Prepared | None = None) -> None:
        """Have PostgreSQL run a statement whose result nobody waits for before the unit's next, or at its end.

        Its parameters are written %s. Many travel in one round trip so. `prepared` is the same statement.
        """
        self._waiting.append((text, values, prepared if self.prepares else None))

    def send(self) -> None:
        """Run what waits; the store calls it before each statement and before the commit."""
        if self._waiting:
            assert self.expects is None, "a unit that expects a table to be as it is known runs nothing before its end"
            self.connection.exec_driver_sql(*self._take())

    def commit(self) -> None:
        """Run what waits, and commit: on PostgreSQL in one round trip."""
        if self._waiting:
            self.later(COMMIT, ())
            self.send()
        self.connection.commit()

    def commit_as_expected(self) -> int:
        """Do all that waits, in one round trip, if the table is as expected; how many rows the last of it changed."""
        assert self.expects is not None
        lock = expected_table.PREPARED_LOCK if self.prepares else None
        self._waiting.insert(0, (expected_table.LOCK, [self.expects.id], lock))
        return run_together(self.connection, *self._take())

    def _take(self) -> tuple[str, tuple[Any, ...]]:
        """What waits, as one text with its parameters; nothing waits then."""
        waiting = self._waiting.copy()
        self._waiting.clear()
        texts = (each.text(self.connection, text) if each else text for text, _, each in waiting)
        return ";\n".join(texts), tuple(value for _, some, _ in waiting for value in some)

    def record(self, *events: Event) -> None:
        """Say what happened; it is written to the log at the end of the unit."""
        if self.events is not None:
            self.events.extend(events)
