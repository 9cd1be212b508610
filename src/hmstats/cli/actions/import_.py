"""`hmstats import`: statistics from a file or from another metastore."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.exit_codes import ExitCode
from hmstats.client.sending.transfer import TransferResult, check_patterns, entries, put
from hmstats.errors import StatementError
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.outlets.export.file import read, read_json
from hmstats.outlets.export.rows import Entry

_STDIN = "-"


def import_statistics(
    *,
    file: Path | None,
    source: str | None,
    tables: list[str] | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Write the statistics of the file or of the other metastore. Raises typer.Exit if something was skipped."""
    if (file is None) == (source is None):
        raise StatementError("an import reads a file or the metastore of --from")
    if tables and source is None:
        raise StatementError("--table chooses of the metastore of --from; a file is stored as a whole")
    check_patterns(tables or ())
    with open_metastore(metastore) as service:
        if source is None:
            moved = put(service, _entries(str(file)))
        else:
            with open_metastore(source) as other:
                moved = put(service, entries(other, tables or ()))
        _print(moved, service.address, as_json=as_json)


def import_puffin(tables: list[str], *, alone: bool, metastore: str | None, as_json: bool) -> None:
    """Write the distinct counts in Iceberg tables' Puffin files. Raises typer.Exit if something was skipped."""
    from hmstats.collector.lake.iceberg.puffin_counts import puffin_counts  # noqa: PLC0415 - Arrow is loaded for it

    if not alone:
        raise StatementError("an import reads a file, the metastore of --from, or the Puffin files of --from-puffin")
    moved = TransferResult()
    with open_metastore(metastore) as service:
        for text in tables:
            table = service.existing_table(text)
            found = puffin_counts(service, table)
            for column, reason in found.left_out.items():
                moved.left_out[f"column {column} of {table.name.typed}"] = reason
            if found.columns:
                entry = Entry(table.name, found.parameters, StatisticsSet(found.columns))
                stored = put(service, [entry])
                moved.accepted += stored.accepted
                moved.left_out |= stored.left_out
        _print(moved, service.address, as_json=as_json)


def _entries(file: str) -> Iterator[Entry]:
    return read_json(sys.stdin, "standard input") if file == _STDIN else read(file)


def _print(moved: TransferResult, address: str, *, as_json: bool) -> None:
    for place, reason in moved.left_out.items():
        typer.echo(f"left out: {place}: {reason}", err=True)
    noun = "table or partition" if moved.accepted == 1 else "tables and partitions"
    row = json.dumps({"metastore": address, "stored": moved.accepted, "left_out": moved.left_out})
    typer.echo(row if as_json else f"stored in {address}: statistics of {moved.accepted:,} {noun}")
    if moved.left_out:
        raise typer.Exit(ExitCode.PARTLY_DONE)
