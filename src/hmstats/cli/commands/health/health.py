"""`hmstats health`: which statistics are missing or stale."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server


def health(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    below: Annotated[
        int | None,
        typer.Option(min=0, max=101, help="Only what has a lower health; exit with 1 if anything has."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most rows to print.")] = 50,
    partitions: Annotated[bool, typer.Option("--partitions", help="List the partitions of a table.")] = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List tables by the health of their statistics, the worst first, and the commands that repair them.

    Health is 100 if nothing has changed since the statistics were computed. It is 0 if there are none, or if all that
    they describe is gone. The server updates it as tables change; listing it computes nothing.
    --json prints all rows, whatever the limit.
    """
    from hmstats.cli.actions.health.health import list_health

    list_health(tables=tables, below=below, most=limit, partitions=partitions, metastore=metastore, as_json=as_json)
