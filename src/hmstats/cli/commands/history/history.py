"""`hmstats history`: when a table's statistics were written, by whom, and what changed."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server


def history(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    column: Annotated[str | None, typer.Argument(help="Its column.")] = None,
    limit: Annotated[int, typer.Option(help="The most rows to print.", min=1, max=1_000)] = 50,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print the last writes of a table's statistics, newest first, and the oldest time that can be asked for."""
    from hmstats.cli.actions.history.history import print_history

    print_history(table=table, column=column, most=limit, as_json=as_json, metastore=metastore)
