"""`hmstats ping`: whether a metastore answers. Made for health checks."""

from typing import Annotated

import typer

from hmstats.client import connect
from hmstats.settings import load


def ping(
    metastore: Annotated[str | None, typer.Option(help="thrift://HOST:PORT.", metavar="URI")] = None,
) -> None:
    """Ask a metastore whether it is alive; exit code 2 when it does not answer."""
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds, retries=0) as service:
        typer.echo(f"alive: {service.version()} at {service.address}")
