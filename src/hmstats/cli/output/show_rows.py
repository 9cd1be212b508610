"""The output of `hmstats show` for programs: the rows of outlets/people/flat_table.py, and why each is stale."""

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

import typer

from hmstats.client import Metastore
from hmstats.client.tables.merged_statistics import MergedAnswers, merged_columns, staleness
from hmstats.client.tables.stored_statistics import StoredStatistics
from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.outlets.people.flat_table import FRACTIONS, MOST_TOP_VALUES, SCHEMA, statistics_table


def print_json(service: Metastore, found: Iterable[StoredStatistics]) -> None:
    """Print a JSON object for each row, on a line of its own."""
    for row in _rows(service, found):
        typer.echo(json.dumps(_json_value(row), ensure_ascii=False, allow_nan=False))


def print_csv(service: Metastore, found: Iterable[StoredStatistics]) -> None:
    """Print CSV: the names, then a line for each row; lists are JSON in their field."""
    rows = _rows(service, found)
    first = list(islice(rows, 1))  # read before anything is printed, since the table may be missing
    writer = csv.DictWriter(sys.stdout, [*SCHEMA.names, "stale"], lineterminator="\n")
    writer.writeheader()
    for row in chain(first, rows):
        writer.writerow({name: json.dumps(_json_value(v)) if isinstance(v, list) else v for name, v in row.items()})


def _rows(service: Metastore, found: Iterable[StoredStatistics]) -> Iterator[dict[str, Any]]:
    for each in found:
        columns = [None, *each.statistics.columns]
        answers = merged_columns(service, each, FRACTIONS, MOST_TOP_VALUES)
        for column, row in zip(columns, statistics_table([each.table_statistics()]).to_pylist(), strict=True):
            more = _merged_fields(column, answers[column.column]) if column and column.column in answers else {}
            yield {**row, **more, "stale": column and staleness(column, each, answers)}


def _merged_fields(column: ColumnStatistics, answers: MergedAnswers) -> dict[str, Any]:
    """The statistics of a column merged from the partitions' sketches."""
    row: dict[str, Any] = {}
    if answers.written_at_seconds is not None:
        row["written_at"] = datetime.fromtimestamp(answers.written_at_seconds, UTC)
    if answers.distinct is not None:
        row["distinct_count"] = answers.distinct.count
        row["distinct_count_standard_error"] = answers.distinct.standard_error
    if answers.quantiles is not None:
        row["quantiles"] = list(answers.quantiles.values)
    if answers.frequent is not None:
        values = answers.frequent.values
        texts = frequent_values.items(column.kind, (each.value for each in values))
        row["top_values"] = [
            {"value": text, "low": each.low, "high": each.high} for text, each in zip(texts, values, strict=True)
        ]
    return row


def _json_value(value: Any) -> Any:
    """The value for JSON: times as ISO 8601, infinities as text."""
    if isinstance(value, dict):
        return {name: _json_value(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_json_value(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
