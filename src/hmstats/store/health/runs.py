"""HMSTATS_RUN: runs that refresh statistics; HMSTATS_RUN_LEASE: which run has a table, and how often it failed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Lease, Outcome, Run
from hmstats.store.schema import DBS, HMSTATS_RUN, TBLS
from hmstats.store.schema import HMSTATS_RUN_LEASE as LEASE
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_R, _L = HMSTATS_RUN.c, LEASE.c


def lock_lease(unit: Unit, table_id: int) -> Lease:
    """The lease of a table, which no other unit changes until this one ends."""
    row = {"TBL_ID": table_id, "RUN_ID": None, "UNTIL": 0, "FAILURES": 0, "RETRY_AT": None}
    upsert(unit, LEASE, ["TBL_ID"], [row], _unchanged)
    query = select(_L.RUN_ID, _L.UNTIL, _L.FAILURES, _L.RETRY_AT).where(_L.TBL_ID == table_id)
    return Lease(*unit.connection.execute(query.with_for_update()).one())


def _unchanged(old: Any, _new: Any) -> Mapping[str, Any]:
    return {"UNTIL": old.UNTIL}


def put_lease(unit: Unit, table_id: int, lease: Lease) -> None:
    """Store the lease of a table, which the unit has locked."""
    values = {"RUN_ID": lease.run_id, "UNTIL": lease.until_ms, "FAILURES": lease.failures, "RETRY_AT": lease.retry_ms}
    unit.connection.execute(update(LEASE).where(_L.TBL_ID == table_id).values(**values))


def leases(
    connection: Connection, catalog: str, databases: Sequence[str] | None
) -> dict[TableName, tuple[Lease, str | None]]:
    """The leases of tables that are refreshed or have failed, each with the runner of its run."""
    query = (
        select(DBS.c.NAME, TBLS.c.TBL_NAME, _L.RUN_ID, _L.UNTIL, _L.FAILURES, _L.RETRY_AT, _R.RUNNER)
        .select_from(
            LEASE.join(TBLS, TBLS.c.TBL_ID == _L.TBL_ID)
            .join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
            .outerjoin(HMSTATS_RUN, _R.RUN_ID == _L.RUN_ID)
        )
        .where(DBS.c.CTLG_NAME == catalog, (_L.FAILURES > 0) | _L.RUN_ID.is_not(None))
    )
    if databases is not None:
        query = query.where(one_of(connection, DBS.c.NAME, databases))
    rows = connection.execute(query)
    return {TableName(catalog, row[0], row[1]): (Lease(*row[2:6]), row[6]) for row in rows}


def add(unit: Unit, table_id: int, run: Run) -> None:
    """Insert a run that begins."""
    row = {
        "RUN_ID": run.id,
        "TBL_ID": table_id,
        "CAT_NAME": run.table.catalog,
        "DB_NAME": run.table.database,
        "TBL_NAME": run.table.table,
        "RUNNER": run.runner,
        "STARTED_AT": run.started_ms,
        "OUTCOME": run.outcome.value,
        "PART_NAMES": json.dumps(run.partitions),
        "WHY": json.dumps(run.why),
    }
    unit.connection.execute(insert(HMSTATS_RUN).values(**row))


def end(unit: Unit, table_id: int, run: Run) -> bool:
    """Store how a run ended. False if the table has no such run that is under way."""
    values = {
        "ENDED_AT": run.ended_ms,
        "OUTCOME": run.outcome.value,
        "REASON": run.reason,
        "NUM_ROWS": run.rows,
        "NUM_BYTES": run.size_bytes,
        "SECONDS": run.seconds,
    }
    # The table too: rights were checked for it, and an id that a client sends may be that of another table's run.
    here = (_R.RUN_ID == run.id, _R.TBL_ID == table_id, _R.OUTCOME == Outcome.RUNNING.value)
    under_way = update(HMSTATS_RUN).where(*here)
    return unit.connection.execute(under_way.values(**values)).rowcount > 0


def lose(unit: Unit, run_id: str, now_ms: int) -> None:
    """Store that a run's process has died."""
    here = update(HMSTATS_RUN).where(_R.RUN_ID == run_id, _R.OUTCOME == Outcome.RUNNING.value)
    unit.connection.execute(here.values(OUTCOME=Outcome.LOST.value, ENDED_AT=now_ms))


def runner_of(connection: Connection, run_id: str) -> str | None:
    """The runner of a run; None if there is no run of this id."""
    return connection.execute(select(_R.RUNNER).where(_R.RUN_ID == run_id)).scalar_one_or_none()


def listed(
    connection: Connection,
    catalog: str,
    databases: Sequence[str] | None,
    tables: Sequence[str] | None,
    outcome: Outcome | None,
    before_ms: int | None,
    most: int,
) -> list[Run]:
    """The last runs of these tables in these databases (None: all), newest first."""
    query = select(HMSTATS_RUN).where(_R.CAT_NAME == catalog)
    if databases is not None:
        query = query.where(one_of(connection, _R.DB_NAME, databases))
    if tables is not None:
        query = query.where(one_of(connection, _R.TBL_NAME, tables))
    if outcome is not None:
        query = query.where(_R.OUTCOME == outcome.value)
    if before_ms is not None:
        query = query.where(before_ms > _R.STARTED_AT)
    rows = connection.execute(query.order_by(_R.STARTED_AT.desc(), _R.RUN_ID).limit(most))
    return [_run(each) for each in rows]


def table_names(connection: Connection, catalog: str, databases: Sequence[str] | None) -> list[str]:
    """The names of tables in these databases (None: all) that have runs, each once."""
    query = select(_R.TBL_NAME).where(_R.CAT_NAME == catalog).distinct()
    if databases is not None:
        query = query.where(one_of(connection, _R.DB_NAME, databases))
    return list(connection.execute(query).scalars())


def _run(row: Any) -> Run:
    return Run(
        row.RUN_ID,
        TableName(row.CAT_NAME, row.DB_NAME, row.TBL_NAME),
        row.RUNNER,
        row.STARTED_AT,
        Outcome(row.OUTCOME),
        tuple(json.loads(row.PART_NAMES)),
        json.loads(row.WHY),
        row.ENDED_AT,
        row.REASON,
        row.NUM_ROWS,
        row.NUM_BYTES,
        row.SECONDS,
    )


def remove_older(unit: Unit, before_ms: int) -> int:
    """Remove runs that began before a time. Returns their number."""
    return unit.connection.execute(delete(HMSTATS_RUN).where(before_ms > _R.STARTED_AT)).rowcount
