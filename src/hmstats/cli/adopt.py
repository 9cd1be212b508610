"""`hmstats adopt`: look at the database of a Hive Metastore, and make our own tables in it when told to."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from hmstats.cli.served import hive_logs, load_served
from hmstats.store import migrate
from hmstats.store.survey import Survey, survey


def adopt(
    database: Annotated[str | None, typer.Argument(help="The database's URL.", metavar="URL")] = None,
    hive_site: Annotated[str | None, typer.Option(help="The hive-site.xml that names it.", metavar="FILE")] = None,
    write: Annotated[bool, typer.Option("--write", help="Make our own tables in it.")] = False,  # noqa: FBT002
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,  # noqa: FBT002
) -> None:
    """Say what a server over the database of a Hive Metastore would do, and what is wrong in it.

    Nothing is written, unless --write is given: then tables whose names begin with HMSTATS_ are made, and nothing else
    is touched.
    """
    settings = load_served({"database": database, "hive_site": hive_site})
    if write:
        migrate.adopt(settings.database, settings.own_schema)
    found = survey(settings.database, hive_logs=hive_logs(settings))
    typer.echo(json.dumps(asdict(found), indent=2)) if as_json else _print(found)


def _print(found: Survey) -> None:
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{found.database}\nHive's schema {found.hive_schema}", markup=False)
    own = f"at revision {found.own_tables}" if found.own_tables else "not there; --write makes them"
    console.print(f"our own tables: {own}\n")
    console.print(_table("Rows", {**found.rows, "transactional tables": found.transactional_tables}))
    wrong = {f"{name} with more than one row for a column": number for name, number in found.duplicates.items()}
    console.print(_table("Wrong statistics", {**wrong, **found.impossible}))
    console.print(_table("The database's user may", found.rights))
    abilities = Table("A server beside this Hive", "", "", box=None, pad_edge=False)
    for each in found.abilities:
        abilities.add_row(each.name, _word(each.works), each.note)
    console.print(abilities)


def _table(title: str, values: Mapping[str, int]) -> Table:
    table = Table(title, "", box=None, pad_edge=False)
    for name, value in values.items():
        table.add_row(name, _word(value) if isinstance(value, bool) else f"{value:,}")
    return table


def _word(works: bool) -> str:  # noqa: FBT001
    return "yes" if works else "no"
