"""`hmstats export`: all statistics of a metastore in one Parquet or JSON file."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from hmstats.client import connect
from hmstats.client.transfer import check, entries
from hmstats.errors import StatementError
from hmstats.outlets.statistics_file import Form, form_of, write
from hmstats.outlets.statistics_lines import write_lines
from hmstats.outlets.statistics_rows import Entry
from hmstats.settings import load

_FILE = "The file to write; its ending says its format: .parquet, .json or .jsonl; - writes JSON to standard output."
_STDOUT = "-"


def export(
    file: Annotated[Path, typer.Argument(help=_FILE, metavar="FILE")],
    tables: Annotated[
        list[str] | None, typer.Argument(help="Only these tables, or DB.* for all of a database.", metavar="DB.TABLE")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="parquet or json, whatever the ending.", metavar="FORMAT")
    ] = None,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Write all statistics of a metastore, hmstats or any Hive Metastore, to one Parquet or JSON file."""
    check(tables or ())
    to_stdout = str(file) == _STDOUT
    wanted = Form.JSON if to_stdout and form is None else _form(file, form)
    if to_stdout and wanted is not Form.JSON:
        raise StatementError("only JSON goes to standard output: name a file for Parquet")
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        found: Iterable[Entry] = entries(service, tables or ())
        count = write_lines(sys.stdout, found) if to_stdout else write(file, found, wanted)
    noun = "table or partition" if count == 1 else "tables and partitions"
    place = "standard output" if to_stdout else file
    typer.echo(f"written to {place}: statistics of {count:,} {noun}", err=to_stdout)


def _form(file: Path, name: str | None) -> Form:
    if name is None:
        return form_of(file)
    try:
        return Form(name.lower())
    except ValueError as error:
        raise StatementError(f"--format takes parquet or json, found {name!r}") from error
