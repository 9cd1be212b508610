"""`hmstats show`: the statistics of a table or a partition, as a metastore has them."""

from typing import Annotated

import typer

from hmstats.cli.statistics_table import headline, print_table, statistics_table
from hmstats.client import Metastore, connect
from hmstats.errors import StatementError
from hmstats.model.catalog import Table
from hmstats.model.column_statistics import ColumnStatistics
from hmstats.model.column_types import kind_of
from hmstats.model.names import normal_partition_name, split_table
from hmstats.settings import load


def show(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    partition: Annotated[str | None, typer.Argument(help="Its partition, as key=value/key=value.")] = None,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Print the statistics of a table or one of its partitions."""
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        name = named_table(table)
        found = service.find_table(name)
        if found is None:
            raise StatementError(f"table {table} is not in the metastore at {service.address}")
