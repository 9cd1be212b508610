"""The changes between two statistics of one table beyond their stated errors, the largest change first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.row_counts import NUM_ROWS, known_rows
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.history import PastStatistics
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.people.comparison import ComparedNumber, compare

_ERRORS = 3.0
"""Standard errors that two distinct counts may differ by chance (99.7 % of all cases)."""


@dataclass(frozen=True, slots=True)
class Change:
    """A number that changed, of the table itself ("") or of a partition, by an engine."""

    partition: str
    engine: str
    number: ComparedNumber

    @property
    def size(self) -> float:
        """By which factor it changed; infinite if it came, went, or has no factor."""
        return inf if self.number.q_error is None else self.number.q_error


def changes(before: PastStatistics, after: PastStatistics) -> list[Change]:
    """The changes between two times, the largest first."""
    found = list(_changes(before, after))
    return sorted(found, key=lambda each: (-each.size, each.partition, each.number.column or "", each.number.statistic))


def _changes(before: PastStatistics, after: PastStatistics) -> Iterator[Change]:
    olds, news = _by_target(before.sets), _by_target(after.sets)
    for partition in sorted({*before.parameters, *after.parameters}):
        rows = [_rows(side.parameters.get(partition, {})) for side in (before, after)]
        for number in compare(*rows):
            if number.differs:
                yield Change(partition, "", number)
    for partition, engine in sorted({*olds, *news}):
        old, new = (each.get((partition, engine), StatisticsSet(())) for each in (olds, news))
        errors = _errors(old), _errors(new)
        for number in compare(TableStatistics(statistics=old), TableStatistics(statistics=new)):
            if number.column is not None and number.differs and not _within_error(number, *errors):
                yield Change(partition, engine, number)


def _rows(parameters: Parameters) -> TableStatistics:
    return TableStatistics(rows=known_rows(parameters) if NUM_ROWS in parameters else None)


def _by_target(sets: Iterable[StatisticsSet]) -> Mapping[tuple[str, str], StatisticsSet]:
    return {(each.partition or "", each.engine): each for each in sets}


def _errors(found: StatisticsSet) -> Mapping[str, float]:
    """The relative standard error of each column's distinct count; 0 if none is stated."""
    return {each.column: _error(each) for each in found.columns}


def _error(column: ColumnStatistics) -> float:
    made = column.provenance
    return 0.0 if made is None or made.exact else made.ndv_standard_error or 0.0


def _within_error(number: ComparedNumber, old: Mapping[str, float], new: Mapping[str, float]) -> bool:
    """Whether two distinct counts may be of the same number: as far apart as both errors together allow."""
    if number.statistic != "ndv" or number.left is None or number.right is None:
        return False
    column = number.column or ""
    allowed = _ERRORS * (old.get(column, 0.0) * float(number.left) + new.get(column, 0.0) * float(number.right))
    return abs(float(number.left) - float(number.right)) <= allowed
