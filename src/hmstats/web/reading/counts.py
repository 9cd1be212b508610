"""Rows, bytes and files in the parameters of a table or a partition, as numbers that say how sure they are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import NUM_FILES, TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS, row_count
from hmstats.web.answers.numbers import Certainty, Number


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows, bytes and files, None where unknown."""

    rows: Number | None
    size_bytes: Number | None
    files: Number | None


def counts_of(parameters: Parameters) -> Counts:
    """The counts of a table or a partition. They are exact if a writer marked the basic statistics as accurate."""
    exact = Accurate.parse(parameters.get(PARAMETER)).basic
    return Counts(
        *(count_number(row_count(parameters.get(each)), exact=exact) for each in (NUM_ROWS, TOTAL_SIZE, NUM_FILES))
    )


def count_number(value: int | None, *, exact: bool) -> Number | None:
    """A count as a number; None when it is unknown."""
    if value is None:
        return None
    return Number(value=value, certainty=Certainty.EXACT if exact else Certainty.UNSAID)


def sums_of(parameters: Iterable[Mapping[str, str]]) -> Counts:
    """The counts of partitions together; a count that one of them lacks is unknown."""
    every = list(parameters)
    exact = all(Accurate.parse(each.get(PARAMETER)).basic for each in every)
    sums = [_sum(row_count(each.get(name)) for each in every) for name in (NUM_ROWS, TOTAL_SIZE, NUM_FILES)]
    return Counts(*(count_number(each, exact=exact) for each in sums))


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for each in values:
        if each is None:
            return None
        total += each
    return total
