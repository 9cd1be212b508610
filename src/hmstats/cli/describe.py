"""`hmstats describe`: what Hive answers to DESCRIBE."""

import re
from typing import Annotated

import typer

from hmstats.client import connect
from hmstats.client.describe import describe as described
from hmstats.settings import load

_VERB = re.compile(r"\s*desc(ribe)?\s", re.IGNORECASE)
_WHAT = "A DESCRIBE statement; a table alone means DESCRIBE FORMATTED."


def describe(
    statement: Annotated[str, typer.Argument(help=_WHAT, metavar="STATEMENT")],
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Print a table, a partition or a column with its statistics, in Hive's layout.

    DESCRIBE [FORMATTED | EXTENDED] [db.]table [PARTITION (key=value, ...)] [column]
    """
    settings = load({"metastore": metastore})
    text = statement if _VERB.match(statement) or not statement.strip() else f"DESCRIBE FORMATTED {statement}"
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        typer.echo(described(service, text), nl=False)
