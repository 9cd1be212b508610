"""Questions that stored sketches answer, over a table or any set of its partitions.

The sketches of all partitions are united, read as they are used, in one statement. When the question is about every
partition and some have no sketch, the table's own one answers. Otherwise the error says what is missing, and the
statement that would make it.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model import frequent_values
from hmstats.model.answers import ColumnProvenance, DistinctCount, Quantiles
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import Kind, StatisticsSet
from hmstats.model.column_types import kind_of
from hmstats.model.frequent_values import FrequentValue, FrequentValues
from hmstats.model.names import normal_partition_name, partition_values
from hmstats.model.provenance import Provenance
from hmstats.service.statistics import details as beside
from hmstats.service.statistics import question_sketches
from hmstats.service.statistics.missing import missing_table
from hmstats.service.statistics.question_sketches import Scope
from hmstats.service.statistics.read import StatisticsReader
from hmstats.sketch import bit_vector
from hmstats.sketch.kll import KllHistogram
from hmstats.sketch.top_k import TopK
from hmstats.store import column_statistics, details, partitions, targets
from hmstats.store.details import Details
from hmstats.store.engine import Store
from hmstats.store.targets import Target
from hmstats.store.unit import Connection

_STANDARD_ERRORS = 3
"""Around an estimate; the truth lies between in 99.7 % of all cases."""
_WITHOUT_ORDER = (Kind.BOOLEAN, Kind.STRING, Kind.BINARY)


class StatisticsQuestions:
    """Answers questions. `any_engine`: other engines' statistics answer too.

    Every question raises NoSuchObject for a table or a partition that is not there. Those about one column raise
    InvalidInput for a column that cannot have an answer, and MissingStatistics when nothing stored answers.
    """

    def __init__(self, store: Store, reader: StatisticsReader, *, any_engine: bool = True) -> None:
        self._store = store
        self._reader = reader
        self._any_engine = any_engine

    def distinct_count(
        self, name: TableName, column: str, partition_names: Sequence[str] | None, engine: str
    ) -> DistinctCount:
        """How many distinct values a column has in these partitions together (None: in the whole table)."""
        with self._store.read() as connection:
            target = _target(connection, name)
            if column in target.keys:
                return _count_of_key(connection, name, target, column, partition_names)
            scope = self._scope(connection, name, target, column, partition_names, engine)
            if scope.kind is Kind.BINARY:
                raise InvalidInput(f"{scope.where} is binary: its distinct values are not counted")
            if scope.kind is Kind.BOOLEAN:
                count = len(question_sketches.booleans(connection, scope).top())
                return DistinctCount(count, 0.0, count, count, exact=True)
            stored = _stored_count(connection, scope)
            return stored or _count_of_vector(question_sketches.bit_vectors(connection, scope))

    def quantiles(
        self,
        name: TableName,
        column: str,
        partition_names: Sequence[str] | None,
        fractions: Sequence[float],
        engine: str,
    ) -> Quantiles:
        """The values below which these fractions of a column's values lie; none when it has no values."""
        wrong = [each for each in fractions if not 0 <= each <= 1]
        if wrong:
            raise InvalidInput(f"a quantile's fraction must be from 0 to 1, found {wrong[0]}")
        with self._store.read() as connection:
            scope = self._scope(connection, name, _target(connection, name), column, partition_names, engine)
            if scope.kind in _WITHOUT_ORDER:
                raise InvalidInput(f"{scope.where} must have numbers, dates or times, found {scope.kind.value}")
            return _quantiles(question_sketches.histograms(connection, scope), fractions)

    def top_k(
        self, name: TableName, column: str, partition_names: Sequence[str] | None, k: int, engine: str
    ) -> tuple[Kind, FrequentValues]:
        """A column's `k` most frequent values, and their kind."""
        if k < 1:
            raise InvalidInput(f"k must be 1 or more, found {k}")
        with self._store.read() as connection:
            scope = self._scope(connection, name, _target(connection, name), column, partition_names, engine)
            unite = question_sketches.booleans if scope.kind is Kind.BOOLEAN else question_sketches.top_k
            return scope.kind, _frequent(scope.kind, unite(connection, scope), k)

    def provenance(
        self, name: TableName, columns: Sequence[str] | None, partition_names: Sequence[str] | None
    ) -> list[ColumnProvenance]:
        """Where the statistics of these columns (None: all) come from, of every engine.

        Those of the table itself (None), or of these partitions (empty: of all).
        """
        with self._store.read() as connection:
            found = _details(connection, _target(connection, name), columns, partition_names)
            return [
                ColumnProvenance(each.partition, each.column, each.engine, each.provenance)
                for each in found
                if each.provenance is not None
            ]

    def statistics(
        self, name: TableName, columns: Sequence[str] | None, partition_names: Sequence[str] | None, engine: str
    ) -> list[StatisticsSet]:
        """The statistics of these columns (None: all) and what is kept beside them.

        Those of the table itself (None), or of these partitions (empty: of all).
        """
        with self._store.read() as connection:
            target = _target(connection, name)
            found = list(_details(connection, target, columns, partition_names))
            if partition_names is not None and not partition_names:
                partition_names = partitions.names(connection, target.id)
        if partition_names is None:
            own = self._reader.table(name, columns, engine)
            return beside.attached([own], found) if own else []
        by_name = {key: list(each) for key, each in groupby(found, key=attrgetter("partition"))}
        sets = self._reader.partitions(name, partition_names, columns, engine)
        return [one for each in sets for one in beside.attached([each], by_name.get(each.partition, ()))]

    def _scope(
        self,
        connection: Connection,
        name: TableName,
        target: Target,
        column: str,
        partition_names: Sequence[str] | None,
        engine: str,
    ) -> Scope:
        types = {each.name.lower(): each.type for each in target.columns}
        if column in target.keys:
            raise InvalidInput(f"column {column} of table {name} is a partition key: its values are in the catalog")
        if column not in types:
            raise NoSuchObject(f"table {name} has no column {column}, only {', '.join(types)}")
        kind = kind_of(types[column])
        if kind is None:
            raise InvalidInput(f"column {column} of table {name} is of type {types[column]}, which has no statistics")
        names = _checked_names(connection, name, target, partition_names)
        return Scope(name, target, column, kind, names, engine, only=not self._any_engine)


