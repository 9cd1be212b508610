"""The output of a check, for people and for programs."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from hmstats.cli.output.tables import plain_table, print_table
from hmstats.outlets.people.cells import amount

if TYPE_CHECKING:
    from hmstats.collector import CheckReport
    from hmstats.collector.checking.wrong import Wrong

_NOTE = "~ holds with a confidence of 99.7 %, all else for certain"


def print_check(report: "CheckReport") -> None:
    """Print a table of the wrong numbers of the table and each partition, and how many were compared."""
    name = report.table.typed
    for partition, wrong in groupby(report.wrong, key=lambda each: each.partition):
        typer.echo(f"{name} {partition}" if partition else name)
        print_table(_table(list(wrong)))
    if any(not each.limits.certain for each in report.wrong):
        typer.echo(_NOTE)
    for column, reason in report.skipped.items():
        typer.echo(f"left out: column {column} of {name}, {reason}")
    for line in _summary(report):
        typer.echo(line)


def rows(report: "CheckReport") -> Iterator[dict[str, Any]]:
    """An object for each wrong number; `low` and `high` are its limits, null if unknown."""
    for each in report.wrong:
        yield {
            "table": report.table.typed,
            "partition": each.partition,
            "column": each.column,
            "statistic": each.statistic,
            "stored": _value(each, each.stored),
            "low": _value(each, each.limits.low),
            "high": _value(each, each.limits.high),
            "q_error": each.q_error,
            "certain": each.limits.certain,
        }


def _summary(report: "CheckReport") -> Iterator[str]:
    tally = report.tally
    count = len(tally.wrong)
    checked = amount(tally.checked, "number")
    yield f"{tally.rows_read:,} of {tally.rows:,} rows read; {checked} compared, {count:,} wrong"
    if tally.undecided:
        yield f"{tally.undecided:,} of them fit what was read, which is too little to say more: --sample 1 reads all"
    if tally.without_statistics:
        yield f"{tally.without_statistics:,} of {tally.targets:,} have no column statistics"


def _table(wrong: "list[Wrong]") -> Table:
    table = plain_table(["Column", "Statistic"], ["Stored", "Must be", "Off by", "q-error"])
    for each in wrong:
        table.add_row(*each.texts()[1:])
    return table


def _value(wrong: "Wrong", value: Any) -> Any:
    """The number for JSON; a bound as text."""
    return wrong.value_text(value) if wrong.is_bound and value is not None else value
