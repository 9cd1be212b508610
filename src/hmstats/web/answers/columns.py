"""A column's statistics, each number with how sure it is, and what its picture is drawn from."""

from dataclasses import dataclass
from datetime import datetime

from hmstats.web.answers.numbers import Bound, Number, Scalar, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many values lie in each bin: `counts` has one number less than `edges`.

    The least value is in the first bin, the greatest in the last. A count is off by at most `bin_error` x `values`,
    with a confidence of 99 %; 0 when the sketch holds every value. `logarithmic`: the edges grow by a factor.
    `single`: each bin is of one value, its lower edge.
    """

    edges: tuple[Scalar, ...]
    counts: tuple[float, ...]
    values: Whole
    bin_error: float
    logarithmic: bool = False
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequent:
    """A value that occurs at least `low` and at most `high` times."""

    value: Scalar
    low: Whole
    high: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentValues:
    """The most frequent values. Any other value occurs at most `unlisted` times; `count` values are no nulls."""

    values: tuple[Frequent, ...]
    count: Whole
    unlisted: Whole
    exact: bool

    @property
    def sure(self) -> tuple[Frequent, ...]:
        """The values that no value outside of the list can be more frequent than."""
        return tuple(each for each in self.values if each.low >= self.unlisted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """The value below which a fraction of all values lies; the true one lies from `low` to `high`, in 99 % of cases."""

    fraction: float
    value: Scalar
    low: Scalar
    high: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """A column and its statistics, of the table, of its partitions together, or of a selection of them.

    Lengths are in bytes. `written_at` is when the oldest of the statistics were written, `writer` who sent them, `tool`
    the program that made them. `stale` says why they are older than the rows. `is_key`: a partition key.
    """

    name: str
    type: str
    comment: str | None = None
    is_key: bool = False
    nulls: Number | None = None
    distinct: Number | None = None
    least: Bound | None = None
    greatest: Bound | None = None
    trues: Number | None = None
    falses: Number | None = None
    average_length: float | None = None
    greatest_length: Number | None = None
    histogram: Histogram | None = None
    quantiles: tuple[Quantile, ...] = ()
    frequent: FrequentValues | None = None
    written_at: datetime | None = None
    writer: str | None = None
    tool: str | None = None
    stale: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether any statistic of the column is stored."""
        return any(
            each is not None for each in (self.nulls, self.distinct, self.least, self.greatest_length, self.trues)
        )
