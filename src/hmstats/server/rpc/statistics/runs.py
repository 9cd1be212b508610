"""Calls of runs that refresh statistics (thrift/hmstats.thrift)."""

from math import isfinite
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.model.health.runs import Run
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.health.runs import Runs
from hmstats.wire.idl import extension
from hmstats.wire.statistics import runs as codec

_LEASE_SECONDS = 60
"""How long a lease lasts that does not say it."""


class RunCalls:
    """Runs and their leases."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def begin_statistics_run(self, session: Session, request: Any) -> Any:
        """Begin a run that refreshes a table's statistics, unless another has the table."""
        found = self._runs.begin(_run(request), request.leaseSeconds or _LEASE_SECONDS)
        return extension.BeginRunResult(started=found.started, heldBy=found.held_by, untilMs=found.until_ms)

    def renew_statistics_run(self, session: Session, request: Any) -> bool:
        """Prolong the lease of a run; false if another run has its table by now."""
        run = _run(request)
        return self._runs.renew(run.table, run.id, request.leaseSeconds or _LEASE_SECONDS)

    def end_statistics_run(self, session: Session, request: Any) -> bool:
        """Record how a run ended, and free its table; false if it was not under way."""
        return self._runs.end(_run(request))

    def get_statistics_runs(self, session: Session, request: Any) -> Any:
        """The runs that refreshed statistics, newest first, and the tables that are taken or have failed."""
        catalog = (request.catName or DEFAULT_CATALOG).lower()
        patterns = (catalog, request.dbPatterns, request.tblPatterns)
        found = self._runs.listed(*patterns, request.outcome, request.startedBefore, request.most)
        leases = self._runs.leases(catalog, request.dbPatterns)
        return extension.RunsResult(
            runs=[codec.run_to_thrift(each) for each in found],
            leases=[codec.lease_to_thrift(name, *each) for name, each in leases.items()],
        )


def _run(struct: Any) -> Run:
    """The run that a call is about. Raises MetaError or InvalidInput for what no run can be."""
    subject.table(struct.dbName, struct.tblName, struct.catName)
    texts = (struct.runId, struct.runner or "", struct.reason or "", *(struct.partNames or ()), *(struct.why or ()))
    if not all(isinstance(each, str) for each in texts):
        raise InvalidInput("the id, runner, reason, partitions and terms of a run must be texts, found others")
    if not all(isinstance(each, float) and isfinite(each) for each in (struct.why or {}).values()):
        raise InvalidInput("the terms of a run must be finite numbers, found others")
    if struct.seconds is not None and not isfinite(struct.seconds):
        raise InvalidInput(f"the seconds of a run must be finite, found {struct.seconds}")
    try:
        return codec.run_from_thrift(struct)
    except ValueError as error:
        raise InvalidInput(f"a run must have one of the known outcomes, found {struct.outcome!r}") from error
