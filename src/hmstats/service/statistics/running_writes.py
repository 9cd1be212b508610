"""Partial states of running writes, kept for the jobs that write: tasks put them, the job's end collects them."""

from collections.abc import Sequence

import structlog

from hmstats.errors import InvalidInput
from hmstats.model.running_writes import PartialState, Place
from hmstats.store import partial_states
from hmstats.store.engine import Store

_log = structlog.get_logger("hmstats.running_writes")

STATES_A_PAGE = 50
"""States in one answer: some MB where a table has many columns."""


class RunningWrites:
    """The partial states of every run, by the run's name, for all servers over one store.

    Every method raises InvalidInput for a run without a name.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, run: str, states: Sequence[PartialState]) -> None:
        """Keep states; the same task, attempt and number again replaces what is there."""
        _check(run)
        if states:
            self._store.write(lambda unit: partial_states.put(unit, run, states))

    def page(self, run: str, after: Place | None) -> list[PartialState]:
        """The next STATES_A_PAGE states behind a place, by piece; fewer are the last."""
        _check(run)
        with self._store.read() as connection:
            return partial_states.page(connection, run, after, STATES_A_PAGE)

    def remove(self, run: str) -> int:
        """Forget a run; how many states it had."""
        _check(run)
        return self._store.write(lambda unit: partial_states.remove(unit, run))

    def remove_older(self, retention_seconds: float) -> int:
        """Forget the runs that have put nothing for so long, in small transactions; how many runs."""
        removed = 0
        while found := self._store.write(
            lambda unit: partial_states.remove_dead(unit, int(unit.now_seconds - retention_seconds))
        ):
            removed += found
        if removed:
            _log.info("dead_runs_removed", number=removed)
        return removed


def _check(run: str) -> None:
    if not run:
        raise InvalidInput("a running write must have a name, found none")
