"""Runs that refresh statistics, newest first, and the tables whose last runs failed."""

import time
from collections.abc import Sequence

from hmstats.client import Metastore
from hmstats.client.naming import named_object
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Lease, Outcome
from hmstats.model.health.runs import Run as StoredRun
from hmstats.web.answers.runs import FailingTable, Run, RunList
from hmstats.web.reading.cursors import cursor, parts_of
from hmstats.web.reading.existing import shown_name
from hmstats.web.reading.moments import moment, moment_of

PAGE_RUNS = 50
_MOST = 1_000
"""The most runs that a call answers."""


def run_list(
    service: Metastore,
    table: str | None = None,
    *,
    outcome: str | None = None,
    after: str | None = None,
    limit: int = PAGE_RUNS,
) -> RunList:
    """The runs of all tables or of one, named as `[CATALOG.]DB.TABLE`, from the cursor on.

    Raises StatementError for a malformed name or cursor; UnknownCall when the metastore is
    not hmstats.
    """
    of, name = (None, None) if table is None else named_object(table)
    if of is not None and name is None:
        raise StatementError(f"a table must be named as DB.TABLE, found {table!r}")
    begin_ms, told = (None, frozenset[str]()) if after is None else _begin(after)
    found, leases = service.runs.listed(
        None if of is None else of.database,
        name,
        outcome=outcome,
        before_ms=begin_ms,
        most=min(limit + 1 + len(told), _MOST),
        catalog=None if of is None else of.catalog,
    )
    rest = [each for each in found if each.id not in told]
    page = rest[:limit]
    return RunList(
        runs=tuple(map(_run, page)),
        failing=_failing(leases),
        next=_next(page, told) if len(rest) > limit else None,
    )


def _begin(after: str) -> tuple[int, frozenset[str]]:
    """Before which time the page begins, and the runs that were listed already."""
    at, told = parts_of(after, 2)
    return moment_of(at), frozenset(told.split(",")) - {""}


def _next(page: Sequence[StoredRun], told: frozenset[str]) -> str:
    """The cursor after a page; runs of its last millisecond are told by their ids, since more may have begun then."""
    last_ms = page[-1].started_ms
    same = {each.id for each in page if each.started_ms == last_ms}
    if same == {each.id for each in page}:
        same |= told
    return cursor(str(last_ms + 1), ",".join(sorted(same)))


def _run(each: StoredRun) -> Run:
    under_way = each.outcome is Outcome.RUNNING
    return Run(
        id=each.id,
        table=shown_name(each.table),
        database=each.table.database,
        name=each.table.table,
        partitions=len(each.partitions) or None,
        outcome=each.outcome,
        reason=each.reason,
        runner=each.runner,
        started_at=moment(each.started_ms),
        ended_at=None if each.ended_ms is None else moment(each.ended_ms),
        seconds=round(max(time.time() - each.started_ms / 1000, 0), 3) if under_way else each.seconds,
        rows=each.rows,
        size_bytes=each.size_bytes,
    )


def _failing(leases: Sequence[tuple[TableName, Lease, str | None]]) -> tuple[FailingTable, ...]:
    failed = sorted(
        ((name, lease) for name, lease, _ in leases if lease.failures), key=lambda each: (-each[1].failures, each[0])
    )
    return tuple(
        FailingTable(
            table=shown_name(name),
            failures=lease.failures,
            retry_at=None if lease.retry_ms is None else moment(lease.retry_ms),
        )
        for name, lease in failed
    )
