"""`hmstats adopt` and `hmstats leave`: into the database of a Hive Metastore, and out of it again."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, DatabaseUrl, HiveSite, Write


def adopt(
    database: DatabaseUrl = None,
    hive_site: HiveSite = None,
    upstream: Annotated[
        str | None, typer.Option(help="The metastore behind a gateway, whose statistics the gateway is to have.")
    ] = None,
    *,
    write: Write = False,
    as_json: AsJson = False,
) -> None:
    """Say what a server over the database of a Hive Metastore would do, and what is wrong in it.

    Nothing is written, unless --write is given: then tables whose names begin with HMSTATS_ are made, and nothing else
    is touched.

    With --upstream, list the tables of that metastore whose statistics a gateway does not keep, and take over those of
    all others with --write. That may be done before the gateway is started, and again; while it runs too,
    unless it has its database to itself (exclusive).
    """
    from hmstats.cli.actions.adopt import adopt_database, adopt_upstream

    if upstream is not None:
        adopt_upstream(database=database, hive_site=hive_site, upstream=upstream, write=write, as_json=as_json)
        return
    adopt_database(database=database, hive_site=hive_site, write=write, as_json=as_json)


def leave(
    database: DatabaseUrl = None,
    hive_site: HiveSite = None,
    upstream: Annotated[
        str | None, typer.Option(help="The metastore behind a gateway, which gets the statistics that it lacks.")
    ] = None,
    *,
    write: Write = False,
    as_json: AsJson = False,
) -> None:
    """List what hmstats has left in the database of a Hive Metastore, and remove it with --write.

    That is our own tables, whose names begin with HMSTATS_, and parameters whose names begin with hmstats. Hive's
    statistics stay. Stop the servers of hmstats first.

    With --upstream, list the tables whose statistics a gateway has not sent, and send them with --write. Then clients
    may use the upstream's address again.
    """
    from hmstats.cli.actions.leave import leave_database, leave_upstream

    if upstream is not None:
        leave_upstream(database=database, upstream=upstream, write=write, as_json=as_json)
        return
    leave_database(database=database, hive_site=hive_site, write=write, as_json=as_json)
