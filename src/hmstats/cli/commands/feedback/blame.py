"""`hmstats blame`: whose statistics made estimates of queries wrong."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server


def blame(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    since: Annotated[str, typer.Option(help="Not older than this: 2d, 12h, 30m.", metavar="TIME")] = "7d",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most rows to print.")] = 20,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List tables and columns by how wrong they made estimates, weighted by the time of the queries, and what to do.

    A verdict is missing, stale or wrong, which an analysis mends, or beyond: the statistics are right, and analysing
    will not help.
    """
    from hmstats.cli.actions.feedback.blame import list_blame

    list_blame(tables=tables, since=since, most=limit, metastore=metastore, as_json=as_json)
