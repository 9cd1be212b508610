"""`hmstats adopt`: look at the database of a Hive Metastore, and make our own tables in it when told to."""

from typing import Annotated

import typer


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
    from hmstats.cli.actions.adopt import adopt_database

    adopt_database(database=database, hive_site=hive_site, write=write, as_json=as_json)
