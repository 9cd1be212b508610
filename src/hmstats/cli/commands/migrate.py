"""`hmstats migrate`: bring a database's schema to this version, or print the SQL that would."""

import json
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Database


def migrate(
    database: Database = None,
    *,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL that is missing, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create or upgrade the tables of a database."""
    from hmstats.errors import StoreUnavailable
    from hmstats.settings import load
    from hmstats.store.migration import migrate as migrations
    from hmstats.store.migration import schema_revision

    if sql and as_json:
        raise typer.BadParameter("--sql prints SQL, so it does not go with --json")
    url = load({"database": database}).database
    if sql:
        try:
            typer.echo(migrations.missing_sql(url) or "-- nothing is missing")
        except StoreUnavailable as error:
            typer.echo(f"hmstats: {error}; this is the SQL for an empty database", err=True)
            typer.echo(migrations.sql(url))
        return
    before = schema_revision.current(url)
    migrations.upgrade(url)
    after = schema_revision.current(url)
    if as_json:
        typer.echo(json.dumps({"before": before, "after": after}))
        return
    typer.echo(f"schema {after}, as it was" if before == after else f"schema {before or 'none'} to {after}")
