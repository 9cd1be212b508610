"""`hmstats analyze`: compute statistics of tables with Spark, and push them to a metastore."""

from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import (
    AsJson,
    Columns,
    DryRun,
    Master,
    PartitionNames,
    Server,
    SparkSettings,
    Where,
    split_columns,
)

_WHAT = "A table, DB.* for all tables of a database, or an ANALYZE TABLE statement; several of them."
_FOOTERS = "With --noscan: count rows too, by the footers of Parquet files."
_SPOOL = "The folder for statistics that cannot be delivered: a path or a URI."
_RELIABLE = "Stop at the first file that cannot be read."
_PAST_LOCKS = "Write locked statistics too."
_SAMPLE = "The part of the rows to read; 1 reads all."
_BOUNDS = "Compute no sketches, and so no NDV; or all of them."
_PUFFIN = "Columns of Iceberg tables whose NDV goes into a Puffin file: text, all, none, or names."
_CATALOG = "Iceberg tables of a catalog of PyIceberg's configuration, in place of the metastore's."
_CHANGED = "Only partitions whose files changed since their statistics."


def analyze(
    tables: Annotated[list[str], typer.Argument(help=_WHAT, metavar="DB.TABLE")],
    *,
    metastore: Server = None,
    catalog: Annotated[str | None, typer.Option(help=_CATALOG, metavar="NAME")] = None,
    columns: Columns = None,
    partition: PartitionNames = None,
    where: Where = None,
    noscan: Annotated[bool, typer.Option("--noscan", help="Count files and bytes, and read no data.")] = False,
    row_counts: Annotated[bool, typer.Option("--row-counts", help=_FOOTERS)] = False,
    changed_only: Annotated[bool, typer.Option("--changed-only", help=_CHANGED)] = False,
    past_locks: Annotated[bool, typer.Option("--past-locks", help=_PAST_LOCKS)] = False,
    sample: Annotated[float | None, typer.Option(help=_SAMPLE, metavar="FRACTION")] = None,
    histogram: Annotated[bool | None, typer.Option("--histogram/--no-histogram", help="Compute histograms.")] = None,
    top_k: Annotated[bool | None, typer.Option("--top-k/--no-top-k", help="Find frequent values.")] = None,
    bounds_only: Annotated[bool | None, typer.Option("--bounds-only/--all-statistics", help=_BOUNDS)] = None,
    precision: Annotated[int | None, typer.Option(help="Precision of the bit vectors, 10 to 14.")] = None,
    puffin_columns: Annotated[str | None, typer.Option(help=_PUFFIN, metavar="COLUMNS")] = None,
    tasks: Annotated[int | None, typer.Option(help="The most tasks of the job.")] = None,
    master: Master = None,
    conf: SparkSettings = None,
    spool: Annotated[str | None, typer.Option(help=_SPOOL, metavar="FOLDER")] = None,
    reliable: Annotated[bool, typer.Option("--reliable", help=_RELIABLE)] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    job_log: Annotated[Path | None, typer.Option(help="Add a JSON line for each table to a file.")] = None,
) -> None:
    """Compute the statistics of tables and their partitions and push them to the metastore.

    An option that is unset comes from the tables' preferences. Under spark-submit, or if a session is active, that
    Spark is used; otherwise one is started here. The exit code is 3 if requested columns cannot have statistics, or if
    some of several tables failed; each is named with the reason.
    """
    from hmstats.cli.actions.spark_arguments import job_settings, need_spark, sketch_choices
    from hmstats.collector.options import Choices

    sketches = sketch_choices(bounds_only=bounds_only, histogram=histogram, top_k=top_k)
    options = Choices(
        sample_fraction=sample, precision=precision, most_tasks=tasks, puffin_columns=puffin_columns, **sketches
    )
    if catalog is not None:
        from hmstats.cli.actions.catalog_analysis import CatalogAnalysis, open_for_analysis

        opened = open_for_analysis(catalog, metastore)
        if opened.metastore is None:
            CatalogAnalysis(
                catalog=opened,
                texts=tables,
                columns=split_columns(columns),
                changed_only=changed_only,
                options=options,
                unfit={
                    "--partition": bool(partition),
                    "--where": where is not None,
                    "--noscan": noscan,
                    "--row-counts": row_counts,
                    "--past-locks": past_locks,
                    "--master": master is not None,
                    "--conf": bool(conf),
                    "--spool": spool is not None,
                    "--reliable": reliable,
                    "--dry-run": dry_run,
                },
                job_log=job_log,
                as_json=as_json,
            ).run()
            return
        metastore = opened.metastore
    need_spark("analyze")
    from hmstats.cli.actions.analysis import Analysis

    analysis = Analysis(
        texts=tables,
        columns=split_columns(columns),
        partitions=partition or None,
        where=where,
        noscan=noscan,
        row_counts=row_counts,
        changed_only=changed_only,
        past_locks=past_locks,
        options=options,
        job=job_settings(metastore=metastore, master=master, conf=conf, spool=spool),
        reliable=reliable,
        job_log=job_log,
        as_json=as_json,
    )
    if dry_run:
        analysis.dry_run()
    else:
        analysis.run()
