"""`hmstats web`: the page, a process of its own that asks a metastore."""

from typing import Annotated

import typer

from hmstats.cli.options import Server


def web(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    metastore: Server = None,
    writes: Annotated[
        bool | None, typer.Option("--writes", help="Allow changes: restores, locks, and what is pending.")
    ] = None,
) -> None:
    """Show tables and their statistics in a browser, and as JSON, until SIGTERM or SIGINT.

    The page has no identity of its own: the user and password, or the token, that a browser shows goes to a metastore
    at http:// or https://, and its access rules decide. At thrift:// everybody is anonymous.
    """
    from hmstats.cli.actions.page.web import serve_pages

    serve_pages(host=host, port=port, metastore=metastore, writes=writes)
