"""`hmstats locked`: which statistics are locked."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server


def locked(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List the locks on statistics: owner, age, reason, and how many writes they have dropped."""
    from hmstats.cli.actions.locks.locked import list_locks

    list_locks(tables=tables, metastore=metastore, as_json=as_json)
