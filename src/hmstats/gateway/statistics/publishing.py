"""The scopes of a publish: all pending statistics of a table, which are sent to the upstream once in force here."""

from collections.abc import Sequence

from hmstats.gateway.statistics.statistics_calls import AccessMode, StatisticsScope
from hmstats.model.catalog.objects import TableName
from hmstats.model.pending.pending import PendingOfTable
from hmstats.model.statistics.column_statistics import StatisticsSet


def published_by(name: TableName, waiting: PendingOfTable) -> list[StatisticsScope]:
    """The statistics that a publish of all pending ones writes, as one scope for each engine."""
    by_engine: dict[str, list[StatisticsSet]] = {}
    for each in waiting.sets:
        by_engine.setdefault(each.engine, []).append(each)
    return [_scope(name, engine, sets) for engine, sets in by_engine.items()]


def _scope(name: TableName, engine: str, sets: Sequence[StatisticsSet]) -> StatisticsScope:
    names = dict.fromkeys(each.partition for each in sets if each.partition is not None)
    columns = dict.fromkeys(column.column for each in sets for column in each.columns)
    own = any(each.partition is None for each in sets)
    return StatisticsScope(name, own, tuple(names), tuple(columns), engine, AccessMode.WRITE)
