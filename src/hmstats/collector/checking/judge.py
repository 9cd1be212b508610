"""Compares stored numbers with the rows that were read, and finds the wrong ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmstats.collector.checking.report import Tally
from hmstats.collector.checking.seen import Limits, Seen, Truth
from hmstats.collector.checking.sketches import quantiles_truth, top_values
from hmstats.collector.checking.wrong import Wrong
from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.row_counts import row_count
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, known_ndv
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.sketch.distinct import bit_vector

UNSTATED_ERROR = 0.05
"""The standard error of a distinct count if its writer states none: that of Spark's own ANALYZE."""
THETA_ERROR = 1 / 64
"""The standard error of a distinct count of Iceberg's theta sketches, which keep 4,096 hashes."""
_ROUNDING = 1e-9
_BOUNDS = ("low", "high")
_WITHOUT_Q_ERROR = (*_BOUNDS, "histogram")


@dataclass(frozen=True, slots=True)
class _Number:
    """A stored number and the limits of the true one. `span` is the range of the column's values, for bounds."""

    statistic: str
    stored: Any
    truth: Truth
    span: float | None = None


def judge_columns(stored: TableStatistics, seen: Seen, tolerance: float) -> Tally:
    """Judge the stored numbers of a table or a partition, and of its columns that were read.

    `tolerance`: the allowed error beyond the limits, as a fraction of the number, or for a bound of the range of the
    values.
    """
    partition = stored.statistics.partition
    tally = Tally()
    if stored.rows is not None:
        exact = Truth((Limits(seen.state.rows, seen.state.rows),), decided=True)
        tally = _judge_numbers(partition, None, None, [_Number("rows", stored.rows, exact)], tolerance)
    for column in stored.statistics.columns:
        if column.column in seen.state.columns:
            numbers = list(_numbers(column, seen))
            tally = tally.merge(_judge_numbers(partition, column.column, column.kind, numbers, tolerance))
    return tally


def judge_files(partition: str | None, parameters: Parameters, sizes: Sequence[int], tolerance: float) -> Tally:
    """Judge the stored number of files and bytes; `sizes` are those of the existing files."""
    found = {"files": ("numFiles", len(sizes)), "bytes": ("totalSize", sum(sizes))}
    numbers = [
        _Number(statistic, stored, Truth((Limits(count, count),), decided=True))
        for statistic, (parameter, count) in found.items()
        if (stored := row_count(parameters.get(parameter))) is not None
    ]
    return _judge_numbers(partition, None, None, numbers, tolerance)


def judge_registered(counts: Mapping[str, int], seen: Seen, tolerance: float) -> Tally:
    """Judge the distinct counts, by column, that engines have registered in a table's own metadata."""
    tally = Tally()
    for name, count in counts.items():
        truth = seen.distinct(name, THETA_ERROR) if name in seen.state.columns else None
        if truth is None or not truth.limits:
            continue
        number = _Number("registered ndv", count, truth)
        tally = tally.merge(_judge_numbers(None, name, None, [number], tolerance))
    return tally


def _numbers(column: ColumnStatistics, seen: Seen) -> Iterator[_Number]:
    """The known numbers of a column."""
    name, data = column.column, column.data
    found: dict[str, Truth] = {each: seen.count(name, each) for each in ("nulls", "trues", "falses")}
    found |= {each: seen.bound(name, each) for each in _BOUNDS}
    found |= {"max_length": seen.max_length(name), "average_length": seen.average_length(name)}
    found["ndv"] = seen.distinct(name, _stored_error(column))
    for statistic, truth in found.items():
        stored = known_ndv(data) if statistic == "ndv" else getattr(data, statistic, None)
        if stored is not None and truth.limits:
            yield _Number(statistic, stored, truth, seen.span(name) if statistic in _BOUNDS else None)
    yield from _of_sketches(column, seen)


def _of_sketches(column: ColumnStatistics, seen: Seen) -> Iterator[_Number]:
    """The numbers in the column's sketches. Histograms and frequent values are compared only if every row was read."""
    name, data = column.column, column.data
    vector = getattr(data, "bit_vector", None)
    if vector and not bit_vector.is_absent(vector):
        error = bit_vector.standard_error(vector) or 0.0
        yield _Number("bit vector", bit_vector.count(vector), seen.distinct(name, error))
    if seen.unseen(name):
        return
    found = seen.state.columns[name]
    histogram = getattr(data, "histogram", None)
    if histogram and found.kll is not None:
        deviation, truth = quantiles_truth(histogram, found.kll)
        yield _Number("histogram", deviation, truth)
    if column.top_k and found.top_k is not None:
        for statistic, count, truth in top_values(column.top_k, found.top_k):
            yield _Number(statistic, count, truth)


def _stored_error(column: ColumnStatistics) -> float:
    """The relative standard error of the stored distinct count, by its provenance or its bit vector."""
    made = column.provenance
    if made is not None and made.exact:
        return 0.0
    if made is not None and made.ndv_standard_error is not None:
        return made.ndv_standard_error
    error = bit_vector.standard_error(getattr(column.data, "bit_vector", None))
    return UNSTATED_ERROR if error is None else error


def _judge_numbers(
    partition: str | None, column: str | None, kind: Kind | None, numbers: Sequence[_Number], tolerance: float
) -> Tally:
    wrong: list[Wrong] = []
    undecided = 0
    for each in numbers:
        broken = next((limits for limits in each.truth.limits if _is_beyond(each, limits, tolerance)), None)
        if broken is None:
            undecided += not each.truth.decided
            continue
        found = Wrong(partition, column, each.statistic, each.stored, broken, kind)
        wrong.append(found if each.statistic in _WITHOUT_Q_ERROR else found.with_q_error())
    return Tally(checked=len(numbers), undecided=undecided, wrong=tuple(wrong))


def _is_beyond(number: _Number, limits: Limits, tolerance: float) -> bool:
    """Whether a number is outside of limits by more than its tolerance and the rounding of floats."""
    below = limits.low is not None and number.stored < limits.low
    above = limits.high is not None and number.stored > limits.high
    if not (below or above):
        return False
    rounding = _ROUNDING if isinstance(number.stored, float) else 0.0
    if not tolerance and not rounding:
        return True  # integers may be too large for a float
    limit = float(limits.low if below else limits.high)
    scale = abs(limit) if number.span is None else number.span
    return not abs(float(number.stored) - limit) <= rounding * abs(limit) + tolerance * scale
