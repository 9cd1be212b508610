"""Output of `hmstats refresh` and `hmstats runs`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import typer

from hmstats.cli.output.cell_texts import age, count_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.plan import Candidate, Work
from hmstats.model.health.runs import FAILURES_TO_REPORT, Lease, Outcome, Run
from hmstats.outlets.people.cells import amount

_SHOWN = 50
_NOTHING = "nothing is to be refreshed"


def print_plan(taken: Sequence[Work], left: Sequence[Candidate], skipped: Mapping[TableName, str]) -> None:
    """Print the plan of a round, each score with its terms, and what has no place in it."""
    if not taken:
        typer.echo(_NOTHING)
    else:
        shown = plain_table(["Table", "Reason"], ["Partitions", "Health", "Seconds", "Bytes", "Score"])
        for each in taken[:_SHOWN]:
            numbers = (count_text(len(each.partitions) or None), str(each.health), f"{each.seconds:,.1f}")
            shown.add_row(each.table.typed, each.why, *numbers, count_text(each.size_bytes), sum_text(each))
        print_table(shown)
        if len(taken) > _SHOWN:
            typer.echo(f"and {len(taken) - _SHOWN:,} more")
        typer.echo(f"about {sum(each.seconds for each in taken):,.0f} s")
    if left:
        tables = amount(len({each.table for each in left}), "table")
        objects = amount(len(left), "table or partition", "tables or partitions")
        typer.echo(f"beyond the budget: {objects} of {tables}")
    _print_skipped(skipped)


def print_none(skipped: Mapping[TableName, str], *, in_window: bool) -> None:
    """Print that a round had nothing to do, and why."""
    typer.echo(_NOTHING if in_window else "nothing is refreshed outside of --window")
    _print_skipped(skipped)


def _print_skipped(skipped: Mapping[TableName, str]) -> None:
    for name, reason in list(skipped.items())[:_SHOWN]:
        typer.echo(f"left out: {name.typed} {reason}")


def sum_text(work: Work) -> str:
    """The score as the sum that makes it."""
    terms = work.terms
    share = "" if terms.share == 1.0 else f"{terms.share:.2g} rows x "
    return (
        f"{terms.staleness:.2f} stale x {terms.use:.2g} use x {share}{terms.waiting:.2f} waiting"
        f" / {terms.cost_seconds:.1f} s = {terms.score:.3g}"
    )


def work_as_json(work: Work) -> dict[str, Any]:
    """A piece of a plan as a JSON object."""
    return {
        **_table(work.table),
        "partitions": list(work.partitions),
        "health": work.health,
        "reason": work.reason.value,
        "look": work.look,
        "blamed": work.blamed,
        "predicted_seconds": round(work.seconds, 3),
        "bytes": work.size_bytes,
        "why": work.terms.as_dict(),
    }


def print_runs(runs: Sequence[Run], leases: Mapping[TableName, Lease]) -> None:
    """Print runs, newest first, then the tables that somebody should look at."""
    if not runs:
        typer.echo("there were no runs")
    else:
        shown = plain_table(["Table", "Outcome", "Reason"], ["Ago", "Partitions", "Seconds", "Rows", "Bytes"])
        for each in runs:
            seconds = "" if each.seconds is None else f"{each.seconds:,.1f}"
            numbers = (age(each.started_ms // 1000), count_text(len(each.partitions) or None), seconds)
            counts = (count_text(each.rows), count_text(each.size_bytes))
            shown.add_row(each.table.typed, each.outcome.value, (each.reason or "")[:80], *numbers, *counts)
        print_table(shown)
    for name, lease in leases.items():
        if lease.failures >= FAILURES_TO_REPORT:
            typer.echo(f"needs you: {name.typed} failed {amount(lease.failures, 'time')} in a row")


def run_as_json(run: Run) -> dict[str, Any]:
    """A run as a JSON object; what is unknown is null."""
    found = asdict(run)
    del found["table"], found["size_bytes"], found["started_ms"], found["ended_ms"]
    return {
        **_table(run.table),
        **found,
        "outcome": run.outcome.value,
        "partitions": list(run.partitions),
        "bytes": run.size_bytes,
        "started_at": _time(run.started_ms),
        "ended_at": None if run.ended_ms is None else _time(run.ended_ms),
    }


def done_text(work: Work, outcome: Outcome | None, reason: str | None, seconds: float) -> str:
    """A line about a piece of work that is over."""
    parts = f" ({amount(len(work.partitions), 'partition')})" if work.partitions else ""
    said = "left out" if outcome is None else outcome.value
    why = f": {reason}" if reason else ""
    return f"{work.table.typed}{parts} {said} in {seconds:,.1f} s{why}"


def _table(name: TableName) -> dict[str, Any]:
    return {"catalog": name.catalog, "database": name.database, "table": name.table}


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
