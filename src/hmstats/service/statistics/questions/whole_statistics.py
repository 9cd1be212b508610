"""All statistics of a table or of its partitions: columns, row counts and details."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import row_count
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.service.statistics.existing_tables import find_facts
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_sizes, partitions
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Connection

_ROWS = "numRows"

_Rows = tuple[int | None, Accurate]
"""A row count (None: unknown), and the marks of accuracy of it and of the columns."""


class WholeStatistics:
    """Reads all statistics: `plain` without sketches, `sketched` with them."""

    def __init__(self, store: Store, *, plain: StatisticsQuestions, sketched: StatisticsQuestions) -> None:
        self._store = store
        self._plain = plain
        self._sketched = sketched

    def read(
        self,
        name: TableName,
        columns: Sequence[str] | None,
        partition_names: Sequence[str] | None,
        engine: str,
        *,
        sketches: bool,
    ) -> list[TableStatistics]:
        """The statistics of the table itself (None), or of these partitions (empty: all) in name order.

        Objects without statistics of these columns (None: all) are listed with their row count; missing partitions are
        skipped. Raises NoSuchObject if the table does not exist.
        """
        questions = self._sketched if sketches else self._plain
        sets = {each.partition: each for each in questions.statistics(name, columns, partition_names, engine)}
        with self._store.read() as connection:
            target = find_facts(connection, name)
            rows = _rows(connection, target, partition_names)
        return [
            TableStatistics(
                name=name,
                columns=target.columns,
                statistics=_without_top_k(sets.get(each, StatisticsSet((), each, engine)), sketches=sketches),
                rows=count,
                rows_exact=count is not None and (accurate.basic or _rows_seen(sets.get(each), accurate) == {count}),
            )
            for each, (count, accurate) in rows.items()
        ]


def _rows(
    connection: Connection, target: TableFacts, partition_names: Sequence[str] | None
) -> Mapping[str | None, _Rows]:
    """The row counts of the table (None), or of the partitions (empty: all) that exist."""
    if partition_names is None:
        return {None: _of_table(connection, target)}
    wanted = [normal_partition_name(each, target.keys) for each in partition_names]
    existing = partitions.find_ids(connection, target.id, wanted) if wanted else partitions.names(connection, target.id)
    names = sorted(existing)
    counts = partitions.parameter(connection, target.id, names, _ROWS)
    accurate = partitions.parameter(connection, target.id, names, PARAMETER)
    return {each: _parse_rows(counts.get(each), accurate.get(each)) for each in names}


def _of_table(connection: Connection, target: TableFacts) -> _Rows:
    """The table's row count, else the sum of its partitions', which is not marked as accurate."""
    count, accurate = _parse_rows(target.parameters.get(_ROWS), target.parameters.get(PARAMETER))
    if count is None and target.partition_keys:
        return partition_sizes.of_tables(connection, [target.id]).get(target.id, {}).get(_ROWS), Accurate()
    return count, accurate


def _parse_rows(count: str | None, accurate: str | None) -> _Rows:
    return row_count(count), Accurate.parse(accurate)


def _rows_seen(statistics_set: StatisticsSet | None, accurate: Accurate) -> set[int | None]:
    """The row counts stated by accurate statistics that were computed from every row."""
    columns = statistics_set.columns if statistics_set else ()
    provenances = (column.provenance for column in columns if column.column in accurate.columns)
    return {each.rows_seen for each in provenances if each and each.sample_fraction == 1 and each.rows_seen is not None}


def _without_top_k(statistics_set: StatisticsSet, *, sketches: bool) -> StatisticsSet:
    """The set, without frequent values unless sketches are asked for."""
    if sketches:
        return statistics_set
    return replace(statistics_set, columns=tuple(replace(each, top_k=None) for each in statistics_set.columns))
