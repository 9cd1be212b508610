"""A unit of work: the state of a writer during one transaction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from sqlalchemy import Connection

from hmstats.model.events import Event
from hmstats.store.beside_hive.present_tables import COMPLETE, Shape
from hmstats.store.connections.writing_connection import COMMIT, run_together
from hmstats.store.unit import version_guard
from hmstats.store.unit.ids import Ids
from hmstats.store.unit.ids import Sequence as IdSequence
from hmstats.store.unit.prepared import PREPARED, Prepared, prepared_query
from hmstats.store.unit.version_guard import ExpectedTable

__all__ = ["Connection", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction. `now_seconds` is the time of the whole unit, in epoch seconds.

    `events` are those for the log so far; None if no log is written. `shape` is the database's shape.
    `counted` are the tables whose versions it changes (versions.py). With `prepares`, its session is its own, so that
    statements may be prepared there. A unit that `expects` a table at a version reads nothing (version_guard.py).
    With `keeps_history`, what it replaces of statistics is kept, as of `now_milliseconds` of the epoch.
    """

    connection: Connection
    now_seconds: int
    _ids: Ids
    events: list[Event] | None = None
    shape: Shape = COMPLETE
    counted: set[int] = field(default_factory=set)
    prepares: bool = False
    expects: ExpectedTable | None = None
    keeps_history: bool = False
    now_milliseconds: int = 0
    _queue: list[tuple[str, Sequence[Any], Prepared | None]] = field(default_factory=list)
    _steps: Iterator[int] = field(default_factory=count)

    def next_step(self) -> int:
        """The number of the next step in the history of statistics: it begins with the time, so that units differ."""
        return self.now_milliseconds * 1_000 + next(self._steps)

    def ids(self, sequence: IdSequence, count: int) -> range:
        """`count` new ids of a sequence."""
        return self._ids.reserve(self.connection, sequence, count)

    def queue(self, text: str, values: Sequence[Any], prepared: Prepared | None = None) -> None:
        """Queue a statement without a result for PostgreSQL; it runs before the unit's next one, or at its end.

        Its parameters are written %s. Queued statements share one round trip. `prepared` is the statement's prepared
        form.
        """
        self._queue.append((text, values, prepared if self.prepares else None))

    def send(self) -> None:
        """Run the queued statements; the store calls it before each statement and before the commit."""
        if self._queue:
            assert self.expects is None, "a unit that expects a table to be as it is known runs nothing before its end"
            self.connection.exec_driver_sql(*self._empty_queue())

    def clear_queue(self) -> None:
        """Clear the queue after an error that ends the unit: its statements must not run with the cleanup."""
        self._queue.clear()

    def form_of(self, text: str, options: Mapping[str, Any]) -> str:
        """The text to send for a statement: its prepared form if its execution options are PREPARED."""
        if not self.prepares or not PREPARED.items() <= options.items():
            return text
        return prepared_query(text).text(self.connection.info, text)

    def commit(self) -> None:
        """Run the queued statements and commit: on PostgreSQL in one round trip."""
        if self._queue:
            self.queue(COMMIT, ())
            self.send()
        self.connection.commit()

    def commit_as_expected(self) -> int:
        """Run the queued statements in one round trip if the table is as expected. Returns the last one's row count."""
        assert self.expects is not None
        lock = version_guard.PREPARED_LOCK if self.prepares else None
        self._queue.insert(0, (version_guard.LOCK, [self.expects.id], lock))
        return run_together(self.connection, *self._empty_queue())

    def _empty_queue(self) -> tuple[str, tuple[Any, ...]]:
        """Empty the queue into one text with its parameters."""
        queue = self._queue.copy()
        self._queue.clear()
        texts = (prepared.text(self.connection.info, text) if prepared else text for text, _, prepared in queue)
        return ";\n".join(texts), tuple(value for _, values, _ in queue for value in values)

    def record(self, *events: Event) -> None:
        """Add events, which are written to the log at the end of the unit."""
        if self.events is not None:
            self.events.extend(events)
