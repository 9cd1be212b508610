"""`hmstats delete`: delete column statistics."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Columns, PartitionNames, Server, Where


def delete(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    columns: Columns = None,
    partition: PartitionNames = None,
    where: Where = None,
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Delete column statistics of a table, or of some of its partitions.

    Without --partition and --where the table's own statistics are deleted, and those of its partitions stay. Rows,
    files and bytes stay.
    """
    from hmstats.cli.actions.delete import delete_statistics

    delete_statistics(
        table=table, columns=columns, partitions=partition, where=where, metastore=metastore, as_json=as_json
    )
