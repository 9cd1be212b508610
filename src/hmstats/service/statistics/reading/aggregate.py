"""The statistics of a table's columns over many partitions.

The database sums numbers. Distinct counts come from the merged bit vectors if every partition has one. If not, and
for partitions without any statistics, Hive's rules estimate them (distinct.py, extrapolate.py). Names that are
no partition are ignored: they have no data.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmstats.model.catalog.names import possible_names
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Data, DecimalStatistics, Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.flat_statistics import FlatStatistics, flat
from hmstats.model.statistics.merge import add, either, merge_numbers
from hmstats.service.statistics.errors import missing_table
from hmstats.service.statistics.merge import count_distinct
from hmstats.service.statistics.reading import aggregate_sketches
from hmstats.service.statistics.reading.aggregate_sketches import MergedVector
from hmstats.service.statistics.reading.distinct import DistinctRules, density_of, distinct_values
from hmstats.service.statistics.reading.extrapolate import Point, extrapolate, scale
from hmstats.service.statistics.reading.partition_blocks import PartitionBlocks
from hmstats.service.statistics.reading.repair import acceptable
from hmstats.service.statistics.transactional import visible_partitions
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import aggregates, table_facts
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.statistics.column_sums import Summary
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Connection

_UNCOUNTED = (Kind.BOOLEAN, Kind.BINARY)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The aggregated columns as they were asked for, and the number of partitions with statistics of every asked one.

    `analyzed_seconds` is the time of the oldest statistics, in epoch seconds.
    """

    columns: tuple[ColumnStatistics, ...] = ()
    partitions_found: int = 0
    analyzed_seconds: int | None = None

    def flat(self, name: TableName, *, repaired: bool) -> list[FlatStatistics]:
        """The columns as tuples; if `repaired`, fit for planners (repair.py), with the table's name for the log."""
        columns = [flat(column) for column in self.columns]
        return acceptable(name, columns, None) if repaired else columns


class StatisticsAggregator:
    """Aggregates partitions' statistics. With `any_engine`, other engines' count if the asked engine has none."""

    def __init__(
        self,
        store: Store,
        *,
        any_engine: bool = True,
        rules: DistinctRules | None = None,
        blocks: PartitionBlocks | None = None,
    ) -> None:
        self._store = store
        self._blocks = blocks
        self._any_engine = any_engine
        self._rules = rules or DistinctRules()

    def partitions(
        self,
        name: TableName,
        partition_names: Sequence[str],
        columns: Sequence[str],
        engine: str,
        *,
        histograms: bool = False,
        valid: str | None = None,
    ) -> Aggregate:
        """The statistics of these columns over these partitions.

        Empty for a reader that does not see the statistics of each partition (`valid`, transactional.py). Histograms
        are merged only if asked for. Raises NoSuchObject if the table does not exist.
        """
        with self._store.read() as connection:
            target = table_facts.find_unnoted(connection, name)
            if target is None:
                raise missing_table(name)
            stored_names = possible_names(partition_names, target.keys)
            versions.note_read(target.id, target.version, stored_names)
            if valid is not None and len(visible_partitions(connection, target, stored_names, valid)) < len(
                stored_names
            ):
                return Aggregate()
            blocks = self._blocks
            return self.within(
                connection, name, target, stored_names, columns, engine, histograms=histograms, blocks=blocks
            )

    def within(
        self,
        connection: Connection,
        name: TableName,
        target: TableFacts,
        partition_names: Sequence[str] | None,
        columns: Sequence[str],
        engine: str,
        *,
        histograms: bool = False,
        blocks: PartitionBlocks | None = None,
    ) -> Aggregate:
        """The statistics over partitions (None: all), read in the caller's transaction from a table already found.

        `blocks` may answer if the transaction has changed nothing.
        """
        scope = Scope(target.id, partition_names, list(dict.fromkeys(columns)), engine, only=not self._any_engine)
        if not scope.columns or scope.partitions == []:
            return Aggregate()
        sums = aggregates.sums(connection, scope) if blocks is None else blocks.sums(connection, scope, target.version)
        summaries = _by_column(target, [each for one in sums if (each := one.summary())])
        if not summaries:
            return Aggregate()
        existing = _existing(connection, scope, summaries.values())
        points = self._points(connection, scope, summaries, existing)
        vectors = _vectors(connection, name, target, scope, summaries, blocks)
        aggregated = {
            column: self._aggregate(summaries[column], points.get(column, []), len(existing), vectors.get(column))
            for column in scope.columns
            if column in summaries
        }
        if histograms:
            aggregated |= _with_histograms(aggregated, aggregate_sketches.histograms(connection, name, scope))
        complete = _partitions_found(scope, summaries, points, len(existing))
        return Aggregate(
            tuple(aggregated.values()), complete, min(each.analyzed_seconds for each in summaries.values())
        )

    def _points(
        self, connection: Connection, scope: Scope, summaries: Mapping[str, Summary], existing: Sequence[str]
    ) -> dict[str, list[Point]]:
        """Each partition's numbers, of the columns for which the sums are not enough."""
        needed = [column for column, each in summaries.items() if self._needs_points(each, len(existing))]
        points: dict[str, list[Point]] = {column: [] for column in needed}
        if not needed:
            return points
        indexes = {partition: index for index, partition in enumerate(existing)}
        for partition, each in aggregates.numbers(connection, replace(scope, columns=needed)):
            if each.kind is summaries[each.column].statistics.kind:
                points[each.column].append(Point(indexes[partition], each.data))
        return points

    def _needs_points(self, summary: Summary, total: int) -> bool:
        kind = summary.statistics.kind
        sketched = summary.bit_vectors == summary.partitions
        guessed = self._rules.density and not sketched and kind not in (*_UNCOUNTED, Kind.STRING)
        unbounded = kind is Kind.DECIMAL and not summary.knows_decimals
        return summary.partitions < total or unbounded or guessed

    def _aggregate(
        self, summary: Summary, points: Sequence[Point], total: int, vector: MergedVector | None
    ) -> ColumnStatistics:
        data: Any = summary.statistics.data
        if isinstance(data, DecimalStatistics) and not summary.knows_decimals:
            data = _with_bounds(data, points)
        most, complete = summary.ndv_sum, summary.partitions == total
        if not complete and summary.partitions > 1:
            data, most = extrapolate(data, points, total), scale(most, summary.partitions, total) or 0
        if summary.statistics.kind in _UNCOUNTED:
            return replace(summary.statistics, data=data)
        counted = count_distinct(vector.vector) if vector and vector.vector else None
        if vector and vector.complete and complete:
            data = replace(data, ndv=either(max, counted, data.ndv), bit_vector=vector.vector)
        else:
            density = density_of(each.data for each in points) if self._rules.density else None
            data = replace(data, ndv=either(max, counted, distinct_values(data, most, density, self._rules)))
        return replace(summary.statistics, data=data)


