"""`hmstats move`: a database from an upstream of a gateway to hmstats' own tables, or back."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, DryRun


def move(
    database: Annotated[str, typer.Argument(help="The database, or CATALOG.DATABASE.", metavar="DB")],
    to: Annotated[str | None, typer.Option(help="The upstream to move back to.", metavar="NAME")] = None,
    *,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Move a database with its statistics from one of several upstreams to hmstats' own tables.

    The settings file names the upstreams. Run this where the server runs, and while it runs. The catalog and all
    statistics are copied, both places are compared, and then clients are answered from the new place. Data files are
    not touched, and the upstream's catalog stays as it is. Changes of the database are refused meanwhile, and reads are
    answered. A move that was interrupted goes on when it is called again.

    With --to the upstream answers again, if it says the same as hmstats: nothing is written there. It also gives up a
    move from that upstream that was interrupted.

    The exit code is 1 if something is in the way, such as a transactional table, or if the places differ.
    """
    from hmstats.cli.actions.upstreams.move import move_database

    move_database(database, to=to, dry_run=dry_run, as_json=as_json)
