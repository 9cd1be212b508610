"""`hmstats runs`: what was refreshed, when, and how it ended."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server


def runs(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    outcome: Annotated[
        str | None, typer.Option(help="Only those: running, done, failed, stopped or lost.", metavar="OUTCOME")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most rows to print.")] = 50,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List the runs of `hmstats refresh`, newest first, and the tables that fail again and again."""
    from hmstats.cli.actions.health.runs import list_runs

    list_runs(tables=tables, outcome=outcome, most=limit, metastore=metastore, as_json=as_json)
