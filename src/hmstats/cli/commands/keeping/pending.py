"""`hmstats pending`: statistics that are not in force before somebody publishes them."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, PartitionNames, Server

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="List, compare, publish and reject pending statistics."
)
Table = Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")]


@app.command("list")
def list_(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """List pending statistics: table or partition, age, writer and reason."""
    from hmstats.cli.actions.keeping.pending import list_pending

    list_pending(tables, metastore=metastore, as_json=as_json)


@app.command()
def diff(table: Table, *, metastore: Server = None, as_json: AsJson = False) -> None:
    """Print how pending numbers differ from those in force, beyond their stated errors, the largest change first.

    The exit code is 1 if anything differs.
    """
    from hmstats.cli.actions.keeping.pending import diff_pending

    diff_pending(table, metastore=metastore, as_json=as_json)


@app.command()
def publish(
    table: Table, *, partition: PartitionNames = None, metastore: Server = None, as_json: AsJson = False
) -> None:
    """Put the pending statistics of a table and its partitions in force. It is a write like any other.

    Rows, files and bytes that were counted anew in the meantime stay as they are.
    """
    from hmstats.cli.actions.keeping.pending import publish_pending

    publish_pending(table, partition, metastore=metastore, as_json=as_json)


@app.command()
def reject(
    table: Table, *, partition: PartitionNames = None, metastore: Server = None, as_json: AsJson = False
) -> None:
    """Discard the pending statistics of a table and its partitions; the next analysis reads their files again."""
    from hmstats.cli.actions.keeping.pending import reject_pending

    reject_pending(table, partition, metastore=metastore, as_json=as_json)
