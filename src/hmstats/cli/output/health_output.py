"""Output of `hmstats health`: what to do first, then a row for each table or partition."""

import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import typer

from hmstats.cli.output.cell_texts import age, count_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import WHOLE
from hmstats.model.health.pages import ObjectHealth
from hmstats.outlets.people.health import reason_text
from hmstats.web.reading.existing import shown_name

_TO_DO_LINES = 3


def print_health(found: Sequence[ObjectHealth], refused: Mapping[TableName, str], *, more: bool) -> None:
    """Print commands for the worst tables, then all; `more` says that there are more than these.

    Tables that an analysis refuses are named with the reason instead.
    """
    readable = [each for each in found if each.health.health < WHOLE and each.table not in refused]
    for each in readable[:_TO_DO_LINES]:
        typer.echo(f"to do: {_command(each)}")
    for table, reason in [*refused.items()][:_TO_DO_LINES]:
        typer.echo(f"cannot be refreshed: {table.typed} {reason}")
    if len(refused) > _TO_DO_LINES:
        typer.echo(f"cannot be refreshed: {len(refused) - _TO_DO_LINES:,} more")
    partitions = any(each.partition is not None for each in found)
    shown = plain_table(["Partition" if partitions else "Table", "Why"], ["Health", "Rows", "Age", "Stale for"])
    for each in found:
        name, health = each.partition or each.table.typed, each.health
        since = None if health.stale_since_ms is None else health.stale_since_ms // 1000
        numbers = (count_text(health.now.rows), age(health.analyzed_at_seconds), age(since))
        shown.add_row(name, reason_text(health), str(health.health), *numbers)
    print_table(shown)
    if more:
        typer.echo("there are more: raise --limit")


def nothing_text(below: int | None, *, partitions: bool) -> str:
    """The text that is printed in place of an empty list."""
    if below is not None:
        return f"nothing has a health below {below}"
    return "no partitions" if partitions else "no tables"


def _command(each: ObjectHealth) -> str:
    name = shown_name(each.table)
    if each.partition is not None:
        return shlex.join(["hmstats", "analyze", name, "--partition", each.partition])
    return shlex.join(["hmstats", "refresh", name])


def as_json_object(of: ObjectHealth, refused: str | None) -> dict[str, Any]:
    """The health of a table or a partition as a JSON object; what is unknown is null.

    `refused`: why an analysis refuses the table.
    """
    found = of.health
    at = found.analyzed_at_seconds
    return {
        "catalog": of.table.catalog,
        "database": of.table.database,
        "table": of.table.table,
        "partition": of.partition,
        "health": found.health,
        "reason": found.reason.value,
        "why": reason_text(found),
        "refused": refused,
        "rows": found.now.rows,
        "files": found.now.files,
        "bytes": found.now.size_bytes,
        "rows_then": found.then.rows,
        "files_then": found.then.files,
        "bytes_then": found.then.size_bytes,
        "moved_rows": found.moved_rows,
        "jump": found.jump,
        "marked": found.marked,
        "columns": found.columns,
        "analyzed_columns": found.analyzed,
        "analyzed_at": None if at is None else datetime.fromtimestamp(at, UTC).isoformat(),
        "age_seconds": None if at is None else max(int(time.time()) - at, 0),
        "stale_since": None
        if found.stale_since_ms is None
        else datetime.fromtimestamp(found.stale_since_ms / 1000, UTC).isoformat(timespec="milliseconds"),
        "partitions": found.partitions,
        "stale_partitions": found.stale_partitions,
    }
