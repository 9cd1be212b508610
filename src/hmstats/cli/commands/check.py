"""`hmstats check`: which stored statistics of a table are wrong, found by reading a sample of it again."""

import json
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Columns, Master, PartitionNames, Server, SparkSettings, Where, split_columns

_TOLERANCE = "How far a number may be off beyond its stated error, as a part of it."


def check(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    *,
    metastore: Server = None,
    columns: Columns = None,
    partition: PartitionNames = None,
    where: Where = None,
    sample: Annotated[float, typer.Option(help="The part of the rows to read; 1 reads all.", metavar="FRACTION")] = 0.1,
    tolerance: Annotated[float, typer.Option(help=_TOLERANCE, metavar="FRACTION")] = 0.0,
    master: Master = None,
    conf: SparkSettings = None,
    as_json: AsJson = False,
) -> None:
    """Read a sample of a table with Spark and print which of its stored statistics are wrong, and by how much.

    The q-error is the factor between two counts. The exit code is 1 when anything is wrong. Nothing is changed.
    """
    from hmstats.cli.actions.spark_arguments import job_settings, need_spark
    from hmstats.cli.exit_codes import ExitCode

    need_spark("check")
    from hmstats.cli.actions.checking import Check
    from hmstats.cli.output.check_output import print_check, rows

    report = Check(
        table=table,
        columns=split_columns(columns),
        partitions=partition or None,
        where=where,
        sample_fraction=sample,
        tolerance=tolerance,
        job=job_settings(metastore=metastore, master=master, conf=conf),
    ).run()
    if as_json:
        for row in rows(report):
            typer.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))
    else:
        print_check(report)
    if report.wrong:
        raise typer.Exit(ExitCode.NO)
