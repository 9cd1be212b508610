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
        typer.Option(min=0, max=101, help="Only what has a health below that; exit with 1 if there is any."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Print at most so many.")] = 50,
    partitions: Annotated[
        bool, typer.Option("--partitions", help="The partitions of a table, in the place of tables.")
    ] = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List tables by the health of their statistics, the worst first, and what to do about it.

    Health is 100 if nothing has changed since the statistics were made, 0 if there are none or nothing is left of what
    they describe. It is kept by the server as tables change; listing it computes nothing.
    """
    from hmstats.cli.actions.health.health import list_health

    list_health(tables=tables, below=below, most=most, partitions=partitions, metastore=metastore, as_json=as_json)
