"""The table that `hmstats show` prints: two lines or more for each column, as wide as the terminal, 80 at least."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from hmstats.cli.output.cell_texts import age, count_text
from hmstats.cli.output.sparkline import bars, shape
from hmstats.cli.output.tables import plain_table
from hmstats.client.tables.merged_statistics import MergedAnswers, staleness
from hmstats.client.tables.stored_statistics import StoredStatistics
from hmstats.errors import StatementError
from hmstats.model.catalog.names import values_of_names
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, StringStatistics, known_ndv
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.describe.column import key_statistics
from hmstats.outlets.people.cells import UNKNOWN, amount, cells
from hmstats.outlets.people.flat_table import bound_text
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.frequent.top_k import TopK

NOTE = "= exact, ~ estimate with its standard error"
MOST_VALUES = 3
_NARROW = 80
_FEWEST_CHARACTERS = 12
"""The characters of a frequent value in a terminal of 80 columns; a wider one shows more."""
_HALF = 0.5
_NOTHING = MergedAnswers(None, None, None)

_KEYS: dict[str, Callable[[ColumnStatistics], Any]] = {
    "column": lambda each: each.column,
    "type": lambda each: each.column_type,
    "nulls": lambda each: each.data.nulls,
    "distinct": lambda each: known_ndv(each.data),
    "min": lambda each: _as_float(getattr(each.data, "low", None)),
    "max": lambda each: _as_float(getattr(each.data, "high", None)),
    "length": lambda each: getattr(each.data, "average_length", None),
    "age": lambda each: _age_order(_provenance(each).written_at_seconds),
}
"""The sort keys of `--sort`; numbers are sorted in descending order."""


def sort_columns(columns: Iterable[ColumnStatistics], key: str | None) -> list[ColumnStatistics]:
    """The columns sorted by a key, those without a value last. Raises StatementError for an unknown key."""
    if key is None:
        return list(columns)
    if key not in _KEYS:
        raise StatementError(f"--sort takes one of {', '.join(_KEYS)}, found {key!r}")
    value = _KEYS[key]
    known = [each for each in columns if value(each) is not None]
    unknown = [each for each in columns if value(each) is None]
    return sorted(known, key=value, reverse=key not in ("column", "type")) + unknown


def show_table(
    found: StoredStatistics,
    columns: Sequence[ColumnStatistics],
    sketches: Mapping[str, MergedAnswers],
    width: int = _NARROW,
) -> Table:
    """A row for each of these columns: type, distinct values, nulls, bounds, shape, frequent values, age.

    `sketches`: merged answers by column, for columns without sketches of their own. `width` is the terminal's.
    """
    table = plain_table()
    table.add_column("Column\ntype", overflow="fold", min_width=8)
    table.add_column("Distinct\nnulls", justify="right", overflow="fold")
    table.add_column("Min\nmax", justify="right", overflow="fold")
    table.add_column("Shape", no_wrap=True)
    table.add_column("Most\nfrequent", overflow="fold")
    table.add_column("Age", justify="right", overflow="fold")
    characters = _FEWEST_CHARACTERS + max(width - _NARROW, 0)
    for column in columns:
        mark = "\nstale" if staleness(column, found, sketches) else ""
        table.add_row(*_row(column, found, sketches.get(column.column, _NOTHING), mark, characters))
    return table


def key_lines(found: StoredStatistics, names: Sequence[str]) -> list[str]:
    """A line for each partition key: its type, and its values in the partitions of these names."""
    keys = found.table.partition_keys
    rows = values_of_names(names, [key.name for key in keys])
    return [_key_line(key, [row[place] for row in rows]) for place, key in enumerate(keys)]


def _key_line(key: Column, values: Sequence[str]) -> str:
    distinct = len(set(values))
    statistics = key_statistics(key, values)
    bounds = cells(statistics) if statistics is not None else None
    span = f" from {bounds.low} to {bounds.high}" if bounds is not None and bounds.low != UNKNOWN else ""
    return f"partition key {key.name} {key.type}: {amount(distinct, 'value')}{span}"


def stale_lines(
    found: StoredStatistics, columns: Iterable[ColumnStatistics], sketches: Mapping[str, MergedAnswers]
) -> list[str]:
    """A sentence for each column whose statistics are stale."""
    reasons = ((column.column, staleness(column, found, sketches)) for column in columns)
    return [f"stale: column {name}, {reason}" for name, reason in reasons if reason]


def _row(
    column: ColumnStatistics, found: StoredStatistics, merged: MergedAnswers, mark: str, characters: int
) -> tuple[str, ...]:
    texts = cells(column)
    made = _provenance(column)
    seconds = made.written_at_seconds or found.statistics.last_analyzed_seconds or merged.written_at_seconds
    nulls = count_text(column.data.nulls)
    low, high = (texts.low, texts.high)
    if isinstance(column.data, StringStatistics):
        low, high = f"avg {texts.average_length}", f"max {texts.max_length}"
    return (
        f"{column.column}\n{column.column_type}",
        f"{_distinct(column, merged)}\n{nulls} null",
        f"{low}\n{high}",
        shape(getattr(column.data, "histogram", None)) or bars(merged.quantiles.values if merged.quantiles else ()),
        _frequent(column, merged, characters),
        f"{age(seconds)}{mark}",
    )


def _distinct(column: ColumnStatistics, merged: MergedAnswers) -> str:
    count = known_ndv(column.data)
    if count is None:
        return UNKNOWN
    made = _provenance(column)
    error = made.ndv_standard_error
    if column.provenance is None and merged.distinct is not None:
        count, error = merged.distinct.count, merged.distinct.standard_error
    if error is None and not made.exact:
        error = bit_vector.standard_error(getattr(column.data, "bit_vector", None))
    if (error is None and not made.exact) or _is_one_number(count, error):
        return f"{count:,}"
    return f"={count:,}" if not error else f"~{count:,} ±{100 * error:.2g}%"


def _is_one_number(count: int, standard_error: float | None) -> bool:
    """Whether no other whole number is within three standard errors of an estimate, so that its error is not shown."""
    return bool(standard_error) and 3 * (standard_error or 0) * count < _HALF


def _frequent(column: ColumnStatistics, merged: MergedAnswers, characters: int) -> str:
    """The most frequent values, each in so many characters, and how often each occurs at most."""
    ranked = TopK.from_bytes(column.top_k).top(MOST_VALUES) if column.top_k else []
    if merged.frequent is not None and not ranked:
        texts = frequent_values.items(column.kind, (each.value for each in merged.frequent.values))
        ranked = [(text, v.low, v.high) for text, v in zip(texts, merged.frequent.values, strict=True)]
    return "\n".join(
        f"{_value(column.kind, text, characters)} {'=' if low == high else '~'}{high:,}" for text, low, high in ranked
    )


def _value(kind: Kind, text: str, characters: int) -> str:
    shown = text
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        shown = bound_text(kind, int(frequent_values.value(kind, text)))
    line = " ".join(shown.split()) or "''"
    return line if len(line) <= characters else f"{line[: characters - 1]}…"


def _provenance(column: ColumnStatistics) -> Provenance:
    return column.provenance or Provenance()


def _age_order(seconds: int | None) -> int | None:
    """A sort key that puts the oldest first."""
    return None if seconds is None else -seconds


def _as_float(value: Any) -> float | None:
    return None if value is None else float(value)
