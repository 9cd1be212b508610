"""`hmstats leave`: take hmstats out of the database of a Hive Metastore again."""

from typing import Annotated

import typer


def leave(
    database: Annotated[str | None, typer.Argument(help="The database's URL.", metavar="URL")] = None,
    hive_site: Annotated[str | None, typer.Option(help="The hive-site.xml that names it.", metavar="FILE")] = None,
    write: Annotated[bool, typer.Option("--write", help="Remove what is listed.")] = False,  # noqa: FBT002
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,  # noqa: FBT002
) -> None:
    """List what hmstats has left in the database of a Hive Metastore, and remove it with --write.

    That is our own tables, whose names begin with HMSTATS_, and parameters whose names begin with hmstats. Hive's
    statistics stay. Stop the servers of hmstats first.
    """
    from hmstats.cli.actions.leave import leave_database

    leave_database(database=database, hive_site=hive_site, write=write, as_json=as_json)
