"""Questions answered from stored sketches, over a table or any set of its partitions.

The sketches of all partitions are merged while one statement streams them. If the question is about every
partition and some have no sketch, the table's own one answers. Otherwise the error names the missing sketch and the
statement that would compute it.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, normal_partition_name, values_of_names
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.answers import ColumnProvenance, DistinctCount, MergedColumn, Quantiles
from hmstats.model.statistics.column_statistics import Kind, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.frequent_values import FrequentValues
from hmstats.service.statistics import details as beside
from hmstats.service.statistics.existing_tables import find_facts
from hmstats.service.statistics.questions import column_answers
from hmstats.service.statistics.questions.column_answers import exact_count
from hmstats.service.statistics.questions.merged_columns import merged_columns
from hmstats.service.statistics.questions.question_sketches import Scope, answer_of
from hmstats.service.statistics.reading.partition_blocks import PartitionBlocks
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import details
from hmstats.store.statistics.details import Details
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Connection


class StatisticsQuestions:
    """Answers questions. With `any_engine`, other engines' statistics answer too.

    Every question raises NoSuchObject if a table or a partition does not exist. Questions about one column raise
    InvalidInput if its type has no such answer, and MissingStatistics if nothing is stored for it.
    """

    def __init__(
        self,
        store: Store,
        reader: StatisticsReader,
        *,
        any_engine: bool = True,
        blocks: PartitionBlocks | None = None,
    ) -> None:
        self._store = store
        self._blocks = blocks
        self._reader = reader
        self._any_engine = any_engine

    def distinct_count(
        self, name: TableName, column: str, partition_names: Sequence[str] | None, engine: str
    ) -> DistinctCount:
        """The distinct count of a column over these partitions (None: over the whole table)."""
        with self._store.read() as connection:
            target = find_facts(connection, name)
            if column in target.keys:
                return _counts_of_keys(connection, name, target, [column], partition_names)[column]
            scope = self._scope(connection, name, target, [column], partition_names, engine)
            if scope.kinds[column] not in column_answers.COUNTED:
                raise InvalidInput(f"column {column} of table {name} is binary: its distinct values are not counted")
            return answer_of(column_answers.distinct_counts(connection, scope)[column])

    def quantiles(
        self,
        name: TableName,
        column: str,
        partition_names: Sequence[str] | None,
        fractions: Sequence[float],
        engine: str,
    ) -> Quantiles:
        """The quantiles of a column at these fractions (0 to 1); empty if it has no values."""
        wrong = [each for each in fractions if not 0 <= each <= 1]
        if wrong:
            raise InvalidInput(f"a quantile's fraction must be from 0 to 1, found {wrong[0]}")
        with self._store.read() as connection:
            scope = self._scope(connection, name, find_facts(connection, name), [column], partition_names, engine)
            kind = scope.kinds[column]
            if kind not in column_answers.ORDERED:
                raise InvalidInput(
                    f"column {column} of table {name} must have numbers, dates or times, found {kind.value}"
                )
            return answer_of(column_answers.quantiles(connection, scope, fractions)[column])

    def top_k(
        self, name: TableName, column: str, partition_names: Sequence[str] | None, k: int, engine: str
    ) -> tuple[Kind, FrequentValues]:
        """A column's `k` most frequent values, and their kind."""
        if k < 1:
            raise InvalidInput(f"k must be 1 or more, found {k}")
        with self._store.read() as connection:
            scope = self._scope(connection, name, find_facts(connection, name), [column], partition_names, engine)
            return scope.kinds[column], answer_of(column_answers.frequent_values_of(connection, scope, k)[column])

    def merged_columns(
        self, name: TableName, columns: Sequence[str], fractions: Sequence[float], k: int, engine: str
    ) -> tuple[list[MergedColumn], int]:
        """The answers about each column over all partitions, and the number of partitions.

        An answer is None if nothing is stored for it. All is read in one transaction, in as many statements for one
        column as for all. Raises NoSuchObject if the table or a column does not exist, InvalidInput if a fraction or
        `k` is out of range.
        """
        if k < 1 or not all(0 <= each <= 1 for each in fractions):
            raise InvalidInput(f"fractions must be from 0 to 1 and k 1 or more, found {list(fractions)} and {k}")
        with self._store.read() as connection:
            target = find_facts(connection, name)
            keys, others = [each for each in columns if each in target.keys], _with_statistics(name, target, columns)
            scope = Scope(name, target, others, None, engine, only=not self._any_engine, blocks=self._blocks)
            counts = _counts_of_keys(connection, name, target, keys, None) if keys else {}
            return merged_columns(connection, scope, columns, counts, fractions, k)

    def provenance(
        self, name: TableName, columns: Sequence[str] | None, partition_names: Sequence[str] | None
    ) -> list[ColumnProvenance]:
        """The provenance of the statistics of these columns (None: all), of every engine.

        If `partition_names` is None, of the table itself; if it is empty, of all partitions.
        """
        with self._store.read() as connection:
            stored_details = _details(connection, find_facts(connection, name), columns, partition_names)
            return [
                ColumnProvenance(each.partition, each.column, each.engine, each.provenance)
                for each in stored_details
                if each.provenance is not None
            ]

    def statistics(
        self, name: TableName, columns: Sequence[str] | None, partition_names: Sequence[str] | None, engine: str
    ) -> list[StatisticsSet]:
        """The statistics of these columns (None: all) with their details.

        If `partition_names` is None, of the table itself; if it is empty, of all partitions.
        """
        with self._store.read() as connection:
            target = find_facts(connection, name)
            stored_details = list(_details(connection, target, columns, partition_names))
            if partition_names is not None and not partition_names:
                partition_names = partitions.names(connection, target.id)
        if partition_names is None:
            own = self._reader.table(name, columns, engine)
            return beside.attach([own], stored_details) if own else []
        by_name = {key: list(each) for key, each in groupby(stored_details, key=attrgetter("partition"))}
        sets = self._reader.partitions(name, partition_names, columns, engine)
        return [one for each in sets for one in beside.attach([each], by_name.get(each.partition, ()))]

    def _scope(
        self,
        connection: Connection,
        name: TableName,
        target: TableFacts,
        columns: Sequence[str],
        partition_names: Sequence[str] | None,
        engine: str,
    ) -> Scope:
        kinds = _with_statistics(name, target, columns)
        for column in columns:
            if column in target.keys:
                raise InvalidInput(f"column {column} of table {name} is a partition key: its values are in the catalog")
            if column not in kinds:
                types = {each.name.lower(): each.type for each in target.columns}
                raise InvalidInput(
                    f"column {column} of table {name} is of type {types[column]}, which has no statistics"
                )
        names = _checked_names(connection, name, target, partition_names)
        return Scope(name, target, kinds, names, engine, only=not self._any_engine, blocks=self._blocks)


