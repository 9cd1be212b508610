"""`hmstats history`: when a table's statistics were written, by whom, and what changed."""

import json
from collections.abc import Sequence

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.client import Metastore
from hmstats.client.naming import named_table
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.history import PastWrite
from hmstats.outlets.people.times import utc_text

_MOST_NAMES = 3


def print_history(*, table: str, column: str | None, most: int, as_json: bool, metastore: str | None) -> None:
    """Print the last writes of a table, newest first. Raises StatementError for a missing column."""
    with open_metastore(metastore) as service:
        found = service.past.history(named_table(table), column, most)
        if column is not None and not _names_column(found.writes, column):
            _check_column(service, named_table(table), column, found.writes)
    if as_json:
        for each in found.writes:
            typer.echo(json.dumps(_row(each), ensure_ascii=False))
        return
    rows = plain_table(["When", "Who", "How", "What", "Columns", "Of"])
    for each in found.writes:
        of = _some(each.partitions) or each.table.table
        rows.add_row(
            utc_text(each.at_ms), each.writer or "", each.call or "", ", ".join(each.kinds), _some(each.columns), of
        )
    print_table(rows)
    typer.echo(f"oldest time that can be asked for: {utc_text(found.oldest_ms)}")
    typer.echo(f"history of all tables: {found.size_bytes:,} bytes")


def _names_column(writes: Sequence[PastWrite], column: str) -> bool:
    """Whether any of the writes names the column: a restore of a whole table names none."""
    return any(column.lower() == each.lower() for write in writes for each in write.columns)


def _check_column(service: Metastore, table: TableName, column: str, writes: Sequence[PastWrite]) -> None:
    """Raises StatementError for a column that the table does not have; a dropped table has had any."""
    if not writes or service.find_table(table) is not None:
        service.table(table).column(column)


def _row(write: PastWrite) -> dict[str, object]:
    return {
        "at": utc_text(write.at_ms),
        "table": write.table.typed,
        "writer": write.writer,
        "call": write.call,
        "kinds": write.kinds,
        "columns": write.columns,
        "partitions": write.partitions,
    }


def _some(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
