"""`hmstats export`: all statistics of a metastore in one Parquet or JSON file."""

from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_FILE = "The file to write; its ending says its format: .parquet, .json or .jsonl; - writes JSON to standard output."


def export(
    file: Annotated[Path, typer.Argument(help=_FILE, metavar="FILE")],
    tables: Annotated[
        list[str] | None, typer.Argument(help="Only these tables, or DB.* for all of a database.", metavar="DB.TABLE")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="parquet or json, whatever the ending.", metavar="FORMAT")
    ] = None,
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Write all statistics of a metastore, hmstats or any Hive Metastore, to one Parquet or JSON file."""
    from hmstats.cli.actions.export import export_statistics

    export_statistics(file=file, tables=tables, form=form, metastore=metastore, as_json=as_json)
