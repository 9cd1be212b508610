"""Calls of runs that refresh statistics. Only hmstats has them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Lease, Run
from hmstats.wire.idl import extension
from hmstats.wire.statistics import runs as codec


@dataclass(frozen=True, slots=True)
class BeginOutcome:
    """Whether a run has begun; else who has the table until when, or when it is tried again after failures."""

    started: bool
    held_by: str | None
    until_ms: int | None


class RunCalls:
    """Runs and their leases.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats.
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def begin(self, run: Run, lease_seconds: int) -> BeginOutcome:
        """Begin a run, unless another has the table."""
        found = self._ask("begin_statistics_run", codec.run_to_thrift(run, lease_seconds))
        return BeginOutcome(found.started, found.heldBy, found.untilMs)

    def renew(self, run: Run, lease_seconds: int) -> bool:
        """Prolong a run's lease; False if another run has its table by now."""
        return bool(self._ask("renew_statistics_run", codec.run_to_thrift(run, lease_seconds)))

    def end(self, run: Run) -> bool:
        """Record how a run ended, and free its table; False if it was not under way."""
        return bool(self._ask("end_statistics_run", codec.run_to_thrift(run)))

    def listed(
        self,
        databases: str | None = None,
        tables: str | None = None,
        *,
        outcome: str | None = None,
        before_ms: int | None = None,
        most: int | None = None,
        catalog: str | None = None,
    ) -> tuple[list[Run], list[tuple[TableName, Lease, str | None]]]:
        """The last runs, newest first; and each table that is taken or has failed, with its lease and runner."""
        request = extension.RunsRequest(
            catName=catalog,
            dbPatterns=databases,
            tblPatterns=tables,
            outcome=outcome,
            startedBefore=before_ms,
            most=most,
        )
        answer = self._ask("get_statistics_runs", request)
        leases = [codec.lease_from_thrift(each) for each in answer.leases]
        return [codec.run_from_thrift(each) for each in answer.runs], leases
