"""`hmstats describe`: what Hive answers to DESCRIBE."""

from typing import Annotated

import typer

_WHAT = "A DESCRIBE statement, or what follows that word; a table alone means DESCRIBE FORMATTED."


def describe(
    statement: Annotated[str, typer.Argument(help=_WHAT, metavar="STATEMENT")],
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Print a table, a partition or a column with its statistics, in Hive's layout.

    [DESCRIBE] [FORMATTED | EXTENDED] [db.]table [PARTITION (key=value, ...)] [column]
    """
    from hmstats.client import connect
    from hmstats.client.tables.describe import describe as described
    from hmstats.outlets.describe.statement import completed
    from hmstats.settings import load

    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        typer.echo(described(service, completed(statement)), nl=False)
