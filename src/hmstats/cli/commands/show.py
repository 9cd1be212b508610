"""`hmstats show`: the statistics of a table or its partitions at a glance, or for another program."""

from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, AsOf, Columns, PartitionNames, Server

_SORT = "Order by column, type, nulls, distinct, min, max, length or age."


def show(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    *,
    partition: PartitionNames = None,
    partitions: Annotated[bool, typer.Option("--partitions", help="Each partition separately.")] = False,
    columns: Columns = None,
    as_of: AsOf = None,
    sort: Annotated[str | None, typer.Option(help=_SORT, metavar="COLUMN")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw each column: a histogram, or shares of values.")] = False,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    arrow: Annotated[Path | None, typer.Option(help="Write an Arrow IPC file.", metavar="FILE")] = None,
    metastore: Server = None,
) -> None:
    """Print the statistics of a table or its partitions: how sure they are, and whether they are behind the rows."""
    if as_of is not None:
        from hmstats.cli.actions.history.as_of import show_past

        if sort is not None or plot or columns is not None or as_csv or arrow is not None:
            raise typer.BadParameter("--as-of goes with --partition, --partitions and --json only")
        show_past(
            table=table, names=partition, partitions=partitions, as_of=as_of, as_json=as_json, metastore=metastore
        )
        return
    from hmstats.cli.actions.show import show_statistics

    show_statistics(
        table=table,
        names=partition,
        partitions=partitions,
        columns=columns,
        sort=sort,
        plot=plot,
        as_json=as_json,
        as_csv=as_csv,
        arrow=arrow,
        metastore=metastore,
    )
