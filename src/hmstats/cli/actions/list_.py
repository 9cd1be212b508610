"""The work of `hmstats list`: read the tables page by page, and print a row for each."""

import json

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.list_table import as_json_row, list_table
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.cli.output.tables import print_table
from hmstats.client.tables.listing import find_tables


def list_tables(*, tables: list[str] | None, details: bool, metastore: str | None, as_json: bool) -> None:
    """Print the tables. Raises StatementError for a name or a pattern without a table."""
    with open_metastore(metastore) as service:
        rows = []
        for each in find_tables(service, tables or (), details=details):
            if each.refused is not None:
                typer.echo(f"{each.table.name.typed}: {plain_sentence(each.refused)}", err=True)
            if as_json:
                typer.echo(json.dumps(as_json_row(each), ensure_ascii=False))
            rows.append(each)
    if as_json:
        return
    print_table(list_table(rows, details=details)) if rows else typer.echo("no tables")
