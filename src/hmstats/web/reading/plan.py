"""The plan of a refresh, as `hmstats refresh --dry-run` prints it, of the tables of least health."""

import shlex
import time

from hmstats.client import Metastore
from hmstats.client.naming import named_object
from hmstats.client.refresh_plan import plan_round
from hmstats.model.catalog.objects import TableName
from hmstats.model.durations import duration_seconds
from hmstats.model.health.plan import Work
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.web.answers.plan import LeftOut, PlannedWork, RefreshPlan
from hmstats.web.reading.existing import shown_name

PAGE_TABLES = 100


def refresh_plan(
    service: Metastore, text: str | None = None, *, budget: str | None = None, limit: int = PAGE_TABLES
) -> RefreshPlan:
    """The plan of a round over DB, DB.TABLE or patterns of them; None: all tables of all catalogs.

    At most `limit` tables of each catalog are looked at. Raises StatementError for a malformed name or budget,
    UnknownCall when the metastore is not hmstats.
    """
    tables = () if text is None else (named_object(text),)
    seconds = None if budget is None else duration_seconds(budget)
    wanted = RefreshRequest(tables, seconds, look_seconds=None, most=limit)
    found = plan_round(service, wanted, int(time.time() * 1_000))
    return RefreshPlan(
        work=tuple(map(_work, found.plan.taken)),
        seconds=round(found.plan.seconds, 1),
        beyond=len(found.plan.left),
        left_out=tuple(_left_out(name, why) for name, why in found.skipped.items()),
        complete=found.complete,
        command=_command(text, budget),
    )


def _command(text: str | None, budget: str | None) -> str:
    name = [] if text is None else [text]
    return shlex.join(["hmstats", "refresh", *name, *([] if budget is None else ["--budget", budget])])


def _left_out(name: TableName, why: str) -> LeftOut:
    return LeftOut(table=shown_name(name), database=name.database, name=name.table, why=why)


def _work(found: Work) -> PlannedWork:
    terms = found.terms
    return PlannedWork(
        table=shown_name(found.table),
        database=found.table.database,
        name=found.table.table,
        partitions=len(found.partitions) or None,
        health=found.health,
        why=found.why,
        seconds=round(found.seconds, 1),
        size_bytes=found.size_bytes,
        staleness=round(terms.staleness, 4),
        use=round(terms.use, 4),
        share=round(terms.share, 4),
        waiting=round(terms.waiting, 4),
        cost_seconds=round(terms.cost_seconds, 4),
        score=round(terms.score, 6),
    )
