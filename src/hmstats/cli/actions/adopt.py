"""`hmstats adopt`: inspect the database of a Hive Metastore, and create our own tables in it if requested."""

import json
from collections.abc import Mapping
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table

from hmstats.cli.serving.serve_settings import hive_logs, load_served
from hmstats.store.migration import migrate
from hmstats.store.migration.hive_survey import Survey, survey


def adopt_database(
    *,
    database: str | None,
    hive_site: str | None,
    write: bool,
    as_json: bool,
) -> None:
    """Print the report; with `write`, create our own tables first."""
    settings = load_served({"database": database, "hive_site": hive_site})
    if write:
        migrate.adopt(settings.database, settings.own_schema)
    found = survey(settings.database, warehouse=settings.warehouse, hive_logs=hive_logs(settings))
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
    if found.roots:
        console.print(
            "\nDatabases and managed tables lie outside the warehouse: an open server needs, in its settings,"
        )
        console.print(f"warehouse_roots = {json.dumps(found.roots)}", markup=False)


def _table(title: str, values: Mapping[str, int]) -> Table:
    table = Table(title, "", box=None, pad_edge=False)
    for name, value in values.items():
        table.add_row(name, _word(value) if isinstance(value, bool) else f"{value:,}")
    return table


def _word(works: bool) -> str:  # noqa: FBT001
    return "yes" if works else "no"
