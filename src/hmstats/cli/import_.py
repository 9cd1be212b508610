"""`hmstats import`: statistics from a file or from another metastore."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hmstats.client import connect
from hmstats.client.transfer import Moved, check, entries, put
from hmstats.errors import StatementError
from hmstats.outlets.statistics_file import read, read_json
from hmstats.outlets.statistics_rows import Entry
from hmstats.settings import load

_LEFT_OUT = 2
_FILE = "A file that hmstats export wrote, of either format; - reads JSON from standard input."
_STDIN = "-"
_SOURCE = "Take the statistics of this metastore, in place of a file."


def import_(
    file: Annotated[Path | None, typer.Argument(help=_FILE, metavar="FILE")] = None,
    *,
    source: Annotated[str | None, typer.Option("--from", help=_SOURCE, metavar="thrift://HOST:PORT")] = None,
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", help="With --from: only this table, or DB.*; may be repeated.", metavar="DB.TABLE"),
    ] = None,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Write the statistics in a file, or those of another metastore, into the metastore.

    The tables and partitions must be there. What is left out is named; the exit code is 2 then.
    """
    if (file is None) == (source is None):
        raise StatementError("give one of a file and --from")
    check(tables or ())
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        if source is None:
            moved = put(service, _entries(str(file)))
        else:
            with connect(source, timeout_seconds=settings.client_seconds) as other:
                moved = put(service, entries(other, tables or ()))
        _print(moved, service.address)


def _entries(file: str) -> Iterator[Entry]:
    return read_json(sys.stdin, "standard input") if file == _STDIN else read(file)


def _print(moved: Moved, address: str) -> None:
    for place, reason in moved.left_out.items():
        typer.echo(f"left out: {place}: {reason}", err=True)
    noun = "table or partition" if moved.accepted == 1 else "tables and partitions"
    typer.echo(f"stored in {address}: statistics of {moved.accepted:,} {noun}")
    if moved.left_out:
        raise typer.Exit(_LEFT_OUT)
