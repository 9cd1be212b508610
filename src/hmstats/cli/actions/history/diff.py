"""`hmstats diff`: what changed in a table's statistics between two times, the largest change first."""

import json
import time
from math import isinf

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.cell_texts import value_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.client.naming import named_table
from hmstats.errors import StatementError
from hmstats.model.statistics.history import PastStatistics
from hmstats.outlets.people.changes import Change, changes
from hmstats.outlets.people.times import past_ms, utc_text


def print_diff(*, table: str, since: str | None, until: str | None, as_json: bool, metastore: str | None) -> None:
    """Print changes beyond the stated errors. `since` is before the last write by default, `until` now.

    Raises StatementError if `since` is later than `until`, typer.Exit if anything changed.
    """
    now, name = time.time(), named_table(table)
    with open_metastore(metastore) as service:
        from_ms = service.past.before_last_ms(name) if since is None else past_ms("--from", since, now)
        to_ms = None if until is None else past_ms("--to", until, now)
        _check_order(from_ms, int(now * 1000) if to_ms is None else to_ms)
        before, after = service.past.past_of_all(name, from_ms), service.past.past_of_all(name, to_ms)
    print_changes(f"{table} from {utc_text(before.at_ms)} to {utc_text(after.at_ms)}", before, after, as_json=as_json)


def _check_order(from_ms: int | None, to_ms: int) -> None:
    if from_ms is not None and from_ms > to_ms:
        raise StatementError(f"--from must not be later than --to, found {utc_text(from_ms)} and {utc_text(to_ms)}")


def print_changes(title: str, before: PastStatistics, after: PastStatistics, *, as_json: bool) -> None:
    """Print the changes from one state of statistics to another. Raises typer.Exit if anything changed."""
    found = changes(before, after)
    for each in found if as_json else ():
        typer.echo(json.dumps(_row(each), ensure_ascii=False))
    if not as_json:
        _print(title, found)
    if found:
        raise typer.Exit(ExitCode.NO)


def _print(title: str, found: list[Change]) -> None:
    typer.echo(title)
    rows = plain_table(["Partition", "Column", "Statistic"], ["From", "To", "Factor"])
    for each in found:
        number = each.number
        factor = "" if isinf(each.size) else f"{each.size:.3g}"
        rows.add_row(
            each.partition,
            number.column or "",
            number.statistic,
            value_text(number.left),
            value_text(number.right),
            factor,
        )
    if found:
        print_table(rows)
    typer.echo(f"{len(found):,} {'number has' if len(found) == 1 else 'numbers have'} changed beyond the stated errors")


def _row(change: Change) -> dict[str, object]:
    number = change.number
    return {
        "partition": change.partition or None,
        "engine": change.engine or None,
        "column": number.column,
        "statistic": number.statistic,
        "from": number.left,
        "to": number.right,
        "factor": None if isinf(change.size) else change.size,
    }
