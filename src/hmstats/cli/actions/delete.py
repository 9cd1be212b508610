"""The work of `hmstats delete`: look up the named partitions, and delete their column statistics."""

import json

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.options import split_columns


def delete_statistics(
    *,
    table: str,
    columns: str | None,
    partitions: list[str] | None,
    where: str | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Delete statistics, and print of which table or partitions.

    Raises StatementError for a missing table, partition or column.
    """
    named = split_columns(columns)
    with open_metastore(metastore) as service:
        asked = service.table(table)
        names = asked.partition_names(partitions or None, where)
        wanted = None if named is None else [asked.column(each).name for each in named]
        service.delete_statistics(asked.table.name, wanted, names)
    if as_json:
        typer.echo(json.dumps({"table": table, "partitions": names, "columns": wanted}))
        return
    of = "the table's own statistics" if names is None else f"statistics of {len(names):,} partitions"
    typer.echo(f"{table}: {of} deleted, {'of all columns' if wanted is None else 'of ' + ', '.join(wanted)}")
