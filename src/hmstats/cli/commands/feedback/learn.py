"""`hmstats learn`: read what engines say of their queries."""

from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, DryRun, Server


def learn(
    files: Annotated[
        list[Path],
        typer.Argument(help="Event logs of Spark, or events or EXPLAIN ANALYZE of Trino.", metavar="FILE..."),
    ],
    *,
    dry_run: DryRun = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Find where engines expected other numbers of rows than there were, and record whose statistics are to blame.

    A file is an event log of Spark (plain, zstd, lz4, snappy or gz), a folder of a rolled one or of many, an event of
    Trino as JSON, or the text of Trino's EXPLAIN ANALYZE. Spark says what it expected if spark.sql.ui.explainMode is
    cost and spark.sql.cbo.enabled is true. `hmstats blame` lists what was recorded.
    """
    from hmstats.cli.actions.feedback.learn import learn_files

    learn_files(files, dry_run=dry_run, metastore=metastore, as_json=as_json)
