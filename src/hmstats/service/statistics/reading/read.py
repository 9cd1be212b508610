"""Reads column statistics.

Answers omit names without statistics; only the calls for a single column raise an error for them.
If the asked engine has none, those of another engine answer (`any_engine`): one set of numbers for every engine is
the point. If a partitioned table itself has no statistics of a column, its partitions' are aggregated.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model.catalog.names import normal_partition_name, possible_names
from hmstats.model.catalog.objects import Table, TableName
from hmstats.model.parameters.row_counts import known_rows, row_count
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, Kind, StatisticsSet
from hmstats.model.statistics.engine_choice import precedence
from hmstats.model.statistics.flat_statistics import FlatColumns, FlatStatistics, flat
from hmstats.model.statistics.statistics_group import StatisticsGroup
from hmstats.service.statistics.existing_tables import find_facts
from hmstats.service.statistics.reading.aggregate import Aggregate, StatisticsAggregator
from hmstats.service.statistics.reading.repair import acceptable, is_acceptable
from hmstats.service.statistics.reading.sizes import TableSizes
from hmstats.service.statistics.transactional import is_table_visible, visible_partitions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics
from hmstats.store.statistics.statistics_groups import VersionedGroups
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Connection

_MANY_PARTITIONS = 16
"""Fewest partitions read in groups; fewer are read row by row, which is faster then."""


@dataclass(frozen=True, slots=True)
class VersionedStatistics:
    """Statistics by partition name, "" for a table's own, with the table's id and version from the same transaction.

    Statistics in `groups` are not in `columns`.
    """

    table_id: int
    version: int
    columns: dict[str, list[FlatStatistics]]
    groups: Sequence[StatisticsGroup] = ()


class StatisticsReader:
    """Reads column statistics of tables and partitions.

    With `any_engine`, other engines' statistics answer too. Without `sketches`, stored sketches are not read.
    """

    def __init__(
        self,
        store: Store,
        *,
        any_engine: bool = True,
        sketches: bool = True,
        aggregator: StatisticsAggregator | None = None,
        sizes: TableSizes | None = None,
    ) -> None:
        self._store = store
        self._sketches = sketches
        self._any_engine = any_engine
        self._aggregator = aggregator
        self._sizes = sizes

    def table(
        self, name: TableName, columns: Sequence[str] | None, engine: str, *, valid: str | None = None
    ) -> StatisticsSet | None:
        """A table's statistics of these columns (None: all); None if it has none.

        `valid` are the write ids visible to the reader (transactional.py). Raises NoSuchObject if the table does not
        exist.
        """
        with self._store.read() as connection:
            target = find_facts(connection, name)
            if not is_table_visible(connection, target, valid):
                return None
            sets = column_statistics.read_table(
                connection, target.id, columns, self._engine_filter(engine), sketches=self._sketches
            )
            return self._with_aggregate(connection, name, target, columns, engine, self._choose(sets, engine))

    def flat_table(
        self, name: TableName, columns: Sequence[str], engine: str, *, repaired: bool, valid: str | None
    ) -> list[FlatStatistics]:
        """A table's statistics of these columns as tuples; if `repaired`, fit for planners (repair.py).

        `valid` are the write ids visible to the reader (transactional.py). Raises NoSuchObject if the table does not
        exist.
        """
        quick = self._store.statistics_of_table(name, columns, sketches=self._sketches) if valid is None else None
        if quick is not None:
            statistics = one_of_each_column(quick, set(columns), engine, only=not self._any_engine).get("", [])
            if len(statistics) == len(set(columns)):
                return acceptable(name, statistics, row_count(quick.rows[""])) if repaired else statistics
        with self._store.read() as connection:
            target = find_facts(connection, name)
            if not is_table_visible(connection, target, valid):
                return []
            rows = column_statistics.read_flat_table(connection, target.id, columns, sketches=self._sketches)
            statistics = one_of_each_column(rows, set(columns), engine, only=not self._any_engine).get("", [])
            existing = {column for column, *_ in statistics}
            missing = [column for column in columns if column not in existing]
            if missing:
                statistics += map(flat, self._from_partitions(connection, name, target, missing, engine).columns)
        return acceptable(name, statistics, known_rows(target.parameters)) if repaired else statistics

    def table_column(self, name: TableName, column: str) -> FlatColumns:
        """One column's statistics of a table. Raises NoSuchObject if the table or the statistics do not exist."""
        versioned = self._store.statistics_of_table(name, [column], sketches=self._sketches)
        chosen = versioned and self._one_column(versioned)
        if chosen:
            return chosen
        statistics_set = self.table(name, [column], DEFAULT_ENGINE)
        if statistics_set is None:
            raise NoSuchObject(f"table {name} has no statistics of column {column}")
        return _single_answer(statistics_set)

    def partitions(
        self, name: TableName, partition_names: Sequence[str], columns: Sequence[str] | None, engine: str
    ) -> list[StatisticsSet]:
        """Statistics of these columns (None: all) of partitions, one set each; partitions without any are skipped.

        Raises NoSuchObject if the table does not exist.
        """
        with self._store.read() as connection:
            target = find_facts(connection, name)
            names = [normal_partition_name(each, target.keys) for each in partition_names]
            by_partition = column_statistics.read_partitions(
                connection, target.id, names, columns, self._engine_filter(engine), sketches=self._sketches
            )
        chosen = (self._choose(sets, engine) for sets in by_partition.values())
        return [each for each in chosen if each]

    def flat_partitions(
        self,
        name: TableName,
        partition_names: Sequence[str],
        columns: Sequence[str],
        engine: str,
        *,
        repaired: bool,
        valid: str | None,
    ) -> dict[str, list[FlatStatistics]]:
        """Statistics of these columns as tuples, by partition name; if `repaired`, fit for planners (repair.py).

        A name that no partition can have is skipped. `valid` are the write ids visible to the reader
        (transactional.py). Raises NoSuchObject if the table does not exist, MetaError if a name is empty.
        """
        with self._store.read() as connection:
            target = find_facts(connection, name)
            if "" in partition_names:
                raise MetaError(f"Partition name is invalid. A name of a partition of table {name} is empty")
            visible = visible_partitions(connection, target, possible_names(partition_names, target.keys), valid)
            column_set = set(columns)
            # Looking at each row's name would cost the database a third of the time, and most ask for every column.
            every = all(column.name in column_set for column in target.columns)
            flat_columns = column_statistics.read_flat_partitions(
                connection, target.id, visible, None if every else columns, sketches=self._sketches
            )
            counts = partitions.parameter(connection, target.id, visible, "numRows") if repaired else {}
        chosen = one_of_each_column(flat_columns, column_set, engine, only=not self._any_engine)
        if repaired:
            return {key: acceptable(name, each, row_count(counts.get(key))) for key, each in chosen.items()}
        return chosen

    def target(self, name: TableName) -> TableFacts | None:
        """The facts about a table that caches of its statistics need, with its version; None if it does not exist."""
        return self._store.target(name)

    def versioned_table(
        self, name: TableName, columns: Sequence[str], engine: str, *, repaired: bool
    ) -> VersionedStatistics | None:
        """A table's own statistics as `flat_table` returns them, under the name ""; None if it has none."""
        versioned = self._store.statistics_of_table(name, columns, sketches=self._sketches)
        if versioned is None:
            return None
        chosen = one_of_each_column(versioned, set(columns), engine, only=not self._any_engine)
        if repaired:
            chosen = {key: acceptable(name, each, row_count(versioned.rows[key])) for key, each in chosen.items()}
        return VersionedStatistics(versioned.table_id, versioned.version, chosen)

    def versioned_partitions(
        self,
        name: TableName,
        target: TableFacts,
        wanted: Sequence[str],
        columns: Sequence[str],
        engine: str,
        *,
        repaired: bool,
    ) -> VersionedStatistics | None:
        """Statistics of partitions as `flat_partitions` returns them, by stored name; None if the table is gone."""
        column_set = set(columns)
        every = all(column.name in column_set for column in target.columns)
        read = None if every else columns
        if not self._sketches and len(wanted) >= _MANY_PARTITIONS:
            packed = self._store.groups_of_partitions(target.id, wanted, read)
            if packed is not None and len(packed.by_engine) <= 1:
                return self._of_groups(name, target.id, packed, column_set, engine, repaired=repaired)
        versioned = self._store.statistics_of_partitions(target.id, wanted, read, sketches=self._sketches)
        if versioned is None:
            return None
        chosen = one_of_each_column(versioned, column_set, engine, only=not self._any_engine)
        if repaired:
            chosen = {key: acceptable(name, each, row_count(versioned.rows[key])) for key, each in chosen.items()}
        return VersionedStatistics(target.id, versioned.version, chosen)

    def _of_groups(
        self,
        name: TableName,
        table_id: int,
        groups_read: VersionedGroups,
        column_set: Collection[str],
        engine: str,
        *,
        repaired: bool,
    ) -> VersionedStatistics:
        """One engine's statistics of the asked columns; in groups unless a value needs repair or is a decimal."""
        rows = {key: count for key, text in groups_read.rows.items() if text and (count := row_count(text)) is not None}
        together: list[StatisticsGroup] = []
        columns: dict[str, list[FlatStatistics]] = {}
        groups = [
            each
            for of_engine in groups_read.by_engine
            for each in groups_read.by_engine[of_engine]
            if each.column in column_set
        ]
        for group in groups if self._any_engine or engine in groups_read.by_engine else ():
            if group.kind is not Kind.DECIMAL and (not repaired or is_acceptable(group, rows)):
                together.append(group)
                continue
            for key, each in zip(group.partitions, group.flat(), strict=True):
                columns.setdefault(key, []).extend(acceptable(name, [each], rows.get(key)) if repaired else [each])
        return VersionedStatistics(table_id, groups_read.version, columns, together)

    def partition_column(self, name: TableName, partition: str, column: str) -> FlatColumns:
        """One column's statistics of a partition. Raises NoSuchObject if the table or the statistics do not exist."""
        versioned = self._store.statistics_of_partition(name, partition, [column], sketches=self._sketches)
        chosen = versioned and self._one_column(versioned)
        if chosen:
            return chosen
        sets = self.partitions(name, [partition], [column], DEFAULT_ENGINE)
        if not sets:
            raise NoSuchObject(f"partition {partition} of table {name} has no statistics of column {column}")
        return _single_answer(sets[0])

    def with_sizes(self, tables: Sequence[Table]) -> list[Table]:
        """The tables, with sizes that only their partitions state (sizes.py), if the reader was made to add them."""
        return self._sizes.with_sizes(tables) if self._sizes else list(tables)

    def _with_aggregate(
        self,
        connection: Connection,
        name: TableName,
        target: TableFacts,
        columns: Sequence[str] | None,
        engine: str,
        own: StatisticsSet | None,
    ) -> StatisticsSet | None:
        """The table's own statistics and, of the other columns, the aggregate of its partitions'."""
        own_columns = {column.column for column in own.columns} if own else set()
        wanted_columns = [column.name.lower() for column in target.columns] if columns is None else columns
        aggregate = self._from_partitions(
            connection, name, target, [each for each in wanted_columns if each not in own_columns], engine
        )
        if not aggregate.columns:
            return own
        if own is None:
            return StatisticsSet(aggregate.columns, None, engine, aggregate.analyzed_seconds)
        oldest = min(each or 0 for each in (own.last_analyzed_seconds, aggregate.analyzed_seconds))
        return replace(own, columns=(*own.columns, *aggregate.columns), last_analyzed_seconds=oldest)

    def _from_partitions(
        self, connection: Connection, name: TableName, target: TableFacts, columns: Sequence[str], engine: str
    ) -> Aggregate:
        """The aggregate of a table's partitions in these columns; empty without an aggregator."""
        if self._aggregator is None or not target.partition_keys:
            return Aggregate()
        return self._aggregator.within(connection, name, target, None, columns, engine)

    def _one_column(self, flat_columns: FlatColumns) -> FlatColumns | None:
        """The default engine's statistics of the single column read; with `any_engine`, else the newest."""
        for index in reversed([*_ranked(flat_columns, DEFAULT_ENGINE)]):
            statistics, engine = flat_columns.statistics[index], flat_columns.engines[index]
            if statistics is not None and (self._any_engine or engine == DEFAULT_ENGINE):
                return flat_columns.only(index)
        return None

    def _engine_filter(self, engine: str) -> str | None:
        return None if self._any_engine else engine

    def _choose(self, sets: Sequence[StatisticsSet], engine: str) -> StatisticsSet | None:
        """The engines' sets as one: each column from the asked engine if it has it, else from the newest other."""
        if len(sets) <= 1:
            return sets[0] if sets else None
        order = sorted(sets, key=lambda each: precedence(each.engine, each.last_analyzed_seconds, engine))
        columns = {column.column: column for each in order for column in each.columns}
        oldest = min(each.last_analyzed_seconds or 0 for each in sets)
        return replace(order[-1], columns=tuple(columns.values()), last_analyzed_seconds=oldest)


