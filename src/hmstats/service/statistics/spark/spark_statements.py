"""Statistics in a table that Spark writes: new ones are stored for all engines, computed ones dropped.

Spark's ANALYZE alters the table and replaces all of its statistics parameters. They are stored as they are, and the
differences from the last ones become column statistics, rows and bytes. If an alter has none of them but the table had
some, the data has changed: Spark's own statistics are deleted, and pushed ones are not shown to Spark until newer ones
arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hmstats.model.catalog.objects import Parameters, Table
from hmstats.model.events import StatisticsUpdated
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import NUM_ROWS
from hmstats.model.parameters.statistics_keys import STATED
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.spark.spark_statistics import SparkStatistics
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, ColumnStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.spark import spark_properties
from hmstats.outlets.spark.spark_columns import from_spark
from hmstats.service.statistics import details
from hmstats.service.statistics.spark.spark_marks import SHOWN, digest, stated, without_marks
from hmstats.service.statistics.spark.spark_view import SPARK, Row, SparkView, parameters_for_spark
from hmstats.store.statistics import column_statistics, pending
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.unit.unit import Unit

_TOTAL_SIZE = "totalSize"


@dataclass(frozen=True, slots=True)
class StatedTable:
    """A table to store, the column statistics that came with it, and the columns that lose theirs."""

    table: Table
    written: tuple[ColumnStatistics, ...] = ()
    removed: tuple[str, ...] = ()

    def write_statistics(self, unit: Unit, table_id: int) -> None:
        """Store the statistics, which replace older pending ones too; call this after the table is stored."""
        replaced = [*self.removed, *(each.column for each in self.written)]
        if replaced:
            column_statistics.delete_tables(unit, [table_id], replaced, DEFAULT_ENGINE)
        if not self.written:
            return
        given = StatisticsSet(self.written, None, DEFAULT_ENGINE, unit.now_seconds)
        column_statistics.write_table(unit, table_id, self.table.name, given)
        details.write(unit, table_id, {OF_TABLE: given}, None)
        pending.supersede(unit, table_id, {OF_TABLE: [each.column for each in self.written]}, DEFAULT_ENGINE)
        table = replace(self.table, id=table_id)
        unit.record(StatisticsUpdated(table, given, table.parameters))


class SparkStatements:
    """Finds Spark's new statistics in a table that is written."""

    def __init__(self, view: SparkView) -> None:
        self._view = view

    def table_to_store(
        self, unit: Unit, stored: Table | None, given: Table, *, sizes_counted: bool = False
    ) -> StatedTable:
        """The table and statistics to store for `given`, over `stored` (None: the table is new).

        `sizes_counted` says that the table's files have been counted for this write.
        """
        before: Parameters = stored.parameters if stored else {}
        old, new = spark_properties.spark_parameters(before), spark_properties.spark_parameters(given.parameters)
        others = {key: value for key, value in given.parameters.items() if key not in new}
        mark = others.get(SHOWN)
        plain = replace(given, parameters=without_marks(others))
        marks = {STATED: before[STATED]} if STATED in before else {}
        unchanged = StatedTable(replace(given, parameters={**plain.parameters, **old, **marks}))
        if mark == digest(new) or (mark is None and new == old):
            return unchanged
        rows = self._view.rows(unit.connection, stored) if stored else {}
        if not new:
            return _withdrawn(unit, plain, old, rows, sizes_counted=sizes_counted)
        known = parameters_for_spark(stored, rows) if stored else {}
        return _new_statistics(unit, plain, new, old, known, rows, before.get(_TOTAL_SIZE)) or unchanged


def with_spark_counts(old: Parameters, new: Parameters) -> dict[str, str]:
    """The new parameters of a partition; if Spark has changed its rows or bytes, numRows and totalSize follow."""
    before, now = spark_properties.read(old), spark_properties.read(new)
    return (
        dict(new)
        if (before.rows, before.size_bytes) == (now.rows, now.size_bytes)
        else _with_counts(new, now, old.get(_TOTAL_SIZE))
    )


