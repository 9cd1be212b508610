"""`hmstats analyze`: compute a table's statistics with a Spark of our own, and push them to a metastore."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hmstats.cli.statistics_table import headline, print_table, statistics_table
from hmstats.errors import SettingsError
from hmstats.settings import load

if TYPE_CHECKING:
    from hmstats.collector import Report


def analyze(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
    columns: Annotated[str | None, typer.Option(help="Only these columns.", metavar="A,B")] = None,
    master: Annotated[str, typer.Option(help="Where Spark runs.")] = "local[*]",
    conf: Annotated[list[str] | None, typer.Option(help="A setting of Spark.", metavar="KEY=VALUE")] = None,
) -> None:
    """Compute the statistics of a table and its partitions and push them to the metastore."""
    if importlib.util.find_spec("pyspark") is None:
        raise SettingsError("analyze needs Spark, which is not installed: pip install 'hmstats[spark]'")
    from hmstats import collector  # noqa: PLC0415 - Spark is loaded by the one command that needs it
    from hmstats.collector.session import local_session  # noqa: PLC0415 - the same

    uris = load({"metastore": metastore}).metastore
    wanted = None if columns is None else columns.split(",")
    spark = local_session(uris, master=master, conf=settings_of_spark(conf or []))
    try:
        with progress_bar(f"Analysing {table}") as progress:
            report = collector.analyze(spark, table, metastore=uris, columns=wanted, progress=progress)
    finally:
        spark.stop()
    print_report(table, report)


def settings_of_spark(texts: list[str]) -> dict[str, str]:
    """The settings in texts KEY=VALUE. Raises SettingsError for a text without a = or a key."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, separator, _) in zip(texts, pairs, strict=True):
        if not key or not separator:
            raise SettingsError(f"--conf must be KEY=VALUE, found {text!r}")
    return {key: value for key, _, value in pairs}


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error that moves with the tasks done; nothing where that is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, tasks: progress.update(task, completed=done, total=tasks or None)


def print_report(table: str, report: "Report") -> None:
    """What was found: counts, the columns' statistics, what was left out, and the time it took."""
    if report.whole is not None:
        parameters = dict(report.whole.parameters)
        if report.partitions:
            parameters["numPartitions"] = str(report.partitions)
        typer.echo(headline(table, parameters))
        if report.whole.columns:
            print_table(statistics_table(report.whole.columns))
    for column, reason in report.skipped.items():
        typer.echo(f"left out: column {column}, {reason}")
    typer.echo(f"analysed and stored in {sum(report.seconds.values()):.1f} seconds")
