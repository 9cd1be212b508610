"""`hmstats list`: the tables of a metastore, and which of them have statistics."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_DETAILS = "Ask for each table's columns and partitions with statistics, and their age: a few calls a table."


def list_(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Only these tables; * stands for any characters.", metavar="DB.TABLE")
    ] = None,
    *,
    details: Annotated[bool, typer.Option("--details", help=_DETAILS)] = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List the tables of a metastore: rows, and the columns whose statistics are marked as accurate.

    Views are left out.
    """
    from hmstats.cli.actions.list_ import list_tables

    list_tables(tables=tables, details=details, metastore=metastore, as_json=as_json)
