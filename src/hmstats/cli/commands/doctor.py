"""`hmstats doctor`: what is wrong with an installation, and what to do about it."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Database, Master, Server, SparkSettings, Warehouse


def doctor(
    *,
    spark: Annotated[bool, typer.Option("--spark", help="Start Spark too, and look at its session.")] = False,
    metastore: Server = None,
    database: Database = None,
    warehouse: Warehouse = None,
    master: Master = None,
    conf: SparkSettings = None,
    as_json: AsJson = False,
) -> None:
    """Look at versions, server, database, warehouse and Spark, and print what is wrong and what to do.

    Each line is ok, a warning or a problem. The exit code is 1 after a problem, 0 without one, 2 when the command
    itself fails. Nothing is changed; a file is made in the warehouse and removed to try the right to write.
    """
    if not spark and (master is not None or conf):
        raise typer.BadParameter("--master and --conf go with --spark only: no session is started without it")
    from hmstats.cli.actions.doctor import examine

    examine(
        spark=spark,
        metastore=metastore,
        database=database,
        warehouse=warehouse,
        master=master,
        conf=conf or [],
        as_json=as_json,
    )
