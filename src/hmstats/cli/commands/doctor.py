"""`hmstats doctor`: what is wrong with an installation, and what to do about it."""

from typing import Annotated

import typer


def doctor(
    *,
    spark: Annotated[bool, typer.Option("--spark", help="Start Spark too, and look at its session.")] = False,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
    database: Annotated[str | None, typer.Option(help="The database's URL.", metavar="URL")] = None,
    warehouse: Annotated[str | None, typer.Option(help="Where managed tables live.", metavar="DIR")] = None,
    master: Annotated[str | None, typer.Option(help="Where Spark runs: local[*] by default.")] = None,
    conf: Annotated[list[str] | None, typer.Option(help="A setting of Spark.", metavar="KEY=VALUE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each line.")] = False,
) -> None:
    """Look at versions, server, database, warehouse and Spark, and print what is wrong and what to do.

    Each line is ok, a warning or a problem. The exit code is 1 after a problem, 0 without one, 2 when the command
    itself fails. Nothing is changed; a file is made in the warehouse and removed to try the right to write.
    """
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
