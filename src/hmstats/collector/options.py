"""The options of an analysis: what it computes, how exactly, and with how many tasks."""

from dataclasses import dataclass

from hmstats.errors import StatementError
from hmstats.sketch.distinct.hive_hll import DEFAULT_P

LEAST_PRECISION, MOST_PRECISION = 10, 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an analysis is done. Row counts, nulls, bounds, lengths and trues are always made.

    `sample_fraction`: the part of the data that is read, by row groups of Parquet files and by rows of anything else.
    `distinct`: count distinct values, with bit vectors of 2^`precision` registers. `histogram`, `top_k`: make these.
    `most_tasks`: the most tasks that the work is split into, so that no more run at once; None: by the number of cores.
    Raises StatementError for an invalid value.
    """

    sample_fraction: float = 1.0
    distinct: bool = True
    histogram: bool = True
    top_k: bool = True
    precision: int = DEFAULT_P
    most_tasks: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.sample_fraction <= 1:
            raise StatementError(f"a sample is more than 0 and at most 1 of the rows, found {self.sample_fraction}")
        if not LEAST_PRECISION <= self.precision <= MOST_PRECISION:
            raise StatementError(
                f"the precision of bit vectors is from {LEAST_PRECISION} to {MOST_PRECISION}, found {self.precision}"
            )
        if self.most_tasks is not None and self.most_tasks < 1:
            raise StatementError(f"an analysis has 1 task or more, found {self.most_tasks}")

    @classmethod
    def bounds_only(cls, *, sample_fraction: float = 1.0, most_tasks: int | None = None) -> "Options":
        """No sketches: row counts, nulls, bounds, lengths and trues."""
        return cls(sample_fraction=sample_fraction, distinct=False, histogram=False, top_k=False, most_tasks=most_tasks)

    @property
    def sampled(self) -> bool:
        """Whether only a part of the data is read."""
        return self.sample_fraction < 1

    @property
    def identity(self) -> str:
        """The options that affect results, as a text: equal texts and data give equal statistics."""
        sketches = [name for name in ("distinct", "histogram", "top_k") if getattr(self, name)]
        return f"sample={self.sample_fraction} precision={self.precision} {'+'.join(sketches) or 'bounds'}"


DEFAULT = Options()
