"""The work of `hmstats pending`: list, compare, publish and reject pending statistics."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.actions.history.diff import print_changes
from hmstats.cli.output.cell_texts import age
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.client.naming import named_table
from hmstats.client.tables.existing import list_named, named_or_all
from hmstats.client.tables.pending_changes import before_and_after
from hmstats.model.pending.pending import PendingListed


def list_pending(tables: Sequence[str] | None, *, metastore: str | None, as_json: bool) -> None:
    """Print the pending statistics of the tables that match.

    Raises StatementError for a malformed name, and for one of nothing.
    """
    with open_metastore(metastore) as service:
        pages = [list_named(service, each, service.pending.listed) for each in named_or_all(service, tables)]
    found = list(dict.fromkeys(each for page in pages for each in page))
    if as_json:
        for each in found:
            typer.echo(json.dumps(_fields(each), ensure_ascii=False))
        return
    if not found:
        typer.echo("no statistics are pending")
        return
    shown = plain_table(["Table", "Partition", "Held by", "Reason", "By"], ["Columns", "Age"])
    for each in found:
        texts = (each.table.typed, each.partition or "", each.reason.held_by.value, each.reason.text, each.writer or "")
        shown.add_row(*texts, str(len(each.columns)), age(each.held_at_seconds))
    print_table(shown)


def diff_pending(text: str, *, metastore: str | None, as_json: bool) -> None:
    """Print how pending statistics differ from those in force. Raises typer.Exit if any does."""
    name = named_table(text)
    with open_metastore(metastore) as service:
        before, after = before_and_after(service, name)
    print_changes(f"pending statistics of {name.typed}", before, after, as_json=as_json)


def publish_pending(text: str, partitions: Sequence[str] | None, *, metastore: str | None, as_json: bool) -> None:
    """Publish pending statistics, and print of how many objects. Raises CallRefused if there are none."""
    name = named_table(text)
    with open_metastore(metastore) as service:
        written, recounted = service.pending.publish(name, partitions or None)
    if as_json:
        typer.echo(json.dumps({"table": name.typed, "written": written, "recounted": recounted}))
        return
    typer.echo(f"statistics of {name.typed} published: {_owners(written)}")
    if recounted:
        typer.echo(f"of {recounted:,}, rows, files and bytes were counted anew in the meantime, and stay")


def reject_pending(text: str, partitions: Sequence[str] | None, *, metastore: str | None, as_json: bool) -> None:
    """Discard pending statistics, and print of how many objects. Raises CallRefused if there are none."""
    name = named_table(text)
    with open_metastore(metastore) as service:
        gone = service.pending.reject(name, partitions or None)
    if as_json:
        typer.echo(json.dumps({"table": name.typed, "rejected": gone}))
    else:
        typer.echo(f"statistics of {name.typed} rejected: {_owners(gone)}")


def _owners(count: int) -> str:
    return f"{count:,} {'table or partition' if count == 1 else 'tables and partitions'}"


def _fields(each: PendingListed) -> dict[str, Any]:
    return {
        "table": each.table.typed,
        "partition": each.partition,
        "held_by": each.reason.held_by.value,
        "reason": each.reason.text,
        "columns": list(each.columns),
        "writer": each.writer,
        "held_at": datetime.fromtimestamp(each.held_at_seconds, UTC).isoformat(),
    }
