"""What people and programs see of a check."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.table import Table

from hmstats.cli.statistics_table import print_table
from hmstats.outlets.flat_table import bound_text

if TYPE_CHECKING:
    from hmstats.collector import CheckReport
    from hmstats.collector.checking.report import Wrong

_NOTE = "~ holds with a confidence of 99.7 %, all else for certain"


def print_check(report: "CheckReport") -> None:
    """A table of what is wrong for the table and each partition, and what was compared."""
    name = f"{report.table.database}.{report.table.table}"
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
    """An object for each wrong number; `low` and `high` are what it must not be below and above, null where unknown."""
    for each in report.wrong:
        yield {
            "table": f"{report.table.database}.{report.table.table}",
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
    yield f"{tally.rows_read:,} of {tally.rows:,} rows read; {tally.checked:,} numbers compared, {count:,} wrong"
    if tally.open:
        yield f"{tally.open:,} of them fit what was read, which is too little to say more: --sample 1 reads all"
    if tally.bare:
        yield f"{tally.bare:,} of {tally.targets:,} have no column statistics"


def _table(wrong: "list[Wrong]") -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for name in ("Column", "Statistic"):
        table.add_column(name, overflow="fold")
    for name in ("Stored", "Must be", "Off by", "q-error"):
        table.add_column(name, justify="right", overflow="fold")
    for each in wrong:
        error = "" if each.q_error is None else f"{each.q_error:.3g}"
        limits = f"{'' if each.limits.certain else '~'}{_limits(each)}"
        table.add_row(each.column or "", each.statistic, _text(each, each.stored), limits, _off(each), error)
    return table


def _limits(wrong: "Wrong") -> str:
    low, high = wrong.limits.low, wrong.limits.high
    if low == high:
        return _text(wrong, low)
    if low is None or high is None:
        return f"≤ {_text(wrong, high)}" if low is None else f"≥ {_text(wrong, low)}"
    return f"{_text(wrong, low)} to {_text(wrong, high)}"


def _off(wrong: "Wrong") -> str:
    """How far the stored number is from the nearest it may be; days and seconds of dates and times."""
    off = wrong.stored - wrong.nearest
    return f"{off:+,.4g}" if isinstance(off, float) else f"{off:+,}"


def _text(wrong: "Wrong", value: Any) -> str:
    if _is_bound(wrong) and wrong.kind is not None:
        return bound_text(wrong.kind, value)
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def _value(wrong: "Wrong", value: Any) -> Any:
    """The number as JSON has it; a bound as text."""
    return _text(wrong, value) if _is_bound(wrong) and value is not None else value


def _is_bound(wrong: "Wrong") -> bool:
    return wrong.statistic in ("low", "high")
