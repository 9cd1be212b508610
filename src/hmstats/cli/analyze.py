"""`hmstats analyze`: compute statistics of tables with Spark, and push them to a metastore."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from hmstats.errors import SettingsError
from hmstats.settings import load, origin

_WHAT = "A table, DB.* for all tables of a database, or an ANALYZE TABLE statement; several of them."
_PARTITION = "Only partitions with this value of a key."
_FOOTERS = "With --noscan: count rows too, by the footers of Parquet files."
_SPOOL = "Where statistics wait when the metastore stays away: a path or a URI."
_RELIABLE = "Stop at the first file that cannot be read."
_CHANGED = "Only partitions whose files changed since their statistics."


def analyze(
    tables: Annotated[list[str], typer.Argument(help=_WHAT, metavar="DB.TABLE")],
    *,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
    columns: Annotated[str | None, typer.Option(help="Only these columns.", metavar="A,B")] = None,
    partition: Annotated[list[str] | None, typer.Option(help=_PARTITION, metavar="KEY[=VALUE]")] = None,
    noscan: Annotated[bool, typer.Option("--noscan", help="Count files and bytes, and read no data.")] = False,
    row_counts: Annotated[bool, typer.Option("--row-counts", help=_FOOTERS)] = False,
    changed_only: Annotated[bool, typer.Option("--changed-only", help=_CHANGED)] = False,
    sample: Annotated[float, typer.Option(help="The part of the rows to look at.", metavar="FRACTION")] = 1.0,
    no_histogram: Annotated[bool, typer.Option("--no-histogram", help="Make no histograms.")] = False,
    no_top_k: Annotated[bool, typer.Option("--no-top-k", help="Look for no frequent values.")] = False,
    bounds_only: Annotated[bool, typer.Option("--bounds-only", help="Make no sketches, and so no NDV.")] = False,
    precision: Annotated[int, typer.Option(help="Precision of the bit vectors, 10 to 14.")] = 12,
    tasks: Annotated[int | None, typer.Option(help="The most tasks that the work is cut into.")] = None,
    master: Annotated[str | None, typer.Option(help="Where Spark runs: local[*] if not said.")] = None,
    conf: Annotated[list[str] | None, typer.Option(help="A setting of Spark.", metavar="KEY=VALUE")] = None,
    spool: Annotated[str | None, typer.Option(help=_SPOOL, metavar="FOLDER")] = None,
    reliable: Annotated[bool, typer.Option("--reliable", help=_RELIABLE)] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and start no job.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each table.")] = False,
    job_log: Annotated[Path | None, typer.Option(help="Add a JSON line for each table to a file.")] = None,
) -> None:
    """Compute the statistics of tables and their partitions and push them to the metastore.

    Under spark-submit, or where a session is active, that Spark is used; otherwise one is started here.
    """
    need_spark("analyze")
    from hmstats.cli.analysis import Analysis  # noqa: PLC0415 - Spark is loaded by the one command that needs it
    from hmstats.collector.options import Options  # noqa: PLC0415 - the same

    flags = {"metastore": metastore, "spool": spool}
    settings = load(flags)
    sketches = sketches_made(bounds_only=bounds_only, histogram=not no_histogram, top_k=not no_top_k)
    analysis = Analysis(
        texts=tables,
        columns=None if columns is None else columns.split(","),
        partitions=None if partition is None else partition_spec(partition),
        noscan=noscan,
        row_counts=row_counts,
        changed_only=changed_only,
        options=Options(sample_fraction=sample, precision=precision, most_tasks=tasks, **sketches),
        metastore=settings.metastore,
        named=origin("metastore", flags) != "default",
        master=master,
        conf=settings_of_spark(conf or []),
        spool=settings.spool,
        patience_seconds=settings.patience_seconds,
        reliable=reliable,
        job_log=job_log,
        as_json=as_json,
    )
    if dry_run:
        analysis.dry_run()
    else:
        analysis.run()


def sketches_made(*, bounds_only: bool, histogram: bool, top_k: bool) -> dict[str, bool]:
    """Which sketches are made, by the name of the option."""
    return {"distinct": not bounds_only, "histogram": histogram and not bounds_only, "top_k": top_k and not bounds_only}


def settings_of_spark(texts: list[str]) -> dict[str, str]:
    """The settings in texts KEY=VALUE. Raises SettingsError for a text without a = or a key."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, separator, _) in zip(texts, pairs, strict=True):
        if not key or not separator:
            raise SettingsError(f"--conf must be KEY=VALUE, found {text!r}")
    return {key: value for key, _, value in pairs}


def partition_spec(texts: list[str]) -> dict[str, str | None]:
    """The keys and values in texts KEY or KEY=VALUE. Raises SettingsError for a text without a key."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, _, _) in zip(texts, pairs, strict=True):
        if not key.strip():
            raise SettingsError(f"--partition must be KEY or KEY=VALUE, found {text!r}")
    return {key.strip(): value if separator else None for key, separator, value in pairs}


def need_spark(command: str) -> None:
    """Raise SettingsError for a command when Spark is not installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise SettingsError(f"{command} needs Spark, which is not installed: pip install 'hmstats[spark]'")
