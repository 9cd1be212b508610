"""`hmstats show --as-of`: the statistics of a time."""

import json
import time
from collections.abc import Iterator

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.statistics_table import statistics_table
from hmstats.cli.output.tables import print_table
from hmstats.client.naming import named_table
from hmstats.errors import StatementError
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.history import PastStatistics
from hmstats.outlets.people.cells import cells
from hmstats.outlets.people.times import past_ms, shown


def show_past(
    *, table: str, names: list[str] | None, partitions: bool, as_of: str, as_json: bool, metastore: str | None
) -> None:
    """Print the statistics that a table, some of its partitions or all of them had. Raises StatementError."""
    if names and partitions:
        raise StatementError("show takes --partition or --partitions, found both")
    at_ms = past_ms("--as-of", as_of, time.time())
    wanted = names or ([] if partitions else None)
    with open_metastore(metastore) as service:
        found = service.past.past(named_table(table), at_ms, partitions=wanted)
    for title, place, sets in _places(table, found):
        rows = known_rows(found.parameters.get(place, {}))
        if as_json:
            _print_json(title, found.at_ms, rows, sets)
            continue
        typer.echo(f"{title} as of {shown(found.at_ms)}: {'rows unknown' if rows is None else f'{rows:,} rows'}")
        if not sets:
            typer.echo("no column statistics")
        for each in sets:
            print_table(statistics_table(each.columns))


def _places(table: str, found: PastStatistics) -> Iterator[tuple[str, str, list[StatisticsSet]]]:
    """The title, the partition ("": the table itself) and the sets of each place."""
    names = dict.fromkeys([*found.parameters, *(each.partition or "" for each in found.sets)])
    for name in sorted(names) or [""]:
        sets = [each for each in found.sets if (each.partition or "") == name]
        yield f"{table} {name}" if name else table, name, sets


def _print_json(title: str, at_ms: int, rows: int | None, sets: list[StatisticsSet]) -> None:
    for each in sets:
        for column in each.columns:
            values = cells(column)
            row = {"of": title, "at": shown(at_ms), "rows": rows, "engine": each.engine, "column": column.column}
            row |= {"type": column.column_type, "nulls": values.nulls, "ndv": values.ndv}
            typer.echo(json.dumps({**row, "min": values.low, "max": values.high}, ensure_ascii=False))
