"""`hmstats export`: all statistics of a metastore in one Parquet file."""

from pathlib import Path
from typing import Annotated

import typer

from hmstats.client import connect
from hmstats.client.transfer import check, entries
from hmstats.outlets.statistics_file import write
from hmstats.settings import load


def export(
    file: Annotated[Path, typer.Argument(help="The Parquet file to write.", metavar="FILE")],
    tables: Annotated[
        list[str] | None, typer.Argument(help="Only these tables, or DB.* for all of a database.", metavar="DB.TABLE")
    ] = None,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Write all statistics of a metastore to one Parquet file: hmstats or any Hive Metastore."""
    check(tables or ())
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        count = write(file, entries(service, tables or ()))
    typer.echo(f"written to {file}: statistics of {count:,} {'table' if count == 1 else 'tables and partitions'}")
