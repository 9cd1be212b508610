"""`hmstats show`: the statistics of a table or its partitions at a glance, or for another program."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console

from hmstats.cli.output.plot import plots
from hmstats.cli.output.show_rows import print_csv, print_json
from hmstats.cli.output.show_table import MOST_VALUES, NOTE, key_lines, ordered, show_table, stale_lines
from hmstats.cli.output.sparkline import FRACTIONS
from hmstats.cli.output.tables import print_table, terminal_width
from hmstats.client import Metastore, connect
from hmstats.client.tables.merged_statistics import merged_columns, with_merged_sketches
from hmstats.client.tables.stored_statistics import (
    Stored,
    existing_partition,
    stored_partitions,
    stored_table,
)
from hmstats.errors import StatementError
from hmstats.model.spark.spark_schema import data_columns
from hmstats.outlets.arrow.ipc import write_file
from hmstats.outlets.people.cells import headline
from hmstats.settings import load
from hmstats.web.reading.selections import Selection
from hmstats.web.reading.table_facts import table_facts


def show_statistics(
    *,
    table: str,
    partition: str | None,
    partitions: bool,
    sort: str | None,
    plot: bool,
    as_json: bool,
    as_csv: bool,
    arrow: Path | None,
    metastore: str | None,
) -> None:
    """Print or write statistics. Raises StatementError for a missing table or partition."""
    if (partition is not None and partitions) or as_json + as_csv + (arrow is not None) > 1:
        raise StatementError("show takes a partition or --partitions, and one of --json, --csv and --arrow")
    if plot and (partitions or sort is not None or as_json or as_csv or arrow is not None):
        raise StatementError("--plot draws a table or one partition, without --sort, --json, --csv and --arrow")
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        if plot:
            _plot(service, table, partition)
            return
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
    table = service.existing_table(text)
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
        if each.table.partition_keys and each.statistics.partition is None:
            for line in key_lines(each, service.partition_names(each.table.name)):
                typer.echo(line)
        if not columns:
            typer.echo("no column statistics")
            continue
        sketches = merged_columns(service, each, FRACTIONS, MOST_VALUES)
        print_table(show_table(each, columns, sketches, terminal_width()))
        for line in stale_lines(each, columns, sketches):
            typer.echo(line)
        typer.echo(NOTE)


def _plot(service: Metastore, text: str, partition: str | None) -> None:
    table = service.existing_table(text)
    name = None if partition is None else existing_partition(service, table, partition)
    found = table_facts(service, text, Selection(name, name), limit=max(len(data_columns(table)), 1))
    console = Console(highlight=False)
    for line in plots(found):
        console.print(line, no_wrap=True, overflow="ellipsis" if console.is_terminal else "ignore", crop=False)


def _write(path: Path, service: Metastore, found: Iterable[Stored]) -> None:
    whole = [with_merged_sketches(service, each).whole() for each in found]
    try:
        write_file(path, whole)
    except OSError as error:
        raise StatementError(f"{path} cannot be written: {error.strerror or error}") from error
    typer.echo(f"written to {path}: statistics of {len(whole):,} {'target' if len(whole) == 1 else 'targets'}")
