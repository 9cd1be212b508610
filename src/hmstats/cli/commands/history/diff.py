"""`hmstats diff`: what changed in a table's statistics between two times."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_TIME = "TIME"


def diff(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    since: Annotated[
        str | None, typer.Option("--from", help="A time; before the last write by default.", metavar=_TIME)
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="A later time; now by default.", metavar=_TIME)] = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print what changed beyond its stated error between two times, the largest change first.

    Times are ISO 8601 with a zone, or '2h ago'. The exit code is 1 if anything changed.
    """
    from hmstats.cli.actions.history.diff import print_diff

    print_diff(table=table, since=since, until=until, as_json=as_json, metastore=metastore)
