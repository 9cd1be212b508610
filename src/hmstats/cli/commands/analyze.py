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
    set_options,
    split_columns,
)

Tables = Annotated[
    list[str],
    typer.Argument(
        help="A table, DB.* for all tables of a database, or an ANALYZE TABLE statement; several of them.",
        metavar="DB.TABLE",
    ),
]
Catalog = Annotated[
    str | None,
    typer.Option(
        help="Iceberg tables of a catalog of PyIceberg's configuration, in place of the metastore's.", metavar="NAME"
    ),
]
NoScan = Annotated[bool, typer.Option("--noscan", help="Count files and bytes, and read no data.")]
RowCounts = Annotated[
    bool, typer.Option("--row-counts", help="With --noscan: count rows too, by the footers of Parquet files.")
]
ChangedOnly = Annotated[
    bool, typer.Option("--changed-only", help="Only partitions whose files changed since their statistics.")
]
PastLocks = Annotated[bool, typer.Option("--past-locks", help="Write locked statistics too.")]
Sample = Annotated[float | None, typer.Option(help="The part of the rows to read; 1 reads all.", metavar="FRACTION")]
Histogram = Annotated[bool | None, typer.Option("--histogram/--no-histogram", help="Compute histograms.")]
FrequentValues = Annotated[bool | None, typer.Option("--top-k/--no-top-k", help="Find frequent values.")]
BoundsOnly = Annotated[
    bool | None,
    typer.Option("--bounds-only/--all-statistics", help="Compute no sketches, and so no NDV; or all of them."),
]
Precision = Annotated[int | None, typer.Option(help="Precision of the bit vectors, 10 to 14.")]
PuffinColumns = Annotated[
    str | None,
    typer.Option(
        help="Columns of Iceberg tables whose NDV goes into a Puffin file: text, all, none, or names.",
        metavar="COLUMNS",
    ),
]
Tasks = Annotated[int | None, typer.Option(help="The most tasks of the job.")]
Spool = Annotated[
    str | None,
    typer.Option(help="The folder for statistics that cannot be delivered: a path or a URI.", metavar="FOLDER"),
]
Reliable = Annotated[bool, typer.Option("--reliable", help="Stop at the first file that cannot be read.")]
JobLogFile = Annotated[Path | None, typer.Option(help="Add a JSON line for each table to a file.")]

_OF_METASTORES = {
    "partition",
    "where",
    "noscan",
    "row_counts",
    "past_locks",
    "master",
    "conf",
    "spool",
    "reliable",
    "dry_run",
}
"""Parameters that tables of another catalog do not have."""


def analyze(
    context: typer.Context,
    tables: Tables,
    *,
    metastore: Server = None,
    catalog: Catalog = None,
    columns: Columns = None,
    partition: PartitionNames = None,
    where: Where = None,
    noscan: NoScan = False,
    row_counts: RowCounts = False,
    changed_only: ChangedOnly = False,
    past_locks: PastLocks = False,
    sample: Sample = None,
    histogram: Histogram = None,
    top_k: FrequentValues = None,
    bounds_only: BoundsOnly = None,
    precision: Precision = None,
    puffin_columns: PuffinColumns = None,
    tasks: Tasks = None,
    master: Master = None,
    conf: SparkSettings = None,
    spool: Spool = None,
    reliable: Reliable = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    job_log: JobLogFile = None,
) -> None:
    """Compute the statistics of tables and their partitions and push them to the metastore.

    An option that is unset comes from the tables' preferences. Under spark-submit, or if a session is active, that
    Spark is used; otherwise one is started here. The exit code is 3 if requested columns cannot have statistics, or if
    some of several tables failed; each is named with the reason.
    """
    from hmstats.cli.actions.spark_arguments import job_settings, need_spark, sketch_choices
    from hmstats.collector.options import Choices

    options = Choices(
        sample_fraction=sample,
        precision=precision,
        most_tasks=tasks,
        puffin_columns=puffin_columns,
        **sketch_choices(bounds_only=bounds_only, histogram=histogram, top_k=top_k),
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
                unfit=set_options(context, _OF_METASTORES),
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
