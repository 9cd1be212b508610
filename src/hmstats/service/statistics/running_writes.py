"""Partial states of running jobs that write: tasks store them, the end of the job collects them."""

from collections.abc import Sequence

import structlog

from hmstats.errors import InvalidInput
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.store.database.store import Store
from hmstats.store.statistics import partial_states

_log = structlog.get_logger("hmstats.running_writes")

STATES_A_PAGE = 50
"""States in one page: a few MB if a table has many columns."""


class RunningWrites:
    """The partial states of every run, by the run's name, shared by all servers of one store.

    Methods that take a run raise InvalidInput if its name is empty.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, run: str, states: Sequence[PartialState]) -> None:
        """Store states; a state with the task, attempt and number of a stored one replaces it."""
        _check(run)
        if states:
            self._store.write(lambda unit: partial_states.put(unit, run, states))

    def page(self, run: str, after: Place | None) -> list[PartialState]:
        """The next STATES_A_PAGE states after a place, by piece; the last page has fewer."""
        _check(run)
        with self._store.read() as connection:
            return partial_states.page(connection, run, after, STATES_A_PAGE)

    def remove(self, run: str) -> int:
        """Delete a run. Returns its number of states."""
        _check(run)
        return self._store.write(lambda unit: partial_states.remove(unit, run))

    def remove_older(self, retention_seconds: float) -> int:
        """Delete runs that have stored nothing for so long, in small transactions. Returns their number."""
        removed = 0
        while count := self._store.write(
            lambda unit: partial_states.remove_dead(unit, int(unit.now_seconds - retention_seconds))
        ):
            removed += count
        if removed:
            _log.info("dead_runs_removed", number=removed)
        return removed


def _check(run: str) -> None:
    if not run:
        raise InvalidInput("a running write must have a name, found none")
