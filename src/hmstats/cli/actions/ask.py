"""`hmstats ask`: questions that stored statistics answer without reading data."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.plain_texts import plain_text
from hmstats.client.asked.asked_table import AskedTable
from hmstats.errors import StatementError
from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.python_values import PythonValue
from hmstats.outlets.people.cells import amount
from hmstats.outlets.people.sources import are_worth_telling


@dataclass(frozen=True)
class Question:
    """The table of a question, its partitions by names or by a filter (None: all), and the form of the answer."""

    table: str
    partitions: list[str] | None
    where: str | None
    as_json: bool
    metastore: str | None


def print_quantile(of: Question, column: str, at: str) -> None:
    """Print the values below which fractions of a column's values lie."""
    fractions = _fractions(at)
    with _table(of) as asked:
        found = asked.quantile(column, fractions, of.partitions, of.where)
        kind = kind_of(asked.column_type(column))
        tools = asked.tools(column, of.partitions, of.where)
    form = _json_value if of.as_json else _value_text
    values, lows, highs = ([form(kind, each) for each in part] for part in (found.values, found.low, found.high))
    if of.as_json:
        rows = [
            {"fraction": fraction, "value": value, "low": low, "high": high}
            for fraction, value, low, high in zip(fractions, values, lows, highs, strict=False)
        ]
        more = {"rank_error": found.rank_error, "values": found.count, "exact": found.exact}
        _print({"quantiles": rows, **more}, tools)
        return
    for fraction, value, low, high in zip(fractions, values, lows, highs, strict=False):
        typer.echo(f"{fraction:g}\t{value}" + ("" if low == high == value else f"\tfrom {low} to {high}"))
    bound = "exact" if found.exact else f"ranks are off by {100 * found.rank_error:.2g} % at most, in 99 of 100 cases"
    typer.echo(f"of {amount(found.count, 'value')}, {bound}")
    _print_sources(tools)


def print_top(of: Question, column: str, k: int) -> None:
    """Print a column's most frequent values, and how often each occurs."""
    with _table(of) as asked:
        found = asked.top(column, k, of.partitions, of.where)
        kind = kind_of(asked.column_type(column))
        tools = asked.tools(column, of.partitions, of.where)
    texts = [_text(kind, each.value) for each in found.values]
    if of.as_json:
        rows = [{"value": text, "low": v.low, "high": v.high} for text, v in zip(texts, found.values, strict=True)]
        more = {"count": found.count, "unlisted": found.unlisted, "exact": found.exact}
        _print({"values": rows, **more}, tools)
        return
    for text, each in zip(texts, found.values, strict=True):
        typer.echo(f"{plain_text(text)}\t{each.high:,}" + ("" if each.low == each.high else f"\tat least {each.low:,}"))
    bound = "exact" if found.exact else f"any other value occurs {amount(found.unlisted, 'time')} at most"
    typer.echo(f"of {amount(found.count, 'value')}, {bound}")
    _print_sources(tools)


def print_distinct(of: Question, column: str) -> None:
    """Print how many distinct values a column has over the partitions together."""
    with _table(of) as asked:
        found = asked.distinct(column, of.partitions, of.where)
        tools = asked.tools(column, of.partitions, of.where)
    if of.as_json:
        names = ("count", "standard_error", "low", "high", "exact")
        _print({name: getattr(found, name) for name in names}, tools)
        return
    bound = "exact" if found.exact else "its error is unknown"
    if not found.exact and None not in (found.low, found.high):
        bound = f"from {found.low:,} to {found.high:,}, in 997 of 1000 cases"
    typer.echo(f"{amount(found.count, 'distinct value')}, {bound}")
    _print_sources(tools)


def print_count(of: Question) -> None:
    """Print how many rows there are."""
    with _table(of) as asked:
        found = asked.count(of.partitions, of.where)
        tools = asked.tools_of_count(found) if of.partitions is None and of.where is None else ()
    if of.as_json:
        _print({"count": found.count, "exact": found.exact}, tools)
        return
    typer.echo(f"{amount(found.count, 'row')}, {'exact' if found.exact else 'not known to be exact'}")
    _print_sources(tools)


def print_bounds(of: Question, column: str) -> None:
    """Print the least and the greatest value of a column."""
    with _table(of) as asked:
        found = asked.bounds(column, of.partitions, of.where)
        kind = kind_of(asked.column_type(column))
        tools = asked.tools(column, of.partitions, of.where)
    form = _json_value if of.as_json else _value_text
    low, high = (None if each is None else form(kind, each) for each in (found.low, found.high))
    if of.as_json:
        _print({"low": low, "high": high, "exact": found.exact}, tools)
        return
    span = "no values" if low is None or high is None else f"from {low} to {high}"
    sure = "exactness unknown" if found.exact is None else "exact" if found.exact else "of a sample"
    typer.echo(f"{span}, {sure}")
    _print_sources(tools)


@contextmanager
def _table(of: Question) -> Iterator[AskedTable]:
    with open_metastore(of.metastore) as service:
        yield service.table(of.table)


def _fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise StatementError(f"--at takes fractions from 0 to 1, separated by commas, found {text!r}") from error


def _text(kind: Kind | None, value: PythonValue) -> str:
    """A value as text: dates and times as in ISO 8601 with a space between them, others as in sketches."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if kind is None else frequent_values.items(kind, [value])[0]


def _json_value(kind: Kind | None, value: PythonValue) -> Any:
    """The value for JSON: numbers stay numbers, others become text."""
    return value if kind in (Kind.LONG, Kind.DOUBLE) and math.isfinite(value) else _value_text(kind, value)


def _value_text(kind: Kind | None, value: PythonValue) -> str:
    return str(value) if kind in (Kind.LONG, Kind.DECIMAL) else _text(kind, value)


def _print(answer: dict[str, Any], tools: Sequence[str]) -> None:
    typer.echo(json.dumps({**answer, "tools": list(tools)}, ensure_ascii=False))


def _print_sources(tools: Sequence[str]) -> None:
    """Print which programs made the numbers, if there are several or if they name a version of the table."""
    if are_worth_telling(tools):
        for tool in tools:
            typer.echo(f"from {tool}")
