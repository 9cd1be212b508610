"""The options of an analysis: what it computes, how exactly, and with how many tasks."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from hmstats.errors import InvalidInput, StatementError
from hmstats.model.preferences.values import PUFFIN_COLUMNS, PUFFIN_TEXT, parse_value
from hmstats.sketch.distinct.hive_hll import DEFAULT_P

LEAST_PRECISION, MOST_PRECISION = 10, 14


class Sketches(NamedTuple):
    """The sketches that are made of a column."""

    distinct: bool = True
    histogram: bool = True
    top_k: bool = True

    @property
    def text(self) -> str:
        """The names of the sketches, or `bounds`."""
        return "+".join(name for name, made in zip(self._fields, self, strict=True) if made) or "bounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an analysis. Row counts, nulls, bounds, lengths and trues are always computed.

    `sample_fraction`: the fraction of the data that is read, by row groups of Parquet files and by rows of anything
    else. `distinct`: count distinct values, with bit vectors of 2^`precision` registers. `histogram`, `top_k`: make
    these sketches. `by_column`: the sketches of columns that differ from the others. `puffin_columns`: the columns of
    Iceberg tables whose distinct counts go into a Puffin file: `text` (texts and bytes: those of others mislead Spark's
    cost-based optimizer), `all`, `none`, or names separated by commas. `most_tasks`: the most tasks that the work is
    split into, so that no more run at once; None: by the number of cores. Raises StatementError for an invalid value.
    """

    sample_fraction: float = 1.0
    distinct: bool = True
    histogram: bool = True
    top_k: bool = True
    precision: int = DEFAULT_P
    most_tasks: int | None = None
    by_column: Mapping[str, Sketches] = field(default_factory=dict)
    puffin_columns: str = PUFFIN_TEXT

    def __post_init__(self) -> None:
        if not 0 < self.sample_fraction <= 1:
            raise StatementError(
                f"a sample must be more than 0 and at most 1 of the rows, found {self.sample_fraction}"
            )
        if not LEAST_PRECISION <= self.precision <= MOST_PRECISION:
            allowed = f"from {LEAST_PRECISION} to {MOST_PRECISION}"
            raise StatementError(f"the precision of bit vectors must be {allowed}, found {self.precision}")
        if self.most_tasks is not None and self.most_tasks < 1:
            raise StatementError(f"an analysis must have at least 1 task, found {self.most_tasks}")
        try:
            object.__setattr__(self, "puffin_columns", parse_value(PUFFIN_COLUMNS, self.puffin_columns))
        except InvalidInput as error:
            raise StatementError(str(error)) from error

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
        others = "".join(f" {name}={self.by_column[name].text}" for name in sorted(self.by_column))
        return f"sample={self.sample_fraction} precision={self.precision} {self._usual.text}{others}"

    def sketches_of(self, column: str) -> Sketches:
        """The sketches that are made of a column."""
        return self.by_column.get(column, self._usual)

    @property
    def _usual(self) -> Sketches:
        return Sketches(self.distinct, self.histogram, self.top_k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options that a caller gives, as in Options; None leaves an option to the table's preferences.

    Raises StatementError for an invalid value.
    """

    sample_fraction: float | None = None
    distinct: bool | None = None
    histogram: bool | None = None
    top_k: bool | None = None
    precision: int | None = None
    most_tasks: int | None = None
    puffin_columns: str | None = None

    def __post_init__(self) -> None:
        # A wrong value is the caller's error, and is found before preferences are read and Spark starts.
        Options(**{name: value for name, value in asdict(self).items() if value is not None})


DEFAULT = Options()
AS_PREFERRED = Choices()
