"""`hmstats ask`: questions that stored statistics answer without a look at the data."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from hmstats.client import connect
from hmstats.client.asked_table import AskedTable
from hmstats.errors import StatementError
from hmstats.model import frequent_values
from hmstats.model.column_statistics import Kind
from hmstats.model.column_types import kind_of
from hmstats.outlets.flat_table import bound_text
from hmstats.settings import load

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Ask what stored statistics answer without a scan: each answer says how far it may be off.",
)
Name = Annotated[str, typer.Argument(help="The table.", metavar="DB.TABLE")]
Column = Annotated[str, typer.Argument(help="The column.", metavar="COLUMN")]
Partition = Annotated[
    list[str] | None, typer.Option(help="Only this partition; may be repeated.", metavar="KEY=VALUE/...")
]
Where = Annotated[str | None, typer.Option(help="Only partitions that match this filter.", metavar="FILTER")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON object.")]
Server = Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")]


@app.command()
def quantile(
    table: Name,
    column: Column,
    at: Annotated[str, typer.Option(help="Fractions from 0 to 1.", metavar="F,F,...")] = "0,0.25,0.5,0.75,1",
    partition: Partition = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print the values below which fractions of a column's values lie."""
    fractions = _fractions(at)
    with _asked(table, metastore) as asked:
        found = asked.quantile(column, fractions, partition or None, where)
        kind = kind_of(asked.column_type(column))
    form = _plain if as_json else _number
    values, lows, highs = ([form(kind, each) for each in part] for part in (found.values, found.low, found.high))
    if as_json:
        rows = [
            {"fraction": fraction, "value": value, "low": low, "high": high}
            for fraction, value, low, high in zip(fractions, values, lows, highs, strict=False)
        ]
        _print({"quantiles": rows, "rank_error": found.rank_error, "values": found.count, "exact": found.exact})
        return
    for fraction, value, low, high in zip(fractions, values, lows, highs, strict=False):
        typer.echo(f"{fraction:g}\t{value}" + ("" if low == high == value else f"\tfrom {low} to {high}"))
    bound = "exact" if found.exact else f"ranks are off by {100 * found.rank_error:.2g} % at most, in 99 of 100 cases"
    typer.echo(f"of {found.count:,} values, {bound}")


@app.command()
def top(
    table: Name,
    column: Column,
    k: Annotated[int, typer.Option("-k", help="How many values.")] = 10,
    partition: Partition = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print a column's most frequent values, and how often each occurs."""
    with _asked(table, metastore) as asked:
        found = asked.top(column, k, partition or None, where)
        kind = kind_of(asked.column_type(column))
    texts = [_value(kind, each.value) for each in found.values]
    if as_json:
        rows = [{"value": text, "low": v.low, "high": v.high} for text, v in zip(texts, found.values, strict=True)]
        _print({"values": rows, "count": found.count, "unlisted": found.unlisted, "exact": found.exact})
        return
    for text, each in zip(texts, found.values, strict=True):
        typer.echo(f"{text}\t{each.high:,}" + ("" if each.low == each.high else f"\tat least {each.low:,}"))
    bound = "exact" if found.exact else f"any other value occurs {found.unlisted:,} times at most"
    typer.echo(f"of {found.count:,} values, {bound}")


@app.command()
def distinct(
    table: Name,
    column: Column,
    partition: Partition = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print how many distinct values a column has over the partitions together."""
    with _asked(table, metastore) as asked:
        found = asked.distinct(column, partition or None, where)
    if as_json:
        _print({name: getattr(found, name) for name in ("count", "standard_error", "low", "high", "exact")})
        return
    bound = "exact" if found.exact else "nobody says how far it may be off"
    if not found.exact and None not in (found.low, found.high):
        bound = f"from {found.low:,} to {found.high:,}, in 997 of 1000 cases"
    typer.echo(f"{found.count:,} distinct values, {bound}")


@app.command()
def count(
    table: Name,
    partition: Partition = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print how many rows there are."""
    with _asked(table, metastore) as asked:
        found = asked.count(partition or None, where)
    if as_json:
        _print({"count": found.count, "exact": found.exact})
    else:
        typer.echo(f"{found.count:,} rows, {'exact' if found.exact else 'not known to be exact'}")


@app.command()
def bounds(
    table: Name,
    column: Column,
    partition: Partition = None,
    where: Where = None,
    *,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Print the least and the greatest value of a column."""
    with _asked(table, metastore) as asked:
        found = asked.bounds(column, partition or None, where)
        kind = kind_of(asked.column_type(column))
    form = _plain if as_json else _number
    low, high = (None if each is None else form(kind, each) for each in (found.low, found.high))
    if as_json:
        _print({"low": low, "high": high, "exact": found.exact})
        return
    span = "no values" if low is None or high is None else f"from {low} to {high}"
    sure = "nobody says whether it is exact" if found.exact is None else "exact" if found.exact else "of a sample"
    typer.echo(f"{span}, {sure}")


@contextmanager
def _asked(table: str, metastore: str | None) -> Iterator[AskedTable]:
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        yield service.table(table)


def _fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise StatementError(f"--at takes fractions from 0 to 1, separated by commas, found {text!r}") from error


def _number(kind: Kind | None, value: Any) -> str:
    """A date and a time as ISO 8601 writes them, a number as itself."""
    if kind is Kind.LONG:
        return str(int(value))
    if kind is Kind.DECIMAL:
        return str(value)
    return bound_text(kind or Kind.DOUBLE, value)


def _plain(kind: Kind | None, value: Any) -> Any:
    """The same as JSON has it: numbers stay numbers."""
    return value if kind in (Kind.LONG, Kind.DOUBLE) and math.isfinite(value) else _number(kind, value)


def _value(kind: Kind | None, value: Any) -> str:
    if kind is None:
        return str(value)
    return _number(kind, value) if kind in (Kind.DATE, Kind.TIMESTAMP) else frequent_values.items(kind, [value])[0]


def _print(answer: dict[str, Any]) -> None:
    typer.echo(json.dumps(answer, ensure_ascii=False))
