"""The output of an analysis: the progress bar, and the tables at its end."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hmstats.cli.output.cell_texts import count_text
from hmstats.cli.output.statistics_table import statistics_table
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.outlets.people.cells import amount, headline

if TYPE_CHECKING:
    from hmstats.collector import Report
    from hmstats.collector.dry_run import DryRun
    from hmstats.collector.scan.progress import JobProgress


def announce_spark_start(*, given: bool) -> None:
    """Print on a terminal's standard error that Spark starts, which takes seconds, unless a session is given."""
    if not given and sys.stderr.isatty():
        typer.echo("starting Spark ...", err=True)


@contextmanager
def progress_bar(description: str) -> "Iterator[Callable[[JobProgress], None] | None]":
    """A bar on standard error with partitions, rows, rows a second and the time left; None if it is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(description, total=None, counts="")
        begin = time.monotonic()

        def show(done: "JobProgress") -> None:
            counts = counts_text(done, time.monotonic() - begin)
            bar.update(task, completed=done.tasks, total=done.tasks_in_all or None, counts=counts)

        yield show


def counts_text(done: "JobProgress", seconds: float) -> str:
    """The counts as text for the bar; `seconds` is how long they took."""
    parts = [f"{done.partitions:,} of {done.partitions_in_all:,} partitions"] if done.partitions_in_all else []
    if done.rows and seconds > 0:
        parts.append(f"{amount(done.rows, 'row')}, {done.rows / seconds:,.0f} a second")
    return ", ".join(parts)


def print_report(report: "Report", *, done: str = "analysed and stored") -> None:
    """Print the report of one table: counts, the columns' statistics, skipped columns, and durations.

    `done` is what took so long, as a participle.
    """
    name, whole = _name(report), report.whole
    if report.left is not None:
        print_notes(report)
        return
    if whole is None and report.unchanged and not report.partitions:
        typer.echo(f"{name}: nothing changed, nothing was read")
        print_notes(report)
        return
    if whole is not None:
        parameters = {key: value for key, value in whole.parameters.items() if value is not None}
        if report.partitions or report.unchanged:
            parameters["numPartitions"] = str(report.partitions + report.unchanged)
        typer.echo(headline(name, parameters))
        if whole.columns:
            print_table(statistics_table(whole.columns))
    else:
        counts = {"numRows": report.rows, "totalSize": report.bytes, "numFiles": report.files}
        shown = {key: str(count) for key, count in counts.items() if count is not None}
        typer.echo(headline(name, {**shown, "numPartitions": str(report.partitions)}))
    print_notes(report)
    if report.reads is not None:
        typer.echo(report.reads.sentence)
    typer.echo(f"{done} in {sum(report.seconds.values()):.1f} seconds")


def print_notes(report: "Report") -> None:
    """Print what an analysis has skipped, and what is not stored yet."""
    name = _name(report)
    if report.left is not None:
        typer.echo(f"left out: {report.left}")
    if report.locked:
        typer.echo(f"left out: {len(report.locked):,} of {name}, whose statistics are locked")
    if report.unchanged:
        typer.echo(f"left out: {report.unchanged:,} of {name} with the same files as before")
    for column, reason in report.skipped.items():
        typer.echo(f"left out: column {column} of {name}, {reason}")
    if report.puffin is not None:
        typer.echo(report.puffin.sentence)
    if report.spooled:
        typer.echo(f"not stored yet: {report.spooled:,} of {name}, which wait in the spool folder for hmstats push")
    if report.waiting:
        typer.echo(report.waiting_sentence)


def print_reports(reports: "Sequence[Report]") -> None:
    """Print a row for each of several tables, and what was skipped."""
    table = plain_table(["Table"], ["Partitions", "Rows", "Files", "Bytes", "Columns", "Seconds"])
    for each in reports:
        counts = (each.partitions, each.rows, each.files, each.bytes, len(each.columns))
        table.add_row(_name(each), *map(count_text, counts), f"{sum(each.seconds.values()):.1f}")
    print_table(table)
    for each in reports:
        print_notes(each)


def print_dry_runs(plans: "Sequence[DryRun]") -> None:
    """Print a row for each table that would be analysed."""
    table = plain_table(["Table"], ["Partitions", "Left out", "Files", "Bytes", "Columns", "Tasks"])
    for each in plans:
        counts = (each.partitions, each.unchanged, each.files, each.bytes, len(each.columns), each.tasks)
        table.add_row(each.table, *map(count_text, counts))
    print_table(table)
    for each in plans:
        if each.columns:
            typer.echo(f"columns of {each.table}: {', '.join(each.columns)}")
        if each.left_out is not None:
            typer.echo(f"left out: {each.left_out}")
        if each.locked:
            typer.echo(f"left out: {len(each.locked):,} of {each.table}, whose statistics are locked")
        for reason in each.unlisted:
            typer.echo(f"cannot be analysed: {reason}")
        if each.skipped:
            typer.echo(f"left out: columns {', '.join(each.skipped)} of {each.table}, whose types have no statistics")


def _name(report: "Report") -> str:
    return report.table.typed
