"""`hmstats audit`: audit records of the database, whose servers may run meanwhile."""

import json
import time
from collections.abc import Sequence

import typer
from rich.table import Table

from hmstats.cli.actions.access.durations import seconds_of
from hmstats.cli.output.plain_texts import plain_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.cli.serving.serve_settings import load_served
from hmstats.client.naming import named_table
from hmstats.model.access.audit_record import AuditRecord, WantedRecords
from hmstats.service.access.audit_records import AuditRecords
from hmstats.store.opening import open_store

_NONE_KEPT = "no records: a server keeps none while audit_table_days is 0, as it is here"
_LONGEST_OBJECTS = 200
"""Characters of a call's objects in the table for people."""


def print_records(
    name: str | None,
    *,
    since: str | None,
    user: str | None,
    denied: bool,
    limit: int,
    database: str | None,
    as_json: bool,
) -> None:
    """Print the wanted records, and say when older ones were left out. Raises StatementError, SettingsError."""
    since_ms = None if since is None else int((time.time() - seconds_of("--since", since)) * 1000)
    wanted = WantedRecords(None if name is None else _object(name), since_ms, user, denied)
    settings = load_served({"database": database})
    store = open_store(settings.database, pool_size=1, statement_seconds=settings.statement_seconds, read_only=True)
    try:
        records = AuditRecords(store)
        found, has_any = records.find(wanted, limit), bool(records.find(WantedRecords(), 1).records)
    finally:
        store.close()
    if as_json:
        for each in found.records:
            typer.echo(json.dumps(each.fields()))
    elif found.records:
        print_table(_table(found.records))
    else:
        typer.echo("no records" if has_any or settings.audit_table_days else _NONE_KEPT)
    if found.more:
        typer.echo(f"older records were left out: --limit is {limit}", err=True)


def _object(text: str) -> tuple[str, ...]:
    """A table's name in three parts, or a database's in two. Raises StatementError."""
    named = named_table(text, database="")
    return (named.catalog, named.database, named.table) if named.database else (named.catalog, named.table)


def _table(records: Sequence[AuditRecord]) -> Table:
    shown = plain_table(["Time", "User", "From", "Call", "Objects", "Outcome"])
    for each in records:
        fields = each.fields()
        user = each.principal or (f"{each.user} (unproven)" if each.user else "unknown")
        user += f" via {each.via}" if each.via else ""
        objects = ", ".join(each.objects)
        cut = objects if len(objects) <= _LONGEST_OBJECTS else objects[:_LONGEST_OBJECTS] + "..."
        outcome = each.outcome if each.allowed else f"denied: {each.outcome}"
        texts = (fields["time"], user, each.address, each.call or "unknown", cut, outcome)
        shown.add_row(*map(plain_text, texts))  # names with line breaks too stay in one line
    return shown