def one_of_each_column(
    found: FlatColumns, asked: Collection[str], engine: str, *, only: bool
) -> dict[str, list[FlatStatistics]]:
    """The asked columns' statistics by partition: of the asked engine if it has any, else the newest of the others.

    If `only`, other engines' are ignored. A partition without any is absent.
    """
    chosen: dict[str, dict[str, FlatStatistics]] = {}
    if set(found.engines) <= {engine}:  # mostly
        for partition, statistics in zip(found.partitions, found.statistics, strict=True):
            if statistics is not None and statistics[0] in asked:
                chosen.setdefault(partition, {})[statistics[0]] = statistics
        return {partition: list(columns.values()) for partition, columns in chosen.items()}
    for index in _ranked(found, engine):
        statistics = found.statistics[index]
        if statistics is not None and statistics[0] in asked and not (only and found.engines[index] != engine):
            chosen.setdefault(found.partitions[index], {})[statistics[0]] = statistics
    return {partition: list(columns.values()) for partition, columns in chosen.items()}


def _ranked(flat_columns: FlatColumns, engine: str) -> Iterable[int]:
    """The indexes in `flat_columns`, from the lowest rank to the highest."""
    indexes = range(len(flat_columns.engines))
    if len(set(flat_columns.engines)) <= 1:
        return indexes
    return sorted(
        indexes, key=lambda index: precedence(flat_columns.engines[index], flat_columns.analyzed_seconds[index], engine)
    )


def _single_answer(statistics_set: StatisticsSet) -> FlatColumns:
    return FlatColumns(
        statistics=[flat(statistics_set.columns[0])],
        partitions=[statistics_set.partition or ""],
        engines=[statistics_set.engine],
        analyzed_seconds=[statistics_set.last_analyzed_seconds],
    )
