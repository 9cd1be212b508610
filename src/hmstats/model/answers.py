"""Answers to questions that stored sketches answer without a look at the data, each with how far it may be off."""

from dataclasses import dataclass
from decimal import Decimal

from hmstats.model.provenance import Provenance


@dataclass(frozen=True, slots=True)
class DistinctCount:
    """The number of distinct values, nulls left out.

    `standard_error` is relative; the truth lies between `low` and `high`, three standard errors away, with a confidence
    of 99.7 %. Unknown (None) are these three, and `exact`, where the number comes from a writer who did not say.
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
    value is off by `rank_error` at most, a part of `count`, the number of values. Dates are days and timestamps seconds
    since 1970-01-01. `exact`: no value was left out; all are rounded to single precision.
    """

    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    rank_error: float
    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class ColumnProvenance:
    """Where the statistics of a column of the table (`partition` is None) or of a partition come from."""

    partition: str | None
    column: str
    engine: str
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class RowCount:
    """The number of rows. `exact`: the writers say that nothing has changed since they counted."""

    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest value of a column, None when it has none; of a decimal in its own scale.

    Dates are days and timestamps seconds since 1970-01-01. `exact`: every row was looked at; None: the writers did not
    say.
    """

    low: int | float | Decimal | str | None
    high: int | float | Decimal | str | None
    exact: bool | None
