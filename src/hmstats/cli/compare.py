"""`hmstats compare`: the statistics of two tables, partitions, metastores or times side by side."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from hmstats.cli.sides import FileSource, Parts, Side, Source, side
from hmstats.cli.statistics_table import print_table
from hmstats.errors import StatementError
from hmstats.model.names import table_name
from hmstats.model.table_statistics import TableStatistics
from hmstats.outlets.comparison import Compared, compared

_SIDE = (
    "DB.TABLE or DB.TABLE/KEY=VALUE/..., alone or behind thrift://HOST:PORT/ or an exported FILE/; "
    "thrift://HOST:PORT or FILE alone means all tables."
)
_DIFFERENT = 1
_UNKNOWN = "-"
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
    """Print the statistics of two tables, partitions, metastores or times side by side, with what differs marked.

    A file that hmstats export wrote is a metastore at that time. The q-error is the factor between two counts. The exit
    code is 1 when anything differs.
    """
    different = 0
    with ExitStack() as connections:
        one, other = (side(text, metastore, connections) for text in (left, right))
        every = not _of_two(one, other)
        for title, before, after in _pairs(one, other):
            numbers = [each for each in compared(before, after) if each.differs or not (every or as_json)]
            different += sum(each.differs for each in numbers)
            if numbers:
                _print_json(title, numbers) if as_json else _print(title, numbers)
    if not as_json:
        typer.echo(f"{different:,} {'number differs' if different == 1 else 'numbers differ'}")
    if different:
        raise typer.Exit(_DIFFERENT)


def _of_two(one: Side, other: Side) -> bool:
    """Whether two tables or partitions are compared as they are, and not all that there is of them."""
    in_file = any(isinstance(each.source, FileSource) for each in (one, other))
    return one.table is not None and not (in_file and one.partition is None and other.partition is None)


def _pairs(one: Side, other: Side) -> Iterator[Pair]:
    if (one.table is None) != (other.table is None):
        raise StatementError("compare a metastore with a metastore, or a table with a table")
    if _of_two(one, other):
        (title, before), (other_title, after) = one.one(), other.one()
        yield f"{title} and {other_title}", before, after
    elif one.table is not None:
        title = one.title if one.title == other.title else f"{one.title} and {other.title}"
        yield from _of_parts(title, one.parts(), other.parts())
    else:
        for database, table in _names(one.source, other.source):
            parts = (each.source.parts(table_name(database, table)) for each in (one, other))
            yield from _of_parts(f"{database}.{table}", *parts)


def _of_parts(title: str, one: Parts, other: Parts) -> Iterator[Pair]:
    """The table and its partitions on both sides; what one side does not have knows nothing there."""
    for part in {**one, **other}:
        before, after = one.get(part, TableStatistics()), other.get(part, TableStatistics())
        yield f"{title} {part}" if part else title, before, after


def _names(one: Source, other: Source) -> Iterator[tuple[str, str]]:
    """The tables of both sides. A file may be of some tables only: beside a metastore, these are compared."""
    files = [each for each in (one, other) if isinstance(each, FileSource)]
    sources = files if len(files) == 1 else [one, other]
    for database in sorted({database for each in sources for database in each.databases()}):
        for table in sorted({table for each in sources for table in each.tables(database)}):
            yield database, table


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
