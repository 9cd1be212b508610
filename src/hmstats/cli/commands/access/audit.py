"""`hmstats audit`: who called what of a table, from the records that servers keep in the database."""

from typing import Annotated

import typer

from hmstats.cli.options import USER, AsJson, Database


def audit(
    name: Annotated[
        str | None, typer.Argument(help="Only of this table or database.", metavar="[CATALOG.]DB.TABLE or DB")
    ] = None,
    *,
    since: Annotated[
        str | None, typer.Option(help="Not older than this: 2d, 12h, 30m.", metavar="TIME", show_default=False)
    ] = None,
    user: Annotated[str | None, typer.Option(help=USER)] = None,
    denied: Annotated[bool, typer.Option("--denied", help="Only calls that were not allowed.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="The most rows to print.")] = 100,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Print the recorded calls about a table, its database and its catalog, the newest first.

    Servers keep records in the database if `audit_table_days` is set. A renamed table has records under both names.
    """
    from hmstats.cli.actions.access.audit import print_records

    print_records(name, since=since, user=user, denied=denied, limit=limit, database=database, as_json=as_json)
