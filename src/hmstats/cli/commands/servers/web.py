"""`hmstats web`: the page, a process of its own that asks a metastore."""

from typing import Annotated

import typer

from hmstats.cli.options import Server


def web(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    metastore: Server = None,
) -> None:
    """Show tables and their statistics in a browser, and as JSON, until SIGTERM or SIGINT.

    The page only reads. It asks the metastore as the user of this process: whoever reaches the page sees what that
    user may see.
    """
    from hmstats.cli.actions.web import serve_pages

    serve_pages(host=host, port=port, metastore=metastore)
