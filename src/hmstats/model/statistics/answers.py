"""Answers from stored sketches to questions about columns, each with its error."""

from dataclasses import dataclass

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.frequent_values import FrequentValues
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.python_values import PythonValue


@dataclass(frozen=True, slots=True)
class DistinctCount:
    """The number of distinct values, nulls left out.

    `standard_error` is relative; the truth lies between `low` and `high`, three standard errors away, with a confidence
    of 99.7 %. These three and `exact` are None if the writer of the number did not state its error.
    """

    count: int
    standard_error: float | None = None
    low: int | None = None
    high: int | None = None
    exact: bool | None = None


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The values below which the asked fractions of all values lie, in the order of the fractions.

    The true quantile of each lies between that of `low` and that of `high`, with a confidence of 99 %: the rank of a
    value is off by `rank_error` at most, a part of `count`, the number of values. `exact`: no value was left out; all
    are rounded to single precision. The service's call answers with floats, dates being days and timestamps seconds
    since 1970-01-01; a table that is asked answers with values of the column's type.
    """

    values: tuple[PythonValue, ...]
    low: tuple[PythonValue, ...]
    high: tuple[PythonValue, ...]
    rank_error: float
    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class ColumnProvenance:
    """The provenance of a column's statistics, of the table (`partition` is None) or of a partition."""

    partition: str | None
    column: str
    engine: str
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class MergedColumn:
    """A column's statistics merged from the sketches of all partitions, None if nothing stored answers.

    `frequent` comes with the column's kind. `written_at_seconds` is when the oldest of its statistics were written;
    `stale_partitions` is the number of partitions in which they are stale.
    """

    column: str
    quantiles: Quantiles | None
    frequent: tuple[Kind, FrequentValues] | None
    distinct: DistinctCount | None
    written_at_seconds: int | None = None
    stale_partitions: int = 0


@dataclass(frozen=True, slots=True)
class RowCount:
    """The number of rows. `exact`: the writers say that nothing has changed since they counted."""

    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest value of a column, None when it has none; of a decimal in its own scale.

    `exact`: every row was looked at; None: the writers did not say.
    """

    low: PythonValue | None
    high: PythonValue | None
    exact: bool | None
