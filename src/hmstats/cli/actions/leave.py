"""The work of `hmstats leave`: list the objects of hmstats in a Hive's database, and remove them if requested.

With an upstream, it sends what a gateway keeps of that metastore's statistics.
"""

import json
from dataclasses import asdict

import typer

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving.logs import on_standard_error
from hmstats.cli.serving.serve_settings import load_served
from hmstats.cli.serving.upstream import relay_of
from hmstats.outlets.people.cells import amount
from hmstats.store.migration.leaving import Remains, remains
from hmstats.store.migration.leaving import leave as remove
from hmstats.store.opening import open_store


def leave_database(*, database: str | None, hive_site: str | None, write: bool, as_json: bool) -> None:
    """Print the objects of hmstats; with `write`, after removing them."""
    url = load_served({"database": database, "hive_site": hive_site}).database
    found = remove(url) if write else remains(url)
    typer.echo(json.dumps({**asdict(found), "removed": write}, indent=2) if as_json else _text(found, removed=write))


@on_standard_error()
def leave_upstream(*, database: str | None, hive_site: str | None, upstream: str, write: bool, as_json: bool) -> None:
    """Print the tables whose statistics the upstream lacks; with `write`, after sending them.

    Exits with PARTLY_DONE if some could not be sent, or wait for somebody to publish them, with ERROR if none could.
    """
    flags = {"database": database, "hive_site": hive_site, "upstream": upstream, "upstreams": (), "own_databases": ()}
    settings = load_served(flags)
    store = open_store(settings.database, pool_size=2, statement_seconds=settings.statement_seconds)
    gateway = relay_of(settings, store)
    assert gateway is not None
    try:
        tables = [each.typed for each in gateway.delivery.unsent()]
        waiting = [each.typed for each in gateway.pending.tables()]
        if write or not tables:
            gateway.probe()
        if not tables:  # clients are about to be told to go there
            gateway.delivery.check_upstream()
        failed = {each.typed: reason for each, reason in gateway.delivery.send_everything().items()} if write else {}
    finally:
        gateway.close()
        store.close()
    is_done = not waiting and not (failed if write else tables)
    if as_json:
        typer.echo(
            json.dumps(
                {"tables": tables, "sent": write, "failed": failed, "waiting": waiting, "can_leave": is_done}, indent=2
            )
        )
    else:
        typer.echo(_sentences(tables, failed, waiting, upstream, sent=write))
    if failed:
        raise typer.Exit(ExitCode.PARTLY_DONE if len(failed) < len(tables) else ExitCode.ERROR)
    if waiting and write:
        raise typer.Exit(ExitCode.PARTLY_DONE)


def _sentences(tables: list[str], failed: dict[str, str], waiting: list[str], upstream: str, *, sent: bool) -> str:
    held = [f"{each}: statistics wait here and are not sent: publish or reject them first" for each in waiting]
    if not sent and tables:
        lines = [f"{each}: the upstream lacks statistics" for each in tables]
        return "\n".join([*held, *lines, "--write sends them; nothing was changed"])
    if failed or waiting:
        lines = [*held, *(f"{each}: not sent: {reason}" for each, reason in failed.items())]
        return "\n".join([*lines, "these statistics are at the gateway alone"])
    return f"the upstream has all statistics that it can store: clients may use {upstream} again"


def _text(found: Remains, *, removed: bool) -> str:
    parameters = {table: number for table, number in found.parameters.items() if number}
    lines = [found.database]
    lines += [f"table {name}: {amount(rows, 'row')}" for name, rows in found.tables.items()]
    lines += [f"parameters hmstats.* in {name}: {number:,}" for name, number in parameters.items()]
    if not found.tables and not parameters:
        return "\n".join([*lines, "nothing of hmstats is there"])
    return "\n".join([*lines, "removed" if removed else "--write removes this; nothing was changed"])
