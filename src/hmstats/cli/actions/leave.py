"""The work of `hmstats leave`: list the objects of hmstats in a Hive's database, and remove them if requested."""

import json
from dataclasses import asdict

import typer

from hmstats.cli.serving.serve_settings import load_served
from hmstats.store.migration.leaving import Remains, remains
from hmstats.store.migration.leaving import leave as remove


def leave_database(*, database: str | None, hive_site: str | None, write: bool, as_json: bool) -> None:
    """Print the objects of hmstats; with `write`, after removing them."""
    url = load_served({"database": database, "hive_site": hive_site}).database
    found = remove(url) if write else remains(url)
    typer.echo(json.dumps({**asdict(found), "removed": write}, indent=2) if as_json else _text(found, removed=write))


def _text(found: Remains, *, removed: bool) -> str:
    parameters = {table: number for table, number in found.parameters.items() if number}
    lines = [found.database]
    lines += [f"table {name}: {rows:,} rows" for name, rows in found.tables.items()]
    lines += [f"parameters hmstats.* in {name}: {number:,}" for name, number in parameters.items()]
    if not found.tables and not parameters:
        return "\n".join([*lines, "nothing of hmstats is there"])
    return "\n".join([*lines, "removed" if removed else "--write removes this; nothing was changed"])
