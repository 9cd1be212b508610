"""The work of `hmstats delete`: look up the named partitions, and delete their column statistics."""

import json

import typer

from hmstats.client import connect
from hmstats.client.asked.asked_table import AskedTable
from hmstats.errors import StatementError
from hmstats.settings import load


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
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        asked = service.table(table)
        names = asked.partition_names(partitions or None, where)
        wanted = None if columns is None else _columns(asked, columns)
        service.delete_statistics(asked.table.name, wanted, names)
    if as_json:
        typer.echo(json.dumps({"table": table, "partitions": names, "columns": wanted}))
        return
    of = "the table's own statistics" if names is None else f"statistics of {len(names):,} partitions"
    typer.echo(f"{table}: {of} deleted, {'of all columns' if wanted is None else 'of ' + ', '.join(wanted)}")


def _columns(asked: AskedTable, text: str) -> list[str]:
    names = [each.strip() for each in text.split(",")]
    if not all(names):
        raise StatementError(f"--columns takes names separated by commas, found {text!r}")
    return [asked.column(each).name for each in names]