def _by_column(target: TableFacts, summaries: Sequence[Summary]) -> dict[str, Summary]:
    """One summary for each column: of the kind of the table's column, under the table's type.

    If the column was of another kind once, none of its bit vectors counts: some hold values of that kind.
    """
    types = {column.name.lower(): column.type.lower() for column in (*target.columns, *target.partition_keys)}
    by_column: dict[str, Summary] = {}
    foreign: set[str] = set()
    for each in summaries:
        column = each.statistics.column
        column_type = types.get(column, each.statistics.column_type)
        if each.statistics.kind is not kind_of(column_type):
            foreign.add(column)
            continue
        own = each
        if each.statistics.column_type != column_type:
            own = replace(each, statistics=replace(each.statistics, column_type=column_type))
        by_column[column] = _add(by_column[column], own) if column in by_column else own
    return by_column | {column: replace(by_column[column], bit_vectors=0) for column in foreign & by_column.keys()}


def _add(one: Summary, other: Summary) -> Summary:
    """Two summaries of one kind, added."""
    data: Data = type(one.statistics.data)(**merge_numbers(one.statistics.data, other.statistics.data))
    return Summary(
        replace(one.statistics, data=data),
        one.partitions + other.partitions,
        one.bit_vectors + other.bit_vectors,
        add(one.ndv_sum, other.ndv_sum),
        min(one.analyzed_seconds, other.analyzed_seconds),
        one.knows_decimals and other.knows_decimals,
    )


def _existing(connection: Connection, scope: Scope, summaries: Collection[Summary]) -> Sequence[str]:
    """The names of partitions that exist, in the order of the request."""
    if scope.partitions is None:
        return partitions.names(connection, scope.table_id)
    if any(each.partitions == len(scope.partitions) for each in summaries):
        return scope.partitions
    ids = partitions.find_ids(connection, scope.table_id, scope.partitions)
    return [each for each in scope.partitions if each in ids]


def _vectors(
    connection: Connection,
    name: TableName,
    target: TableFacts,
    scope: Scope,
    summaries: Mapping[str, Summary],
    blocks: PartitionBlocks | None,
) -> dict[str, MergedVector]:
    """The merged bit vectors by column, if every partition with statistics of the column has one."""
    columns = [column for column, each in summaries.items() if 0 < each.bit_vectors == each.partitions]
    unions = {} if blocks is None else blocks.unions(connection, replace(scope, columns=columns), target.version)
    merged = {
        column: MergedVector(each.vector)
        for column, each in unions.items()
        if each.partitions == summaries[column].bit_vectors
    }
    rest = [column for column in columns if column not in merged]
    return merged | (aggregate_sketches.bit_vectors(connection, name, replace(scope, columns=rest)) if rest else {})


def _with_histograms(
    columns: Mapping[str, ColumnStatistics], histograms: Mapping[str, bytes]
) -> dict[str, ColumnStatistics]:
    """The columns that have a histogram, with it."""
    changed = {}
    for column in columns.keys() & histograms.keys():
        data: Any = columns[column].data
        if hasattr(data, "histogram"):
            changed[column] = replace(columns[column], data=replace(data, histogram=histograms[column]))
    return changed


def _partitions_found(
    scope: Scope, summaries: Mapping[str, Summary], points: Mapping[str, Sequence[Point]], total: int
) -> int:
    """The number of partitions that have statistics of every asked column."""
    if len(summaries) < len(scope.columns):
        return 0
    complete = set(range(total))
    for column, summary in summaries.items():
        if summary.partitions < total:
            complete &= {point.index for point in points[column]}
    return len(complete)


def _with_bounds(data: DecimalStatistics, points: Sequence[Point]) -> DecimalStatistics:
    """The statistics with the bounds of the partitions' decimals, which the database cannot compare."""
    partitions: list[Any] = [point.data for point in points]
    lows = [each.low for each in partitions if each.low is not None]
    highs = [each.high for each in partitions if each.high is not None]
    return replace(data, low=min(lows, default=None), high=max(highs, default=None))
