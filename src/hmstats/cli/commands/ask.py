"""`hmstats ask`: questions that stored statistics answer without a look at the data."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, PartitionNames, Server, Where

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Ask what stored statistics answer without a scan: each answer says how far it may be off.",
)
Name = Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")]
Column = Annotated[str, typer.Argument(help="The column.", metavar="COLUMN")]


@app.command()
def quantile(
    table: Name,
    column: Column,
    at: Annotated[str, typer.Option(help="Fractions from 0 to 1.", metavar="F,F,...")] = "0,0.25,0.5,0.75,1",
    partition: PartitionNames = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print the values below which fractions of a column's values lie."""
    from hmstats.cli.actions.ask import Question, print_quantile

    print_quantile(Question(table, partition or None, where, as_json, metastore), column, at)


@app.command()
def top(
    table: Name,
    column: Column,
    k: Annotated[int, typer.Option("-k", help="How many values.")] = 10,
    partition: PartitionNames = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print a column's most frequent values, and how often each occurs."""
    from hmstats.cli.actions.ask import Question, print_top

    print_top(Question(table, partition or None, where, as_json, metastore), column, k)


@app.command()
def distinct(
    table: Name,
    column: Column,
    partition: PartitionNames = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print how many distinct values a column has over the partitions together."""
    from hmstats.cli.actions.ask import Question, print_distinct

    print_distinct(Question(table, partition or None, where, as_json, metastore), column)


@app.command()
def count(
    table: Name,
    partition: PartitionNames = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print how many rows there are."""
    from hmstats.cli.actions.ask import Question, print_count

    print_count(Question(table, partition or None, where, as_json, metastore))


@app.command()
def bounds(
    table: Name,
    column: Column,
    partition: PartitionNames = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print the least and the greatest value of a column."""
    from hmstats.cli.actions.ask import Question, print_bounds

    print_bounds(Question(table, partition or None, where, as_json, metastore), column)
