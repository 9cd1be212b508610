"""`hmstats compare`: the statistics of two tables, partitions or metastores side by side."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from hmstats.cli.statistics_table import print_table
from hmstats.client import Metastore, connect
from hmstats.client.stored import (
    Stored,
    existing_partition,
    existing_table,
    own_statistics,
    stored_partitions,
    stored_table,
)
from hmstats.errors import StatementError
from hmstats.model.catalog import VIRTUAL_VIEW
from hmstats.model.names import table_name
from hmstats.model.table_statistics import TableStatistics
from hmstats.outlets.comparison import Compared, compared
from hmstats.settings import load

_SIDE = (
    "DB.TABLE, DB.TABLE/KEY=VALUE/..., or one behind thrift://HOST:PORT/; thrift://HOST:PORT alone means all tables."
)
_PLACE = re.compile(r"(?:(?P<address>thrift://[^/]+)/?)?(?P<table>[^/]*)(?:/(?P<partition>.+))?")
_DIFFERENT = 1
_UNKNOWN = "-"
Side = tuple[Metastore, str | None, str | None]
Pair = tuple[str, TableStatistics, TableStatistics]


def compare(
    left: Annotated[str, typer.Argument(help=_SIDE, metavar="A")],
    right: Annotated[str, typer.Argument(help="The same.", metavar="B")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each number that differs.")] = False,
    metastore: Annotated[
        str | None, typer.Option(help="The metastore of a side that names none.", metavar="thrift://HOST:PORT")
    ] = None,
) -> None:
    """Print the statistics of two tables, partitions or metastores side by side, with what differs marked.

    The q-error is the factor between two counts. The exit code is 1 when anything differs.
    """
    different = 0
    with ExitStack() as connections:
        sides = [_side(text, metastore, connections) for text in (left, right)]
        whole = sides[0][1] is None
        for title, one, other in _pairs(*sides):
            numbers = [each for each in compared(one, other) if each.differs or not (whole or as_json)]
            different += sum(each.differs for each in numbers)
            if numbers:
                _print_json(title, numbers) if as_json else _print(title, numbers)
    if not as_json:
        typer.echo(f"{different:,} {'number differs' if different == 1 else 'numbers differ'}")
    if different:
        raise typer.Exit(_DIFFERENT)


def _side(text: str, metastore: str | None, connections: ExitStack) -> Side:
    place = _PLACE.fullmatch(text)
    if place is None or not (place["table"] or place["address"]) or (place["partition"] and not place["table"]):
        raise StatementError(f"a side must be {_SIDE.partition(';')[0]}, found {text!r}")
    settings = load({"metastore": place["address"] or metastore})
    service = connections.enter_context(connect(settings.metastore, timeout_seconds=settings.client_seconds))
    return service, place["table"] or None, place["partition"]


def _pairs(left: Side, right: Side) -> Iterator[Pair]:
    if (left[1] is None) != (right[1] is None):
        raise StatementError("compare a metastore with a metastore, or a table with a table")
    if left[1] is not None:
        one, other = _one(left), _one(right)
        yield f"{one.title} and {other.title}", one.whole(), other.whole()
        return
    for database in sorted({*left[0].database_names(), *right[0].database_names()}):
        tables = [{*side[0].table_names(database)} for side in (left, right)]
        for table in sorted(tables[0] | tables[1]):
            yield from _table_pairs(left[0], right[0], database, table)


def _one(side: Side) -> Stored:
    service, table_text, partition = side
    table = existing_table(service, table_text or "")
    if partition is None:
        return stored_table(service, table)
    return next(stored_partitions(service, table, [existing_partition(service, table, partition)]))


def _table_pairs(left: Metastore, right: Metastore, database: str, table: str) -> Iterator[Pair]:
    """The table and its partitions on both sides; what one side does not have knows nothing there."""
    found = [_all(service, database, table) for service in (left, right)]
    for title in {**found[0], **found[1]}:
        yield title, found[0].get(title, TableStatistics()), found[1].get(title, TableStatistics())


def _all(service: Metastore, database: str, name: str) -> dict[str, TableStatistics]:
    table = service.find_table(table_name(database, name))
    if table is None or table.table_type == VIRTUAL_VIEW:
        return {}
    own = own_statistics(service, table)
    names = service.partition_names(table.name) if table.partition_keys else []
    parts = stored_partitions(service, table, names)
    return {each.title: each.whole() for each in (own, *parts)}


def _print(title: str, numbers: list[Compared]) -> None:
    typer.echo(title)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("")
    for name in ("Column", "Statistic"):
        table.add_column(name, overflow="fold")
    for name in ("A", "B", "q-error"):
        table.add_column(name, justify="right", overflow="fold")
    for each in numbers:
        error = "" if each.q_error is None or not each.differs else f"{each.q_error:.3g}"
        mark = "≠" if each.differs else ""
        table.add_row(mark, each.column or "", each.statistic, _text(each.left), _text(each.right), error)
    print_table(table)


def _print_json(title: str, numbers: list[Compared]) -> None:
    for each in numbers:
        row = {"of": title, "column": each.column, "statistic": each.statistic, "left": each.left, "right": each.right}
        typer.echo(json.dumps({**row, "q_error": each.q_error}, ensure_ascii=False))


def _text(value: object) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
