"""`hmstats push`: send the files of a spool folder to a metastore."""

import json

import typer

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.client import connect
from hmstats.client.sending.push import PushResult, push_spool
from hmstats.client.sending.spool import DEFAULT_FOLDER, Spool
from hmstats.settings import load


def push_waiting(
    *,
    spool: str | None,
    metastore: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Push the files of a spool folder and print the outcome of each. Raises typer.Exit if some stay."""
    settings = load({"metastore": metastore, "spool": spool})
    folder = Spool(settings.spool or DEFAULT_FOLDER)
    accepted = kept = 0
    with connect(
        settings.metastore, timeout_seconds=settings.client_seconds, patience_seconds=settings.patience_seconds
    ) as service:
        for each in push_spool(service, folder, force=force):
            _print(each)
            accepted += each.accepted
            kept += each.remains
        address = service.address
    noun = "table or partition" if accepted == 1 else "tables and partitions"
    if as_json:
        row = {"metastore": address, "stored": accepted, "folder": folder.location, "files_kept": kept}
        typer.echo(json.dumps(row))
    else:
        typer.echo(f"stored in {address}: statistics of {accepted:,} {noun}")
    if kept and not as_json:
        typer.echo(f"kept in {folder.location}: {kept:,} {'file' if kept == 1 else 'files'}")
    if kept:
        raise typer.Exit(ExitCode.PARTLY_DONE)


def _print(pushed: PushResult) -> None:
    """Print the items that were not accepted."""
    if pushed.damaged:
        typer.echo(f"damaged: {pushed.damaged}", err=True)
    for partition in pushed.newer:
        typer.echo(f"left out: {_target(pushed, partition)}, of which the metastore has newer statistics", err=True)
    for partition, reason in pushed.refused.items():
        typer.echo(f"refused: {_target(pushed, partition)}: {plain_sentence(reason)}", err=True)


def _target(pushed: PushResult, partition: str) -> str:
    table = pushed.table.typed if pushed.table else pushed.file
    return f"{table} {partition}" if partition else table
