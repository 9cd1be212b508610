"""`hmstats show`: the statistics of a table or its partitions at a glance, or for another program."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.options import split_columns
from hmstats.cli.output.plot import plots
from hmstats.cli.output.show_rows import print_csv, print_json
from hmstats.cli.output.show_table import (
    MOST_VALUES,
    NOTE,
    key_lines,
    show_table,
    sort_columns,
    stale_lines,
)
from hmstats.cli.output.sparkline import FRACTIONS
from hmstats.cli.output.tables import print_table, terminal_width
from hmstats.client import Metastore
from hmstats.client.asked.partition_names import existing_names
from hmstats.client.tables.merged_statistics import merged_columns, with_merged_sketches
from hmstats.client.tables.stored_statistics import (
    StoredStatistics,
    stored_partitions,
    stored_table,
)
from hmstats.errors import StatementError
from hmstats.model.spark.spark_schema import data_columns
from hmstats.outlets.arrow.ipc import write_file
from hmstats.outlets.people.cells import amount, headline
from hmstats.outlets.people.sources import source_lines
from hmstats.web.reading.selections import Selection
from hmstats.web.reading.table_facts import table_facts


def show_statistics(
    *,
    table: str,
    names: list[str] | None,
    partitions: bool,
    columns: str | None,
    sort: str | None,
    plot: bool,
    as_json: bool,
    as_csv: bool,
    arrow: Path | None,
    metastore: str | None,
) -> None:
    """Print or write statistics. Raises StatementError for a missing table, partition or column."""
    if (names and partitions) or as_json + as_csv + (arrow is not None) > 1:
        raise StatementError("show takes --partition or --partitions, and one of --json, --csv and --arrow")
    others = partitions or len(names or ()) > 1 or columns is not None or sort is not None or as_json or as_csv or arrow
    if plot and others:
        raise StatementError(
            "--plot draws a table or one partition, without --columns, --sort, --json, --csv and --arrow"
        )
    with open_metastore(metastore) as service:
        if plot:
            _plot(service, table, names or ())
            return
        found = _read_statistics(service, table, names or (), every=partitions)
        found = _sort_columns(_choose_columns(service, table, found, columns), sort)
        if arrow is not None:
            _write(arrow, service, found)
        elif as_json:
            print_json(service, found)
        elif as_csv:
            print_csv(service, found)
        else:
            _print(service, found)


def _read_statistics(service: Metastore, text: str, names: Sequence[str], *, every: bool) -> Iterator[StoredStatistics]:
    table = service.existing_table(text)
    if names:
        yield from stored_partitions(service, table, existing_names(service, table, names))
    elif not every:
        yield stored_table(service, table)
    elif table.partition_keys:
        yield from stored_partitions(service, table, service.partition_names(table.name))
    else:
        raise StatementError(f"table {text} has no partitions")


def _choose_columns(
    service: Metastore, text: str, found: Iterable[StoredStatistics], columns: str | None
) -> Iterator[StoredStatistics]:
    """The statistics without those of other columns than `columns`. Raises StatementError for a missing column."""
    names = split_columns(columns)
    if names is None:
        yield from found
        return
    asked = service.table(text)
    wanted = {asked.column(each).name.lower() for each in names}
    for each in found:
        chosen = tuple(column for column in each.statistics.columns if column.column.lower() in wanted)
        yield replace(each, statistics=replace(each.statistics, columns=chosen))


def _sort_columns(found: Iterable[StoredStatistics], key: str | None) -> Iterator[StoredStatistics]:
    for each in found:
        columns = tuple(sort_columns(each.statistics.columns, key))
        yield replace(each, statistics=replace(each.statistics, columns=columns))


def _print(service: Metastore, found: Iterable[StoredStatistics]) -> None:
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
        for line in source_lines((each.column, each.tool) for each in columns):
            typer.echo(line)
        typer.echo(NOTE)


def _plot(service: Metastore, text: str, names: Sequence[str]) -> None:
    table = service.existing_table(text)
    name = next(iter(existing_names(service, table, names)), None)
    found = table_facts(service, text, Selection(name, name), limit=max(len(data_columns(table)), 1))
    console = Console(highlight=False)
    for line in plots(found):
        console.print(line, no_wrap=True, overflow="ellipsis" if console.is_terminal else "ignore", crop=False)


def _write(path: Path, service: Metastore, found: Iterable[StoredStatistics]) -> None:
    whole = [with_merged_sketches(service, each).table_statistics() for each in found]
    try:
        write_file(path, whole)
    except OSError as error:
        raise StatementError(f"{path} cannot be written: {error.strerror or error}") from error
    typer.echo(f"written to {path}: statistics of {amount(len(whole), 'target')}")
