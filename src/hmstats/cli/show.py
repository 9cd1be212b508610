"""`hmstats show`: the statistics of a table or its partitions at a glance, or for another program."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.shapes import FRACTIONS
from hmstats.cli.show_rows import print_csv, print_json
from hmstats.cli.show_table import MOST_VALUES, NOTE, ordered, show_table, stale_lines
from hmstats.cli.statistics_table import headline, print_table
from hmstats.client import Metastore, connect
from hmstats.client.stored import Stored, existing_partition, existing_table, stored_partitions, stored_table
from hmstats.client.united import united_columns, with_united_sketches
from hmstats.errors import StatementError
from hmstats.outlets.arrow_ipc import write_file
from hmstats.settings import load

_SORT = "Order by column, type, nulls, distinct, min, max, length or age."


def show(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    partition: Annotated[str | None, typer.Argument(help="Its partition, as key=value/key=value.")] = None,
    *,
    partitions: Annotated[bool, typer.Option("--partitions", help="Every partition for itself.")] = False,
    sort: Annotated[str | None, typer.Option(help=_SORT, metavar="COLUMN")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each row.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    arrow: Annotated[Path | None, typer.Option(help="Write an Arrow IPC file.", metavar="FILE")] = None,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Print the statistics of a table or its partitions: how sure they are, and whether they are behind the rows."""
    if (partition is not None and partitions) or as_json + as_csv + (arrow is not None) > 1:
        raise StatementError("give one of a partition and --partitions, and one of --json, --csv and --arrow")
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        found = _sorted(_found(service, table, partition, every=partitions), sort)
        if arrow is not None:
            _write(arrow, service, found)
        elif as_json:
            print_json(service, found)
        elif as_csv:
            print_csv(service, found)
        else:
            _print(service, found)


def _found(service: Metastore, text: str, partition: str | None, *, every: bool) -> Iterator[Stored]:
    table = existing_table(service, text)
    if partition is not None:
        yield from stored_partitions(service, table, [existing_partition(service, table, partition)])
    elif not every:
        yield stored_table(service, table)
    elif table.partition_keys:
        yield from stored_partitions(service, table, service.partition_names(table.name))
    else:
        raise StatementError(f"table {text} has no partitions")


def _sorted(found: Iterable[Stored], key: str | None) -> Iterator[Stored]:
    for each in found:
        columns = tuple(ordered(each.statistics.columns, key))
        yield replace(each, statistics=replace(each.statistics, columns=columns))


def _print(service: Metastore, found: Iterable[Stored]) -> None:
    for each in found:
        columns = each.statistics.columns
        typer.echo(headline(each.title, each.parameters))
        if not columns:
            typer.echo("no column statistics")
            continue
        sketches = united_columns(service, each, FRACTIONS, MOST_VALUES)
        print_table(show_table(each, columns, sketches))
        for line in stale_lines(each, columns, sketches):
            typer.echo(line)
        typer.echo(NOTE)


def _write(path: Path, service: Metastore, found: Iterable[Stored]) -> None:
    whole = [with_united_sketches(service, each).whole() for each in found]
    try:
        write_file(path, whole)
    except OSError as error:
        raise StatementError(f"{path} cannot be written: {error.strerror or error}") from error
    typer.echo(f"written to {path}: statistics of {len(whole):,} {'target' if len(whole) == 1 else 'targets'}")
