"""The work of `hmstats delete`: look up the named partitions, and delete their column statistics."""

import json

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.options import split_columns
from hmstats.client.sending.dropped_writes import dropped, dropping_lock, dropping_locks
from hmstats.errors import StatementError
from hmstats.outlets.people.cells import amount


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

    Raises StatementError for a missing table, partition or column, and for what a lock protects.
    """
    named = split_columns(columns)
    with open_metastore(metastore) as service:
        asked = service.table(table)
        names = asked.partition_names(partitions or None, where)
        wanted = None if named is None else [asked.column(each).name for each in named]
        locks = dropping_locks(service, asked.table.name)
        for each in [None] if names is None else names:
            if lock := dropping_lock(locks, each, wanted):
                raise StatementError(f"statistics of {table} are not deleted: {dropped(lock)}")
        service.delete_statistics(asked.table.name, wanted, names)
    if as_json:
        typer.echo(json.dumps({"table": table, "partitions": names, "columns": wanted}))
        return
    of = "the table's own statistics" if names is None else f"statistics of {amount(len(names), 'partition')}"
    typer.echo(f"{table}: {of} deleted, {'of all columns' if wanted is None else 'of ' + ', '.join(wanted)}")
