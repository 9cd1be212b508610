"""A table's statistics as the parameters that Spark's optimizer reads, computed for each answer, never stored.

For each column the newer statistics are shown: Spark's own, or pushed ones. Rows and bytes are the metastore's
(numRows, totalSize), which follow Spark's (spark_statements.py). If the size is unknown, nothing is shown: Spark
would ignore it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hmstats.model.catalog.objects import Table, is_view
from hmstats.model.parameters.row_counts import known_rows, row_count
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.spark.spark_statistics import SparkStatistics
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, ColumnStatistics
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.engine_choice import precedence
from hmstats.model.statistics.flat_statistics import column_statistics
from hmstats.outlets.spark import spark_properties
from hmstats.outlets.spark.spark_columns import to_spark
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.repair import acceptable
from hmstats.service.statistics.spark.spark_marks import SHOWN, Statement, digest, statement
from hmstats.store.database.store import Store
from hmstats.store.statistics import column_statistics as stored_statistics
from hmstats.store.statistics import details, table_facts
from hmstats.store.unit.unit import Connection

SPARK = "Spark ANALYZE"
"""The tool in the provenance of statistics that Spark stored as parameters."""
_SIZES = ("totalSize", "rawDataSize")


@dataclass(frozen=True, slots=True)
class Row:
    """A column's stored statistics, when they were written, and whether they are Spark's own."""

    statistics: ColumnStatistics
    analyzed_seconds: int | None
    of_spark: bool = False


class SparkView:
    """Adds Spark's parameters to tables; an aggregator supplies columns that only partitions have statistics of."""

    def __init__(
        self, store: Store, aggregator: StatisticsAggregator | None = None, *, any_engine: bool = True
    ) -> None:
        self._store = store
        self._aggregator = aggregator
        self._any_engine = any_engine

    def with_parameters(self, table: Table) -> Table:
        """The table with statistics for Spark and the mark of them; unchanged if there are none to add."""
        if table.id is None or is_view(table):
            return table
        with self._store.read() as connection:
            shown_parameters = parameters_for_spark(table, self.rows(connection, table))
        own = spark_properties.spark_parameters(table.parameters)
        if shown_parameters == own:
            return table
        others = {key: value for key, value in table.parameters.items() if key not in own}
        return replace(table, parameters={**others, **shown_parameters, SHOWN: digest(shown_parameters)})

    def rows(self, connection: Connection, table: Table) -> dict[str, Row]:
        """The stored statistics by column: of the default engine if it has any, else the newest of the others."""
        if table.id is None:
            return {}
        stored = stored_statistics.read_flat_table(connection, table.id, None, sketches=True)
        ours = self._spark_columns(connection, table)
        newest = sorted(
            range(len(stored.engines)),
            key=lambda index: precedence(stored.engines[index], stored.analyzed_seconds[index], DEFAULT_ENGINE),
        )
        rows: dict[str, Row] = {}
        for index in newest:
            flat, engine = stored.statistics[index], stored.engines[index]
            if flat is not None and (self._any_engine or engine == DEFAULT_ENGINE):
                of_spark = (flat[0], engine) in ours
                (repaired,) = acceptable(table.name, [flat], known_rows(table.parameters))
                rows[flat[0]] = Row(column_statistics(repaired), stored.analyzed_seconds[index], of_spark)
        return {**self._from_partitions(connection, table, rows), **rows}

    def _spark_columns(self, connection: Connection, table: Table) -> set[tuple[str, str]]:
        """Column and engine of Spark's own statistics; reads nothing if Spark has stored none."""
        if table.id is None or statement(table.parameters).since_seconds is None:
            return set()
        stored = details.read_table(connection, table.id, None)
        return {(each.column, each.engine) for each in stored if each.provenance and each.provenance.tool == SPARK}

    def _from_partitions(self, connection: Connection, table: Table, known: Mapping[str, Row]) -> dict[str, Row]:
        missing = [column.name.lower() for column in data_columns(table) if column.name.lower() not in known]
        if self._aggregator is None or not table.partition_keys or not missing:
            return {}
        target = table_facts.find(connection, table.name)
        if target is None:
            return {}
        aggregate = self._aggregator.within(
            connection, table.name, target, None, missing, DEFAULT_ENGINE, histograms=True
        )
        return {each.column: Row(each, aggregate.analyzed_seconds) for each in aggregate.columns}


def parameters_for_spark(table: Table, rows: Mapping[str, Row]) -> dict[str, str]:
    """Spark's parameters for a table whose stored statistics are `rows`."""
    spark_statement = statement(table.parameters)
    own = spark_properties.read(spark_statement.parameters)
    totals = _totals(table, spark_statement, own)
    parameters = dict(spark_statement.parameters)
    if totals.size_bytes is None:
        return parameters
    for name, column_type in _columns(table).items():
        row = rows.get(name.lower())
        if row is None or not _is_newer(row, spark_statement, stated=name in own.columns):
            continue
        if row.statistics.kind is kind_of(column_type):
            for key in spark_properties.of_column(parameters, name):
                del parameters[key]
            typed = replace(row.statistics, column_type=column_type.lower())
            parameters |= spark_properties.write_column(name, to_spark(typed, totals.rows))
    return {**parameters, **spark_properties.write(totals)} if parameters else {}


def _is_newer(row: Row, spark_statement: Statement, *, stated: bool) -> bool:
    """Whether a row is newer than Spark's statement, even if that says nothing of the column.

    At the same second, a pushed row came after Spark's statement, which would have replaced it.
    """
    if spark_statement.since_seconds is None:
        return True
    written = row.analyzed_seconds or 0
    return written > spark_statement.since_seconds or (
        stated and written == spark_statement.since_seconds and not row.of_spark
    )


def _totals(table: Table, spark_statement: Statement, own: SparkStatistics) -> SparkStatistics:
    """Bytes and rows: the metastore's own, unless Spark has written others past this server."""
    if own.size_bytes is not None and not spark_statement.is_ours:
        return SparkStatistics(size_bytes=own.size_bytes, rows=own.rows)
    sizes = (row_count(table.parameters.get(key)) for key in _SIZES)
    size = next((each for each in sizes if each), own.size_bytes)
    return SparkStatistics(size_bytes=size, rows=known_rows(table.parameters) or own.rows)


def _columns(table: Table) -> dict[str, str]:
    """Types of the data columns by name, in Spark's case if Spark created the table."""
    names = spark_properties.column_names(table.parameters)
    return {names.get(column.name.lower(), column.name): column.type for column in data_columns(table)}
