"""Output of `hmstats blame`: what to do first, then a row for each table or column."""

import shlex
from collections.abc import Sequence
from typing import Any

import typer

from hmstats.cli.output.cell_texts import age, count_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.records import BlameSum
from hmstats.model.feedback.verdicts import MENDABLE, explain
from hmstats.outlets.people.cells import UNKNOWN, estimate_text
from hmstats.web.reading.existing import shown_name

_TO_DO_LINES = 3


def print_blame(found: Sequence[BlameSum]) -> None:
    """Print commands for the worst tables, then all."""
    if not found:
        typer.echo("no estimate was wrong, or nothing was learned: see hmstats learn")
        return
    mended = dict.fromkeys(each.worst.blame.table for each in found if each.can_be_mended)
    for name in list(mended)[:_TO_DO_LINES]:
        typer.echo(f"to do: {shlex.join(['hmstats', 'refresh', shown_name(name)])}")
    shown = plain_table(["Blamed", "Verdict", "Used for"], ["Estimated", "Rows", "Factor", "Queries", "Weight", "Last"])
    for each in found:
        blame = each.worst.blame
        estimated = UNKNOWN if blame.estimated is None else estimate_text(blame.estimated)
        shown.add_row(
            _name(blame.table, blame.column),
            "analysed since" if each.analyzed_since and blame.verdict in MENDABLE else blame.verdict.value,
            blame.use.value,
            *(estimated, count_text(blame.rows), estimate_text(blame.factor, 1), count_text(each.queries)),
            *(estimate_text(each.weight, 1), age(each.last_ms // 1_000)),
        )
    print_table(shown)
    for each in found[:_TO_DO_LINES]:
        blame = each.worst.blame
        typer.echo(f"{_name(blame.table, blame.column)} {explain(blame.column, blame.use, blame.verdict)}")


def blame_as_json(each: BlameSum) -> dict[str, Any]:
    """A table or column that is to blame as a JSON object; what is unknown is null."""
    blame = each.worst.blame
    return {
        "catalog": blame.table.catalog,
        "database": blame.table.database,
        "table": blame.table.table,
        "column": blame.column,
        "verdict": blame.verdict.value,
        "why": explain(blame.column, blame.use, blame.verdict),
        "used_for": blame.use.value,
        "engine": each.worst.engine,
        "estimated": blame.estimated,
        "rows": blame.rows,
        "factor": round(blame.factor, 3),
        "queries": each.queries,
        "weight": round(each.weight, 3),
        "last_ms": each.last_ms,
        "analyzed_at": each.analyzed_at_seconds,
        "analyzed_since": each.analyzed_since,
    }


def _name(table: TableName, column: str | None) -> str:
    return table.typed if column is None else f"{table.typed}.{column}"
