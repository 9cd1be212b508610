"""`hmstats serve`: check settings and database, then become the parent of the workers (cli/serving/parent.py)."""

from typing import Annotated

import typer

from hmstats.cli.options import Database, HiveSite, Warehouse


def serve(  # noqa: PLR0917 - each is a flag
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    database: Database = None,
    warehouse: Warehouse = None,
    workers: Annotated[int | None, typer.Option(help="Processes that share the port; the cores by default.")] = None,
    http_port: Annotated[int | None, typer.Option(help="The port of health and metrics.")] = None,
    http_page: Annotated[
        bool | None, typer.Option("--http-page", help="Show the page of `hmstats web` on that port too.")
    ] = None,
    hive_site: HiveSite = None,
    upstream: Annotated[
        str | None,
        typer.Option(
            help="Relay all calls without an answer here to this metastore.", metavar="thrift://HOST:PORT,..."
        ),
    ] = None,
    read_only: Annotated[bool | None, typer.Option("--read-only", help="Refuse calls that change something.")] = None,
    exclusive: Annotated[
        bool | None,
        typer.Option(help="Exclusive use of the database, with one worker; faster reads."),
    ] = None,
) -> None:
    """Serve the Hive Metastore's Thrift API until SIGTERM or SIGINT; running calls are finished first.

    SIGHUP replaces the worker processes one by one: they read the settings anew, and no client is refused.
    """
    from hmstats.cli.actions.serve import become_server

    become_server(
        {
            "host": host,
            "port": port,
            "database": database,
            "warehouse": warehouse,
            "workers": workers,
            "http_port": http_port,
            "http_page": http_page,
            "hive_site": hive_site,
            "upstream": upstream,
            "read_only": read_only,
            "exclusive": exclusive,
        }
    )
