"""Structs of runs that refresh statistics <-> model."""

from typing import Any

from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Lease, Outcome, Run
from hmstats.wire.idl import extension


def run_to_thrift(run: Run, lease_seconds: int | None = None) -> Any:
    """The struct of a run."""
    return extension.StatisticsRun(
        runId=run.id,
        dbName=run.table.database,
        tblName=run.table.table,
        catName=run.table.catalog,
        partNames=list(run.partitions),
        runner=run.runner,
        why=dict(run.why),
        startedAt=run.started_ms,
        endedAt=run.ended_ms,
        outcome=run.outcome.value,
        reason=run.reason,
        numRows=run.rows,
        numBytes=run.size_bytes,
        seconds=run.seconds,
        leaseSeconds=lease_seconds,
    )


def run_from_thrift(struct: Any) -> Run:
    """The run in a struct."""
    return Run(
        struct.runId,
        table_name(struct.dbName, struct.tblName, struct.catName),
        struct.runner or "",
        struct.startedAt or 0,
        Outcome(struct.outcome or Outcome.RUNNING),
        tuple(struct.partNames or ()),
        dict(struct.why or {}),
        struct.endedAt,
        struct.reason,
        struct.numRows,
        struct.numBytes,
        struct.seconds,
    )


def lease_to_thrift(name: TableName, lease: Lease, runner: str | None) -> Any:
    """The struct of a table's lease."""
    held = lease.until_ms if lease.run_id is not None else None
    return extension.RunLease(
        dbName=name.database,
        tblName=name.table,
        catName=name.catalog,
        runner=runner,
        untilMs=held,
        failures=lease.failures,
        retryAt=lease.retry_ms,
    )


def lease_from_thrift(struct: Any) -> tuple[TableName, Lease, str | None]:
    """The table, its lease and its runner."""
    name = TableName(struct.catName, struct.dbName, struct.tblName)
    run_id = None if struct.untilMs is None else ""
    return name, Lease(run_id, struct.untilMs or 0, struct.failures, struct.retryAt), struct.runner
