"""Answers about columns from their sketches: distinct counts, quantiles, frequent values.

Each function takes columns of kinds that have such an answer, all at once, and returns MissingStatistics for a column
without stored sketches.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar, cast

from hmstats.errors import MissingStatistics
from hmstats.model.statistics.answers import DistinctCount, Quantiles
from hmstats.model.statistics.column_statistics import Kind, StatisticsSet, known_ndv
from hmstats.model.statistics.frequent_values import FrequentValues
from hmstats.model.statistics.provenance import Provenance
from hmstats.service.statistics import details as beside
from hmstats.service.statistics.questions import question_sketches
from hmstats.service.statistics.questions.question_sketches import Outcome, Scope
from hmstats.sketch.answers import read_frequent, read_quantiles
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.frequent.top_k import TopK
from hmstats.store.statistics import column_statistics, details
from hmstats.store.statistics.details import Details
from hmstats.store.unit.unit import Connection

COUNTED = frozenset(Kind) - {Kind.BINARY}
"""Kinds whose distinct values are counted."""
ORDERED = frozenset(Kind) - {Kind.BOOLEAN, Kind.STRING, Kind.BINARY}
"""Kinds that have quantiles."""
_STANDARD_ERRORS = 3
"""Half the width of an estimate's interval, in standard errors: it contains the exact value in 99.7 % of all cases."""
Sketch = TypeVar("Sketch")
Answer = TypeVar("Answer")


def distinct_counts(connection: Connection, scope: Scope) -> dict[str, Outcome[DistinctCount]]:
    """The distinct count of each column in the scope."""
    booleans, others = _divide(scope)
    counts = _answer(question_sketches.booleans, connection, booleans, lambda _, each: exact_count(len(each.top())))
    counts |= _stored_counts(connection, others)
    rest = replace(others, kinds={column: kind for column, kind in others.kinds.items() if column not in counts})
    return counts | _answer(question_sketches.bit_vectors, connection, rest, lambda _, each: _count_of_vector(each))


def quantiles(connection: Connection, scope: Scope, fractions: Sequence[float]) -> dict[str, Outcome[Quantiles]]:
    """The quantiles of each column at these fractions (0 to 1); empty for a column without values."""
    return _answer(question_sketches.histograms, connection, scope, lambda _, each: read_quantiles(each, fractions))


def frequent_values_of(connection: Connection, scope: Scope, k: int) -> dict[str, Outcome[FrequentValues]]:
    """Each column's `k` most frequent values."""
    booleans, others = _divide(scope)

    def make_values(column: str, sketch: TopK) -> FrequentValues:
        return read_frequent(scope.kinds[column], sketch, k)

    found = _answer(question_sketches.booleans, connection, booleans, make_values)
    return found | _answer(question_sketches.top_k, connection, others, make_values)


def exact_count(count: int) -> DistinctCount:
    """A distinct count that is exact."""
    return DistinctCount(count, 0.0, count, count, exact=True)


def restrict(scope: Scope, kinds: Collection[Kind]) -> Scope:
    """The scope restricted to columns of these kinds."""
    return replace(scope, kinds={column: kind for column, kind in scope.kinds.items() if kind in kinds})


def _divide(scope: Scope) -> tuple[Scope, Scope]:
    """The scope's boolean columns, and all others."""
    return restrict(scope, {Kind.BOOLEAN}), restrict(scope, frozenset(Kind) - {Kind.BOOLEAN})


def _answer(
    question: Callable[[Connection, Scope], Mapping[str, Outcome[Sketch]]],
    connection: Connection,
    scope: Scope,
    make: Callable[[str, Sketch], Answer],
) -> dict[str, Outcome[Answer]]:
    """Answers made from each column's sketch; reads nothing if there are no columns."""
    outcomes = question(connection, scope) if scope.kinds else {}
    return {
        column: each if isinstance(each, MissingStatistics) else make(column, each) for column, each in outcomes.items()
    }


def _stored_counts(connection: Connection, scope: Scope) -> dict[str, Outcome[DistinctCount]]:
    """The stored distinct counts, if the scope is one partition or an unpartitioned table.

    Omits a column if its count is unknown, or if its bit vector answers better.
    """
    columns, engine = list(scope.kinds), scope.engine if scope.only else None
    if not columns or (scope.partitioned and (scope.partitions is None or len(scope.partitions) != 1)):
        return {}
    if scope.partitioned:
        sets = column_statistics.read_columns_of_partitions(
            connection, scope.target.id, scope.partitions, columns, engine, sketches=True
        )
        stored_details = [*details.read_partitions(connection, scope.target.id, scope.partitions, columns)]
    else:
        sets = column_statistics.read_columns_of_table(connection, scope.target.id, columns, engine)
        stored_details = details.read_table(connection, scope.target.id, columns)
    by_column = _by_column(stored_details)
    counts = {
        column: _stored_count([one for some in of_column.values() for one in some], by_column.get(column, []), scope)
        for column, of_column in sets.items()
    }
    return {column: count for column, count in counts.items() if count is not None}


def _by_column(stored_details: Sequence[Details]) -> dict[str, list[Details]]:
    column = attrgetter("column")
    return {name: list(some) for name, some in groupby(sorted(stored_details, key=column), key=column)}


def _stored_count(
    sets: Sequence[StatisticsSet], stored_details: Sequence[Details], scope: Scope
) -> DistinctCount | None:
    column = question_sketches.choose(beside.attach(sets, stored_details), scope.engine)
    ndv = known_ndv(column.data) if column else None
    if column is None or ndv is None:
        return None
    provenance, data = column.provenance or Provenance(), cast("Any", column.data)
    if provenance.exact:
        return exact_count(ndv)
    return None if data.bit_vector else _estimated(ndv, provenance.ndv_standard_error, provenance.exact)


def _count_of_vector(vector: bytes | None) -> DistinctCount:
    if vector is None:
        return exact_count(0)
    return _estimated(bit_vector.count(vector), bit_vector.standard_error(vector), exact=False)


def _estimated(count: int, error: float | None, exact: bool | None) -> DistinctCount:  # noqa: FBT001
    if error is None:
        return DistinctCount(count, exact=exact)
    distance = round(_STANDARD_ERRORS * error * count)
    return DistinctCount(count, error, max(0, count - distance), count + distance, exact)