def _with_statistics(name: TableName, target: TableFacts, columns: Sequence[str]) -> dict[str, Kind]:
    """The columns whose types have statistics, with their kinds. Raises NoSuchObject if a column does not exist."""
    types = {each.name.lower(): each.type for each in target.columns}
    for column in columns:
        if column not in types and column not in target.keys:
            raise NoSuchObject(f"table {name} has no column {column}, only {', '.join(types)}")
    kinds = {column: kind_of(types[column]) for column in columns if column not in target.keys}
    return {column: kind for column, kind in kinds.items() if kind is not None}


def _checked_names(
    connection: Connection, name: TableName, target: TableFacts, partition_names: Sequence[str] | None
) -> list[str] | None:
    """The stored names without duplicates; None for all. Raises NoSuchObject if a partition does not exist."""
    if not partition_names:
        return None
    if not target.keys:
        raise InvalidInput(f"table {name} has no partitions, found the name {partition_names[0]}")
    names = list(dict.fromkeys(normal_partition_name(each, target.keys) for each in partition_names))
    ids = partitions.find_ids(connection, target.id, names)
    for each in names:
        if each not in ids:
            raise NoSuchObject(f"table {name} has no partition {each}")
    return names


def _details(
    connection: Connection, target: TableFacts, columns: Sequence[str] | None, partition_names: Sequence[str] | None
) -> Iterable[Details]:
    if partition_names is None:
        return details.read_table(connection, target.id, columns)
    wanted = [normal_partition_name(each, target.keys) for each in partition_names] or None
    return details.read_partitions(connection, target.id, wanted, columns)


def _counts_of_keys(
    connection: Connection,
    name: TableName,
    target: TableFacts,
    keys: Sequence[str],
    partition_names: Sequence[str] | None,
) -> dict[str, DistinctCount]:
    """The exact distinct counts of partition keys, without null, from the partitions' names in the catalog."""
    wanted = _checked_names(connection, name, target, partition_names)
    names = partitions.names(connection, target.id) if wanted is None else wanted
    values = values_of_names(names, target.keys)
    indexes = {key: target.keys.index(key) for key in keys}
    return {
        key: exact_count(len({each[index] for each in values} - {NULL_PARTITION_VALUE}))
        for key, index in indexes.items()
    }
