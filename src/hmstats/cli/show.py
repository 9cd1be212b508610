"""`hmstats show`: the statistics of a table or a partition, as a metastore has them."""

from collections.abc import Sequence
from typing import Annotated

import typer

from hmstats.cli.statistics_table import headline, print_table, statistics_table
from hmstats.client import Metastore, connect
from hmstats.client.naming import named_table
from hmstats.errors import StatementError
from hmstats.model.catalog import Parameters, Table
from hmstats.model.column_statistics import ColumnStatistics
from hmstats.model.column_types import kind_of
from hmstats.model.names import normal_partition_name
from hmstats.settings import load


def show(
    table: Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")],
    partition: Annotated[str | None, typer.Argument(help="Its partition, as key=value/key=value.")] = None,
    metastore: Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")] = None,
) -> None:
    """Print the statistics of a table or one of its partitions."""
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        found = service.find_table(named_table(table))
        if found is None:
            raise StatementError(f"table {table} is not in the metastore at {service.address}")
        if partition is None:
            columns = service.table_statistics(found.name, _names(found))
            _print(table, found.parameters, columns)
        else:
            _show_partition(service, found, partition)


def _show_partition(service: Metastore, table: Table, text: str) -> None:
    keys = [key.name for key in table.partition_keys]
    if not keys:
        raise StatementError(f"table {_shown(table)} has no partitions, so none is named {text}")
    name = normal_partition_name(text, keys)
    found = next(service.partitions(table.name, [name]), None)
    if found is None:
        raise StatementError(f"table {_shown(table)} has no partition {name}")
    sets = service.partition_statistics(table.name, _names(table), [name])
    columns = [column for each in sets for column in each.columns]
    _print(f"{_shown(table)} {name}", found.parameters, columns)


def _print(title: str, parameters: Parameters, columns: Sequence[ColumnStatistics]) -> None:
    typer.echo(headline(title, parameters))
    if columns:
        print_table(statistics_table(columns))
    else:
        typer.echo("no column statistics")


def _names(table: Table) -> list[str]:
    """The columns that can have statistics."""
    return [column.name for column in table.columns if kind_of(column.type) is not None]


def _shown(table: Table) -> str:
    return f"{table.name.database}.{table.name.table}"
