"""`hmstats ping`: whether a metastore answers. Made for health checks."""

import json

import typer

from hmstats.cli.options import AsJson, Server


def ping(
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Ask a metastore whether it is alive; exit code 2 when it does not answer."""
    from hmstats.client import connect
    from hmstats.settings import load

    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds, retries=0) as service:
        version = service.version()
        told = json.dumps({"alive": True, "version": version, "address": service.address})
        typer.echo(told if as_json else f"alive: {version} at {service.address}")
