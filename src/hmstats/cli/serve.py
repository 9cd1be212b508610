"""`hmstats serve`: start the server and keep it running until a signal ends it."""

import signal
import threading
from typing import Annotated

import typer

from hmstats.cli import logs
from hmstats.server.assembly import build
from hmstats.settings import load


def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    database: Annotated[str | None, typer.Option(help="The database's URL.", metavar="URL")] = None,
    warehouse: Annotated[str | None, typer.Option(help="Where managed tables live.", metavar="DIR")] = None,
) -> None:
    """Serve the Hive Metastore's Thrift API until SIGTERM or SIGINT; running calls are finished first."""
    settings = load({"host": host, "port": port, "database": database, "warehouse": warehouse})
    logs.configure(settings.log_level)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    server = build(settings)
    bound_host, bound_port = server.start()
    typer.echo(f"listening on {bound_host}:{bound_port}")
    stopping.wait()
    server.stop(settings.drain_seconds)
