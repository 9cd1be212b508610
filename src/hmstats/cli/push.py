"""`hmstats push`: send what waits in a spool folder to a metastore."""

from typing import Annotated

import typer

from hmstats.client import connect
from hmstats.client.push import Pushed, push_spool
from hmstats.client.spool import DEFAULT_FOLDER, Spool
from hmstats.settings import load

_WHICH = "The spool folder, a path or a URI."
_FORCE = "Write over newer statistics too."
_KEPT = 2


def push(
    spool: Annotated[str | None, typer.Argument(help=_WHICH)] = None,
    *,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
) -> None:
    """Send the statistics that wait in a spool folder, in order, and remove what is accepted.

    What the metastore refuses, and what it has newer statistics of, stays and is named; the exit code is 2 then.
    """
    settings = load({"metastore": metastore, "spool": spool})
    folder = Spool(settings.spool or DEFAULT_FOLDER)
    accepted = kept = 0
    with connect(
        settings.metastore, timeout_seconds=settings.client_seconds, patience_seconds=settings.patience_seconds
    ) as service:
        for each in push_spool(service, folder, force=force):
            _print(each)
            accepted += each.accepted
            kept += each.kept
        address = service.address
    noun = "table or partition" if accepted == 1 else "tables and partitions"
    typer.echo(f"stored in {address}: statistics of {accepted:,} {noun}")
    if kept:
        typer.echo(f"kept in {folder.location}: {kept:,} {'file' if kept == 1 else 'files'}")
        raise typer.Exit(_KEPT)


def _print(pushed: Pushed) -> None:
    """Name what was not accepted."""
    if pushed.damaged:
        typer.echo(f"damaged: {pushed.damaged}", err=True)
    for partition in pushed.newer:
        typer.echo(f"left out: {_place(pushed, partition)}, of which the metastore has newer statistics", err=True)
    for partition, reason in pushed.refused.items():
        typer.echo(f"refused: {_place(pushed, partition)}: {reason}", err=True)


def _place(pushed: Pushed, partition: str) -> str:
    table = f"{pushed.table.database}.{pushed.table.table}" if pushed.table else pushed.file
    return f"{table} {partition}" if partition else table
