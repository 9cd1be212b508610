"""`hmstats describe`: what Hive answers to DESCRIBE."""

import json
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_WHAT = "A DESCRIBE statement, or what follows that word; a table alone means DESCRIBE FORMATTED."


def describe(
    statement: Annotated[str, typer.Argument(help=_WHAT, metavar="STATEMENT")],
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Print a table, a partition or a column with its statistics, in Hive's layout.

    [DESCRIBE] [FORMATTED | EXTENDED] [db.]table [PARTITION (key=value, ...)] [column]
    """
    from hmstats.cli.actions.connecting import open_metastore
    from hmstats.client.tables.describe import describe as described
    from hmstats.outlets.describe.statement import complete_statement

    with open_metastore(metastore) as service:
        text = described(service, complete_statement(statement))
    typer.echo(json.dumps({"text": text}, ensure_ascii=False) if as_json else text, nl=as_json)
