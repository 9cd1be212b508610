"""`hmstats lock`: protect statistics from writes."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Columns, Locked, PartitionNames, Server

_REFUSE = "Refuse writes with an error; by default as the server is set."
_DROP = "Accept writes and drop them; by default as the server is set."


def lock(
    of: Locked,
    partition: PartitionNames = None,
    columns: Columns = None,
    *,
    refuse: Annotated[bool, typer.Option("--refuse", help=_REFUSE)] = False,
    drop: Annotated[bool, typer.Option("--drop", help=_DROP)] = False,
    reason: Annotated[str | None, typer.Option(help="Why; errors and `hmstats locked` say it.", metavar="TEXT")] = None,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Lock the statistics of a database, a table, partitions or columns: no write changes them any more.

    New tables and partitions of what is locked are locked too. Data may change: only the numbers stay.
    """
    from hmstats.cli.actions.locks.lock import lock_statistics

    if refuse and drop:
        raise typer.BadParameter("--refuse and --drop exclude each other: writes are refused, or accepted and dropped")
    lock_statistics(
        of,
        partitions=partition,
        columns=columns,
        refuse=refuse if refuse or drop else None,
        reason=reason,
        metastore=metastore,
        as_json=as_json,
    )
