"""`hmstats compare`: the statistics of two tables, partitions, metastores or times side by side."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import typer

from hmstats.cli.actions.compare_sources import FileSource, Parts, Side, Source, side
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.cell_texts import value_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.people.comparison import ComparedNumber, compare
from hmstats.outlets.people.sources import source_lines

Pair = tuple[str, TableStatistics, TableStatistics]


def compare_sides(
    *,
    left: str,
    right: str,
    as_json: bool,
    everything: bool,
    metastore: str | None,
) -> None:
    """Print the differences, or with `everything` all numbers.

    Raises typer.Exit if anything differs, StatementError for a missing side.
    """
    different = 0
    with ExitStack() as connections:
        one, other = (side(text, metastore, connections) for text in (left, right))
        for title, before, after in _pairs(one, other):
            numbers = [each for each in compare(before, after) if each.differs or everything]
            different += sum(each.differs for each in numbers)
            if numbers and as_json:
                _print_json(title, numbers)
            elif numbers:
                _print(title, numbers)
                _print_sources(before, after)
    if not as_json:
        typer.echo(f"{different:,} {'number differs' if different == 1 else 'numbers differ'}")
    if different:
        raise typer.Exit(ExitCode.NO)


def _of_two(one: Side, other: Side) -> bool:
    """Whether two tables or partitions themselves are compared, not everything in two sources."""
    in_file = any(isinstance(each.source, FileSource) for each in (one, other))
    return one.table is not None and not (in_file and one.partition is None and other.partition is None)


def _pairs(one: Side, other: Side) -> Iterator[Pair]:
    if (one.table is None) != (other.table is None):
        raise StatementError("both sides must be metastores, or both tables: found one of each")
    if _of_two(one, other):
        (title, before), (other_title, after) = one.target(), other.target()
        yield f"{title} and {other_title}", before, after
    elif one.table is not None:
        title = one.title if one.title == other.title else f"{one.title} and {other.title}"
        yield from _of_parts(title, one.parts(), other.parts())
    else:
        for name in _names(one.source, other.source):
            yield from _of_parts(name.typed, *(each.source.parts(name) for each in (one, other)))


def _of_parts(title: str, one: Parts, other: Parts) -> Iterator[Pair]:
    """The table and its partitions on both sides; if one side lacks one, its statistics are unknown."""
    for part in {**one, **other}:
        before, after = one.get(part, TableStatistics()), other.get(part, TableStatistics())
        yield f"{title} {part}" if part else title, before, after


def _names(one: Source, other: Source) -> list[TableName]:
    """The tables to compare. If one side is a file, which may have some tables only, just its tables are compared."""
    files = [each for each in (one, other) if isinstance(each, FileSource)]
    sources = files if len(files) == 1 else [one, other]
    return sorted({name for each in sources for name in each.tables()}, key=str)


def _print(title: str, numbers: list[ComparedNumber]) -> None:
    typer.echo(title)
    table = plain_table(["", "Column", "Statistic"], ["A", "B", "q-error"])
    for each in numbers:
        error = "" if each.q_error is None or not each.differs else f"{each.q_error:.3g}"
        mark = "≠" if each.differs else ""
        table.add_row(mark, each.column or "", each.statistic, value_text(each.left), value_text(each.right), error)
    print_table(table)


def _print_sources(before: TableStatistics, after: TableStatistics) -> None:
    """Print which programs made the numbers of each side, where `hmstats show` prints it."""
    for name, side_of in (("A", before), ("B", after)):
        for line in source_lines((each.column, each.tool) for each in side_of.statistics.columns):
            typer.echo(f"{name} {line}")


def _print_json(title: str, numbers: list[ComparedNumber]) -> None:
    for each in numbers:
        row = {"of": title, "column": each.column, "statistic": each.statistic, "left": each.left, "right": each.right}
        tools = {"left_tool": each.left_tool, "right_tool": each.right_tool}
        typer.echo(json.dumps({**row, "q_error": each.q_error, **tools}, ensure_ascii=False))