def _new_statistics(
    unit: Unit,
    plain: Table,
    new: Parameters,
    old: Parameters,
    known: Parameters,
    rows: Mapping[str, Row],
    size_before: str | None,
) -> StatedTable | None:
    """The table with the new statistics in Spark's parameters; None if there are none.

    `known` are the parameters shown to Spark. If a column is as Spark had stored it although newer statistics are
    known, its writer did not see those, and they stay.
    """
    now, seen, before = (spark_properties.read(each) for each in (new, known, old))
    kept = dict(new)
    types = {column.name.lower(): column.type.lower() for column in data_columns(plain)}
    made = Provenance(exact=False, rows_seen=now.rows, sample_fraction=1.0, tool=SPARK)
    written: list[ColumnStatistics] = []
    for name, column in now.columns.items():
        if column == seen.columns.get(name):
            continue
        if column == before.columns.get(name) and name in seen.columns:
            for key in spark_properties.of_column(kept, name):
                del kept[key]
            kept |= spark_properties.of_column(known, name)
            continue
        parsed = from_spark(name.lower(), types.get(name.lower(), ""), column, now.rows)
        if parsed is not None:
            written.append(replace(parsed, provenance=made))
    if spark_properties.read(kept) == seen:
        return None
    named = {name.lower() for name in now.columns}
    removed = tuple(column for column, row in rows.items() if row.of_spark and column not in named)
    followed = _with_counts(plain.parameters, now, size_before)
    same_rows = followed.get(NUM_ROWS) == plain.parameters.get(NUM_ROWS)
    parameters = _unmarked(followed, written, keep_basic=same_rows)
    parameters |= {**kept, **stated(unit.now_seconds, kept)}
    return StatedTable(replace(plain, parameters=parameters), tuple(written), removed)


def _withdrawn(
    unit: Unit, plain: Table, old: Parameters, rows: Mapping[str, Row], *, sizes_counted: bool
) -> StatedTable:
    """The table after a change of data: nothing is accurate, and Spark's own statistics are removed.

    Statistics as old as the newest row or older are no longer shown to Spark.
    """
    totals = _totals(spark_properties.read(old)).items()
    followed = {
        key: str(count) for key, count in totals if count is not None and (key == NUM_ROWS or not sizes_counted)
    }
    parameters = {
        key: value for key, value in plain.parameters.items() if key != PARAMETER and followed.get(key) != value
    }
    pushed = [row.analyzed_seconds or 0 for row in rows.values() if not row.of_spark]
    marks = stated(max(pushed, default=unit.now_seconds), {})
    removed = tuple(column for column, row in rows.items() if row.of_spark)
    return StatedTable(replace(plain, parameters={**parameters, **marks}), removed=removed)


def _with_counts(parameters: Parameters, spark: SparkStatistics, size_before: str | None) -> dict[str, str]:
    """The parameters with Spark's rows and bytes; if only the size changes, the row count is stale and removed."""
    given = {key: str(count) for key, count in _totals(spark).items() if count is not None}
    grown = spark.rows is None and _TOTAL_SIZE in given and size_before != given[_TOTAL_SIZE]
    known = {key: value for key, value in parameters.items() if not (grown and key == NUM_ROWS)}
    return known | given


def _totals(spark: SparkStatistics) -> dict[str, int | None]:
    return {NUM_ROWS: spark.rows, _TOTAL_SIZE: spark.size_bytes}


def _unmarked(parameters: Parameters, written: list[ColumnStatistics], *, keep_basic: bool) -> dict[str, str]:
    """The parameters without accuracy marks of written columns, and of the row count unless `keep_basic`."""
    if PARAMETER not in parameters:
        return dict(parameters)
    accurate = Accurate.parse(parameters[PARAMETER]).without_columns([each.column for each in written])
    return {**parameters, PARAMETER: replace(accurate, basic=accurate.basic and keep_basic).text()}