def _target(connection: Connection, name: TableName) -> Target:
    target = targets.find(connection, name)
    if target is None:
        raise missing_table(name)
    return target


def _checked_names(
    connection: Connection, name: TableName, target: Target, partition_names: Sequence[str] | None
) -> list[str] | None:
    """The names as they are stored, each once; None for all. Raises NoSuchObject for one that is not there."""
    if not partition_names:
        return None
    if not target.keys:
        raise InvalidInput(f"table {name} has no partitions, found the name {partition_names[0]}")
    wanted = list(dict.fromkeys(normal_partition_name(each, target.keys) for each in partition_names))
    known = partitions.find_ids(connection, target.id, wanted)
    for each in wanted:
        if each not in known:
            raise NoSuchObject(f"table {name} has no partition {each}")
    return wanted


def _details(
    connection: Connection, target: Target, columns: Sequence[str] | None, partition_names: Sequence[str] | None
) -> Iterable[Details]:
    if partition_names is None:
        return details.read_table(connection, target.id, columns)
    wanted = [normal_partition_name(each, target.keys) for each in partition_names] or None
    return details.read_partitions(connection, target.id, wanted, columns)


def _count_of_key(
    connection: Connection, name: TableName, target: Target, key: str, partition_names: Sequence[str] | None
) -> DistinctCount:
    """The catalog knows the values of partition keys."""
    wanted = _checked_names(connection, name, target, partition_names)
    names = partitions.names(connection, target.id) if wanted is None else wanted
    place = target.keys.index(key)
    count = len({partition_values(each, target.keys)[place] for each in names})
    return DistinctCount(count, 0.0, count, count, exact=True)


def _stored_count(connection: Connection, scope: Scope) -> DistinctCount | None:
    """The count as its writer gave it, where the question is about one partition or an unpartitioned table.

    None where it is better made of the bit vector, or is not known.
    """
    asked = ([scope.column], scope.engine if scope.only else None)
    if not scope.partitioned:
        sets = column_statistics.read_table(connection, scope.target.id, *asked)
        beside_it: Iterable[Details] = details.read_table(connection, scope.target.id, [scope.column])
    elif scope.partitions is not None and len(scope.partitions) == 1:
        sets = column_statistics.read_partitions(connection, scope.target.id, scope.partitions, *asked).get(
            scope.partitions[0], []
        )
        beside_it = details.read_partitions(connection, scope.target.id, scope.partitions, [scope.column])
    else:
        return None
    column = question_sketches.chosen(beside.attached(sets, beside_it), scope.engine)
    data: Any = column.data if column else None
    if column is None or data.ndv is None:
        return None
    made = column.provenance or Provenance()
    if made.exact:
        return DistinctCount(data.ndv, 0.0, data.ndv, data.ndv, exact=True)
    return None if data.bit_vector else _estimated(data.ndv, made.ndv_standard_error, made.exact)


def _count_of_vector(vector: bytes | None) -> DistinctCount:
    if vector is None:
        return DistinctCount(0, 0.0, 0, 0, exact=True)
    return _estimated(bit_vector.count(vector), bit_vector.standard_error(vector), exact=False)


def _estimated(count: int, error: float | None, exact: bool | None) -> DistinctCount:  # noqa: FBT001
    if error is None:
        return DistinctCount(count, exact=exact)
    distance = round(_STANDARD_ERRORS * error * count)
    return DistinctCount(count, error, max(0, count - distance), count + distance, exact)


def _quantiles(histogram: KllHistogram, fractions: Sequence[float]) -> Quantiles:
    error = histogram.rank_error
    low = histogram.quantiles([max(0.0, each - error) for each in fractions])
    high = histogram.quantiles([min(1.0, each + error) for each in fractions])
    values = histogram.quantiles(fractions)
    return Quantiles(tuple(values), tuple(low), tuple(high), error, histogram.count, exact=not error)


def _frequent(kind: Kind, sketch: TopK, k: int) -> FrequentValues:
    ranked = sketch.top()
    values = tuple(FrequentValue(frequent_values.value(kind, text), low, high) for text, low, high in ranked[:k])
    unlisted = max([high for _, _, high in ranked[k : k + 1]], default=min(sketch.error, sketch.count))
    return FrequentValues(values, sketch.count, unlisted, exact=sketch.error == 0)
