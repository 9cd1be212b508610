"""What the sketches of all partitions of a table say of its columns together. Only hmstats unites them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hmstats.client.metastore import Metastore
from hmstats.errors import CallRefused
from hmstats.model.answers import DistinctCount, Quantiles
from hmstats.model.catalog import TableName
from hmstats.model.frequent_values import FrequentValues

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class United:
    """The answers about a column, None where nothing stored answers."""

    quantiles: Quantiles | None
    frequent: FrequentValues | None
    distinct: DistinctCount | None


def united(service: Metastore, name: TableName, column: str, fractions: Sequence[float], k: int) -> United:
    """The quantiles at these fractions, the `k` most frequent values, and the distinct count with its error."""
    return United(
        _answer(lambda: service.quantiles(name, column, fractions)),
        _answer(lambda: service.top_k(name, column, k)),
        _answer(lambda: service.distinct_count(name, column)),
    )


def _answer(question: Callable[[], Answer]) -> Answer | None:
    try:
        return question()
    except CallRefused:
        return None
