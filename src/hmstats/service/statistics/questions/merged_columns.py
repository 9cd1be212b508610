"""Answers from the sketches of several columns over all partitions of a table, read together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from hmstats.errors import MissingStatistics
from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.parameters.row_counts import NUM_ROWS
from hmstats.model.statistics.answers import DistinctCount, MergedColumn
from hmstats.model.statistics.staleness import why_stale
from hmstats.service.statistics.questions import column_answers
from hmstats.service.statistics.questions.column_answers import COUNTED, ORDERED, only
from hmstats.service.statistics.questions.question_sketches import Outcome, Scope
from hmstats.store.partitions import partitions
from hmstats.store.statistics import details
from hmstats.store.statistics.details import Details
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit.unit import Connection

_LOOKED_AT = (NUM_ROWS, PARAMETER)
_NOTHING: Parameters = {}
Answer = TypeVar("Answer")


def merged_columns(
    connection: Connection,
    scope: Scope,
    columns: Sequence[str],
    counts_of_keys: Mapping[str, DistinctCount],
    fractions: Sequence[float],
    k: int,
) -> tuple[list[MergedColumn], int]:
    """The answers about `columns`, and the number of partitions; the scope has the columns with statistics.

    An answer is None if nothing is stored for it.
    """
    known = _parameters(connection, scope)
    quantiles = _told(column_answers.quantiles(connection, only(scope, ORDERED), fractions))
    frequent = _told(column_answers.frequent(connection, scope, k))
    counts = _told(column_answers.distinct_counts(connection, only(scope, COUNTED))) | dict(counts_of_keys)
    made: dict[str, list[Details]] = defaultdict(list)
    for each in details.read_partitions(connection, scope.target.id, None, list(columns)):
        if each.provenance is not None:
            made[each.column].append(each)
    found = [
        MergedColumn(
            column,
            quantiles.get(column),
            (scope.kinds[column], frequent[column]) if column in frequent else None,
            counts.get(column),
            _oldest(made[column]),
            _stale_partitions(made[column], known),
        )
        for column in columns
    ]
    return found, len(known)


def _told(outcomes: Mapping[str, Outcome[Answer]]) -> dict[str, Answer]:
    """The answers of the columns that have one."""
    return {column: each for column, each in outcomes.items() if not isinstance(each, MissingStatistics)}


def _oldest(made: Iterable[Details]) -> int | None:
    """The time at which the oldest of the statistics were written, in epoch seconds; None if unknown."""
    written = (each.provenance.written_at_seconds for each in made if each.provenance is not None)
    return min((each for each in written if each is not None), default=None)


def _stale_partitions(made: Iterable[Details], known: Mapping[str, Parameters]) -> int:
    """The number of partitions whose statistics are stale: older than their rows."""
    behind = {
        each.partition for each in made if why_stale(each.column, each.provenance, known.get(each.partition or "", {}))
    }
    return len(behind)


def _parameters(connection: Connection, scope: Scope) -> dict[str, Parameters]:
    """The row count and accuracy parameters of each partition, by partition name."""
    ids = partitions.find_ids(connection, scope.target.id, partitions.names(connection, scope.target.id))
    found = parameters.read(connection, OF_PARTITIONS, list(ids.values()), _LOOKED_AT)
    return {partition: found.get(part_id, _NOTHING) for partition, part_id in ids.items()}
