"""The work of `hmstats list`: read the tables page by page, and print a row for each."""

import json

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.list_table import as_json_row, list_table
from hmstats.cli.output.tables import print_table
from hmstats.client.tables.listing import find_tables


def list_tables(*, tables: list[str] | None, details: bool, metastore: str | None, as_json: bool) -> None:
    """Print the tables. Raises StatementError for a name or a pattern without a table."""
    with open_metastore(metastore) as service:
        found = find_tables(service, tables or (), details=details)
        if as_json:
            for each in found:
                typer.echo(json.dumps(as_json_row(each), ensure_ascii=False))
            return
        rows = list(found)
    print_table(list_table(rows, details=details)) if rows else typer.echo("no tables")
