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
    from hmstats.cli.actions.connecting import open_metastore

    with open_metastore(metastore, retries=0) as service:
        version = service.version()
        row = {"alive": True, "version": version, "address": service.address}
        typer.echo(json.dumps(row) if as_json else f"alive: {version} at {service.address}")
