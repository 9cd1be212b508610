"""Runs that refresh statistics: each has a table to itself for as long as its lease is renewed, and is recorded."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Lease, Outcome, Run, end_lease
from hmstats.service.catalog.patterns import matching
from hmstats.service.statistics.existing_tables import find_facts
from hmstats.store.catalog import databases
from hmstats.store.database.store import Store
from hmstats.store.health import runs
from hmstats.store.unit.unit import Unit

MOST = 1_000
"""Most runs of a list."""
MOST_LEASE_SECONDS = 3_600
RETENTION_DAYS = 31


@dataclass(frozen=True, slots=True)
class Begun:
    """Whether a run has begun; else who has the table, or when it is tried again after failures (epoch ms)."""

    started: bool
    held_by: str | None = None
    until_ms: int | None = None


class Runs:
    """The runs of all tables, and their leases."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, run: Run, lease_seconds: int) -> Begun:
        """Begin a run, unless another has the table, or the table failed a while ago. A repeated call begins once.

        Raises NoSuchObject for a missing table, InvalidInput for an invalid lease or id, or an id of another run.
        """
        _check(run.id, lease_seconds)

        def work(unit: Unit) -> Begun:
            table_id, now_ms = find_facts(unit.connection, run.table).id, unit.now_milliseconds
            lease = runs.lock_lease(unit, table_id)
            until_ms = now_ms + lease_seconds * 1_000
            if lease.run_id == run.id:
                runs.put_lease(unit, table_id, replace(lease, until_ms=until_ms))
                return Begun(started=True)
            if lease.run_id is not None and lease.until_ms > now_ms:
                return Begun(False, runs.runner_of(unit.connection, lease.run_id), lease.until_ms)
            if lease.run_id is not None:
                runs.lose(unit, lease.run_id, now_ms)
                lease = end_lease(lease, Outcome.LOST, None, now_ms)
                runs.put_lease(unit, table_id, lease)
            if lease.retry_ms is not None and lease.retry_ms > now_ms:
                return Begun(False, None, lease.retry_ms)
            if runs.runner_of(unit.connection, run.id) is not None:
                raise InvalidInput(f"run {run.id} has begun before: expected an id of its own for each run")
            runs.put_lease(unit, table_id, Lease(run.id, until_ms, lease.failures, lease.retry_ms))
            runs.add(unit, table_id, replace(run, started_ms=now_ms, outcome=Outcome.RUNNING))
            return Begun(started=True)

        return self._store.write(work)

    def renew(self, table: TableName, run_id: str, lease_seconds: int) -> bool:
        """Prolong a run's lease; False if another run has the table by now. Raises as `begin`."""
        _check(run_id, lease_seconds)

        def work(unit: Unit) -> bool:
            table_id = find_facts(unit.connection, table).id
            lease = runs.lock_lease(unit, table_id)
            if lease.run_id != run_id:
                return False
            until_ms = unit.now_milliseconds + lease_seconds * 1_000
            runs.put_lease(unit, table_id, replace(lease, until_ms=until_ms))
            return True

        return self._store.write(work)

    def end(self, run: Run) -> bool:
        """Record how a run ended, and free its table; False if it was not under way. Raises NoSuchObject."""
        if run.outcome not in (Outcome.DONE, Outcome.FAILED, Outcome.STOPPED):
            raise InvalidInput(f"a run ends as done, failed or stopped, found {run.outcome}")

        def work(unit: Unit) -> bool:
            table_id, now_ms = find_facts(unit.connection, run.table).id, unit.now_milliseconds
            lease = runs.lock_lease(unit, table_id)
            if lease.run_id == run.id:
                runs.put_lease(unit, table_id, end_lease(lease, run.outcome, run.seconds, now_ms))
            return runs.end(unit, table_id, replace(run, ended_ms=now_ms))

        return self._store.write(work)

    def listed(
        self,
        catalog: str,
        of_databases: str | None,
        tables: str | None,
        outcome: str | None = None,
        before_ms: int | None = None,
        most: int | None = None,
    ) -> list[Run]:
        """The last runs of tables that match patterns (None: all), newest first. Raises InvalidInput."""
        number = MOST if most is None else most
        if not 0 < number <= MOST:
            raise InvalidInput(f"a list of runs has 1 to {MOST:,} entries, found {number:,}")
        wanted = None if outcome is None else _outcome(outcome)
        with self._store.read() as connection:
            names = matching(databases.names(connection, catalog), of_databases) if of_databases else None
            fitting = matching(runs.table_names(connection, catalog, names), tables) if tables else None
            return runs.listed(connection, catalog, names, fitting, wanted, before_ms, number)

    def leases(self, catalog: str, of_databases: str | None) -> dict[TableName, tuple[Lease, str | None]]:
        """The tables that are being refreshed, or have failed, with the runner."""
        with self._store.read() as connection:
            names = matching(databases.names(connection, catalog), of_databases) if of_databases else None
            return runs.leases(connection, catalog, names)

    def remove_older(self, retention_seconds: float) -> int:
        """Remove old runs. Returns their number."""
        return self._store.write(
            lambda unit: runs.remove_older(unit, unit.now_milliseconds - int(retention_seconds * 1_000))
        )


def _check(run_id: str, lease_seconds: int) -> None:
    if not run_id or len(run_id) > 64:
        raise InvalidInput(f"a run must have an id of 1 to 64 characters, found {run_id[:80]!r}")
    if not 0 < lease_seconds <= MOST_LEASE_SECONDS:
        raise InvalidInput(f"a lease lasts 1 to {MOST_LEASE_SECONDS:,} seconds, found {lease_seconds:,}")


def _outcome(text: str) -> Outcome:
    try:
        return Outcome(text)
    except ValueError as error:
        raise InvalidInput(f"the outcome of a run is one of {_names(Outcome)}, found {text!r}") from error


def _names(outcomes: Collection[Outcome] | type[Outcome]) -> str:
    return ", ".join(each.value for each in outcomes)
