"""`hmstats adopt` and `hmstats leave`: into the database of a Hive Metastore, and out of it again."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Database, HiveSite, Write


def adopt(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="With --upstream: databases or tables; * stands for any characters. All by default.",
            metavar="DB[.TABLE]",
        ),
    ] = None,
    database: Database = None,
    hive_site: HiveSite = None,
    upstream: Annotated[str | None, typer.Option(help="The metastore behind a gateway.")] = None,
    *,
    write: Write = False,
    as_json: AsJson = False,
) -> None:
    """Report what a server over the database of a Hive Metastore can do, and which statistics in it are wrong.

    Without --write nothing is changed. With it, tables whose names begin with HMSTATS_ are created, and nothing else
    is changed.

    With --upstream, list the tables of that metastore whose statistics a gateway does not keep; with --write, take over
    the statistics of all others, or of those that are named. Run it before the gateway starts, or while it runs if the
    gateway's server is not exclusive. It can be repeated.
    """
    from hmstats.cli.actions.adopt import adopt_database, adopt_upstream

    if upstream is not None:
        adopt_upstream(
            tables or [], database=database, hive_site=hive_site, upstream=upstream, write=write, as_json=as_json
        )
        return
    if tables:
        raise typer.BadParameter(f"{tables[0]}: tables are taken over from an upstream, and there is no --upstream")
    adopt_database(database=database, hive_site=hive_site, write=write, as_json=as_json)


def leave(
    database: Database = None,
    hive_site: HiveSite = None,
    upstream: Annotated[str | None, typer.Option(help="The metastore behind a gateway.")] = None,
    *,
    write: Write = False,
    as_json: AsJson = False,
) -> None:
    """List the objects of hmstats in the database of a Hive Metastore; with --write, remove them.

    These are our own tables, whose names begin with HMSTATS_, and parameters whose names begin with hmstats. Hive's
    statistics stay. Stop the servers of hmstats first.

    With --upstream, list the tables whose statistics a gateway has not sent; with --write, send them. Clients may use
    the upstream's address again after that. Statistics that wait to be published are not sent; their tables are named.
    """
    from hmstats.cli.actions.leave import leave_database, leave_upstream

    if upstream is not None:
        leave_upstream(database=database, hive_site=hive_site, upstream=upstream, write=write, as_json=as_json)
        return
    leave_database(database=database, hive_site=hive_site, write=write, as_json=as_json)
