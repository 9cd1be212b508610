"""The output of `hmstats list`, for people and for programs."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from hmstats.cli.output.cell_texts import age, count_text
from hmstats.cli.output.tables import plain_table
from hmstats.client.tables.listing import ListedTable
from hmstats.outlets.people.cells import UNKNOWN

_DETAILS = 4
"""The columns of details."""


def list_table(tables: Iterable[ListedTable], *, details: bool) -> Table:
    """A row for each table: rows, and how many of its columns, and of its partitions, have statistics."""
    titles = [
        "Rows",
        "Columns",
        "Accurate\ncolumns",
        *(["Analyzed\ncolumns", "Partitions", "Analyzed\npartitions", "Age"] if details else []),
    ]
    shown = plain_table(["Table", "Partitioned by"], titles)
    for each in tables:
        keys = ", ".join(key.name for key in each.table.partition_keys)
        counts = (each.rows, len(each.columns), len(each.accurate))
        shown.add_row(each.table.name.typed, keys, *map(count_text, counts), *(_details(each) if details else ()))
    return shown


def _details(listed: ListedTable) -> list[str]:
    found = listed.details
    if found is None:
        return [UNKNOWN] * _DETAILS
    counts = (len(found.columns), found.partitions, found.analyzed_partitions)
    return [*map(count_text, counts), age(found.written_at_seconds)]


def as_json_row(listed: ListedTable) -> dict[str, Any]:
    """The table for programs; with details, also what has statistics, and when these were last written."""
    row = {
        "table": listed.table.name.typed,
        "partition_keys": [key.name for key in listed.table.partition_keys],
        "rows": listed.rows,
        "columns": listed.columns,
        "accurate_columns": listed.accurate,
    }
    found = listed.details
    if found is None:
        return row
    seconds = found.written_at_seconds
    return row | {
        "analyzed_columns": list(found.columns),
        "partitions": found.partitions,
        "analyzed_partitions": found.analyzed_partitions,
        "written_at": None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(),
    }
