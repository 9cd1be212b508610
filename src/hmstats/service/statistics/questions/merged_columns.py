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
from hmstats.service.statistics.questions.column_answers import COUNTED, ORDERED, restrict
from hmstats.service.statistics.questions.question_sketches import Outcome, Scope
from hmstats.store.partitions import partitions
from hmstats.store.statistics import details
from hmstats.store.statistics.details import Details
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit.unit import Connection

_PARAMETERS_READ = (NUM_ROWS, PARAMETER)
_NO_PARAMETERS: Parameters = {}
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
    partition_parameters = _parameters(connection, scope)
    quantiles = _answers_only(column_answers.quantiles(connection, restrict(scope, ORDERED), fractions))
    frequent = _answers_only(column_answers.frequent_values_of(connection, scope, k))
    counts = _answers_only(column_answers.distinct_counts(connection, restrict(scope, COUNTED))) | dict(counts_of_keys)
    with_provenance: dict[str, list[Details]] = defaultdict(list)
    for each in details.read_partitions(connection, scope.target.id, None, list(columns)):
        if each.provenance is not None:
            with_provenance[each.column].append(each)
    merged = [
        MergedColumn(
            column,
            quantiles.get(column),
            (scope.kinds[column], frequent[column]) if column in frequent else None,
            counts.get(column),
            _oldest(with_provenance[column]),
            _stale_partitions(with_provenance[column], partition_parameters),
        )
        for column in columns
    ]
    return merged, len(partition_parameters)


def _answers_only(outcomes: Mapping[str, Outcome[Answer]]) -> dict[str, Answer]:
    """The answers of the columns that have one."""
    return {column: each for column, each in outcomes.items() if not isinstance(each, MissingStatistics)}


def _oldest(with_provenance: Iterable[Details]) -> int | None:
    """The time at which the oldest of the statistics were written, in epoch seconds; None if unknown."""
    written = (each.provenance.written_at_seconds for each in with_provenance if each.provenance is not None)
    return min((each for each in written if each is not None), default=None)


def _stale_partitions(with_provenance: Iterable[Details], partition_parameters: Mapping[str, Parameters]) -> int:
    """The number of partitions whose statistics are stale: older than their rows."""
    behind = {
        each.partition
        for each in with_provenance
        if why_stale(each.column, each.provenance, partition_parameters.get(each.partition or "", {}))
    }
    return len(behind)


def _parameters(connection: Connection, scope: Scope) -> dict[str, Parameters]:
    """The row count and accuracy parameters of each partition, by partition name."""
    ids = partitions.find_ids(connection, scope.target.id, partitions.names(connection, scope.target.id))
    stored = parameters.read(connection, OF_PARTITIONS, list(ids.values()), _PARAMETERS_READ)
    return {partition: stored.get(part_id, _NO_PARAMETERS) for partition, part_id in ids.items()}
