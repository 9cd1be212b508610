"""`hmstats import`: statistics from a file or from another metastore."""

from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_FILE = "A file that hmstats export wrote, of either format; - reads JSON from standard input."
_PUFFIN = "Take the distinct counts in this Iceberg table's Puffin file; may be repeated."
_SOURCE = "Take the statistics of this metastore, in place of a file."


def import_(
    file: Annotated[Path | None, typer.Argument(help=_FILE, metavar="FILE")] = None,
    *,
    source: Annotated[str | None, typer.Option("--from", help=_SOURCE, metavar="thrift://HOST:PORT")] = None,
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", help="With --from: only this table, or DB.*; may be repeated.", metavar="DB.TABLE"),
    ] = None,
    puffin: Annotated[list[str] | None, typer.Option("--from-puffin", help=_PUFFIN, metavar="DB.TABLE")] = None,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Write the statistics in a file, of another metastore, or in Puffin files into the metastore.

    The tables and partitions must exist. What is left out is named with the reason; the exit code is 3 then.
    """
    from hmstats.cli.actions.import_ import import_puffin, import_statistics

    if puffin:
        alone = file is None and source is None and not tables
        import_puffin(puffin, alone=alone, metastore=metastore, as_json=as_json)
        return
    import_statistics(file=file, source=source, tables=tables, metastore=metastore, as_json=as_json)
