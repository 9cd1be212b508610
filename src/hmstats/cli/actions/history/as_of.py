"""`hmstats show --as-of`: the statistics of a time."""

import json
import time
from collections.abc import Iterable, Iterator

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.statistics_table import statistics_table
from hmstats.cli.output.tables import print_table
from hmstats.client import Metastore
from hmstats.client.asked.partition_names import existing_names
from hmstats.client.naming import named_table
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.row_counts import NUM_ROWS, known_rows
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.history import PastStatistics
from hmstats.outlets.people.cells import amount, cells
from hmstats.outlets.people.times import past_ms, utc_text
from hmstats.web.reading.as_of import past_table


def show_past(
    *, table: str, names: list[str] | None, partitions: bool, as_of: str, as_json: bool, metastore: str | None
) -> None:
    """Print the statistics that a table, some of its partitions or all of them had. Those of a table are merged from
    its partitions if it had none of its own.

    Raises StatementError for a partition that neither exists nor had statistics at the time.
    """
    if names and partitions:
        raise StatementError("show takes --partition or --partitions, found both")
    at_ms, name = past_ms("--as-of", as_of, time.time()), named_table(table)
    with open_metastore(metastore) as service:
        if names:
            names, found = _past_of_partitions(service, name, at_ms, names)
        else:
            found = service.past.past(name, at_ms, partitions=[] if partitions else None)
            if not partitions and not found.sets:
                found = _merge_partitions(service, name, found)
    for title, place, sets in _places(table, names or (), found):
        rows = known_rows(found.parameters.get(place, {}))
        if as_json:
            _print_json(title, found.at_ms, rows, sets)
            continue
        typer.echo(f"{title} as of {utc_text(found.at_ms)}: {'rows unknown' if rows is None else amount(rows, 'row')}")
        if not sets:
            typer.echo("no column statistics")
        for each in sets:
            print_table(statistics_table(each.columns))


def _merge_partitions(service: Metastore, name: TableName, own: PastStatistics) -> PastStatistics:
    """The statistics of a table's partitions together, as those of now are shown; its own if it has no partitions."""
    table = service.find_table(name)
    if table is None or not table.partition_keys:
        return own
    columns = [each.name for each in table.columns]
    stored, counts, _ = past_table(service, table, own.at_ms, columns)
    parameters = dict(own.parameters.get("", {}))
    if counts.rows is not None:
        parameters[NUM_ROWS] = str(counts.rows.value)
    sets = [stored.statistics] if stored.statistics.columns else []
    return PastStatistics(own.at_ms, sets, {"": parameters})


def _past_of_partitions(
    service: Metastore, table: TableName, at_ms: int, names: list[str]
) -> tuple[list[str], PastStatistics]:
    """The stored names of partitions, and their statistics. Dropped partitions have their former names."""
    found = service.past.past(table, at_ms, partitions=names)
    known = _names_in(found)
    others = [each for each in names if each not in known]
    if not others:
        return names, found
    stored = existing_names(service, service.existing_table(table), others)
    every = [*(each for each in names if each in known), *stored]
    return every, service.past.past(table, at_ms, partitions=every)


def _names_in(found: PastStatistics) -> set[str]:
    """The names of the partitions that have statistics or parameters in the answer; "" is the table itself."""
    return {*found.parameters, *(each.partition or "" for each in found.sets)}


def _places(table: str, asked: Iterable[str], found: PastStatistics) -> Iterator[tuple[str, str, list[StatisticsSet]]]:
    """The title, the partition ("": the table itself) and the sets of each place, those that were asked for too."""
    for name in sorted({*asked, *_names_in(found)}) or [""]:
        sets = [each for each in found.sets if (each.partition or "") == name]
        yield f"{table} {name}" if name else table, name, sets


def _print_json(title: str, at_ms: int, rows: int | None, sets: list[StatisticsSet]) -> None:
    for each in sets:
        for column in each.columns:
            values = cells(column)
            row = {"of": title, "at": utc_text(at_ms), "rows": rows, "engine": each.engine, "column": column.column}
            row |= {"type": column.column_type, "nulls": values.nulls, "ndv": values.ndv}
            typer.echo(json.dumps({**row, "min": values.low, "max": values.high}, ensure_ascii=False))
