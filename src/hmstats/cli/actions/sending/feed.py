"""The work of `hmstats feed`: find what changed, send it, and keep how far that came."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.client import Metastore
from hmstats.client.connection.address import addresses
from hmstats.feeds import datahub
from hmstats.feeds.changed import changed_tables
from hmstats.feeds.cursors import Cursor, default_cursor_path, read_cursor, write_cursor
from hmstats.feeds.feed import Kind, Names, messages, path_of, send_tables
from hmstats.feeds.sending import Catalog
from hmstats.outlets.people.cells import amount
from hmstats.settings import load
from hmstats.web.reading.existing import shown_name

TOKEN = "HMSTATS__FEED_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRequest:
    """The options of a run of a feed."""

    kind: Kind
    url: str
    tables: list[str] | None
    cursor: Path | None
    namespace: str | None
    platform: str
    environment: str
    prefix: str


def run_feed(request: FeedRequest, *, metastore: str | None, dry_run: bool, as_json: bool) -> None:
    """Send what changed, or print it. Raises StatementError for a missing table, typer.Exit if some were not sent."""
    settings = load({"metastore": metastore})
    headers = datahub.HEADERS if request.kind == "datahub" else {}
    catalog = Catalog(path_of(request.kind, request.url), os.environ.get(TOKEN) or None, headers)
    names = Names(
        request.namespace or _namespace(settings.metastore), request.platform, request.environment, request.prefix
    )
    cursor = request.cursor or default_cursor_path(request.kind, catalog.url, settings.metastore)
    with open_metastore(metastore) as service:
        if request.tables:
            tables, event = _existing(service, request.tables), None
        else:
            tables, event = changed_tables(service, read_cursor(cursor))
        if dry_run:
            for message in messages(service, request.kind, names, tables):
                typer.echo(json.dumps(message, ensure_ascii=False))
            return
        failed = _send(service, request.kind, catalog, names, tables, as_json=as_json)
    if event is not None:
        write_cursor(cursor, Cursor(event, tuple(failed)))
    if failed:
        raise typer.Exit(ExitCode.PARTLY_DONE)


def _existing(service: Metastore, texts: Sequence[str]) -> list[str]:
    """The named tables, each as the metastore has it. Raises StatementError for a missing one."""
    return [shown_name(service.existing_table(each).name) for each in texts]


def _send(
    service: Metastore, kind: Kind, catalog: Catalog, names: Names, tables: list[str], *, as_json: bool
) -> list[str]:
    """Send tables and tell it; the ones that failed."""
    counts, failed = Counter[str](), []
    for each in send_tables(service, kind, catalog, names, tables):
        counts[each.outcome] += 1
        if each.outcome == "failed":
            failed.append(each.table)
        if as_json:
            typer.echo(json.dumps({"table": each.table, "outcome": each.outcome, "reason": each.reason}))
        elif each.reason is not None:
            typer.echo(f"{each.table}: {plain_sentence(each.reason)}", err=True)
    if not as_json:
        more = "".join(
            f", {counts[name]:,} {words}"
            for name, words in (("unknown", "unknown to it"), ("gone", "gone"), ("failed", "failed"))
            if counts[name]
        )
        typer.echo(f"sent {amount(counts['sent'], 'table')} to {catalog.url}{more}")
    return failed


def _namespace(uris: str) -> str:
    """OpenLineage's namespace of a Hive: the first of the metastore's addresses."""
    first = addresses(uris)[0]
    return f"hive://{first.host}:{first.port}"
