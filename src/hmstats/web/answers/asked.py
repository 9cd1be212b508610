"""Questions about a table or some of its partitions, answered from stored statistics."""

from dataclasses import dataclass

from hmstats.web.answers.columns import Frequent, Quantile
from hmstats.web.answers.numbers import Scalar, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The answer to a question; fields that do not belong to the question are absent.

    `count` are rows, distinct values, or the values that quantiles and frequent values are of. The truth of a distinct
    count lies from `low` to `high`, with a confidence of 99.7 %; of bounds, these are the least and the greatest value.
    `exact` is absent if the writers did not say.
    """

    table: str
    column: str | None = None
    count: Whole | None = None
    low: Scalar | None = None
    high: Scalar | None = None
    standard_error: float | None = None
    exact: bool | None = None
    quantiles: tuple[Quantile, ...] = ()
    frequent: tuple[Frequent, ...] = ()
