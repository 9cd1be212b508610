"""What Spark says of a table when it writes it: its statistics become everyone's, and a view written back is dropped.

Spark's ANALYZE alters the table: all of its parameters of statistics are new. They are stored as they are, and what
differs from what was known becomes column statistics, rows and bytes. An alter without any of them, of a table that had
some, says that the data has changed: Spark's own statistics go, and pushed ones are shown to Spark no more until newer
ones come.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Parameters, Table
from hmstats.model.column_statistics import DEFAULT_ENGINE, ColumnStatistics, StatisticsSet
from hmstats.model.events import StatisticsUpdated
from hmstats.model.provenance import Provenance
from hmstats.model.row_counts import NUM_ROWS
from hmstats.model.spark_statistics import SparkStatistics
from hmstats.outlets import spark_properties
from hmstats.outlets.spark_columns import from_spark
from hmstats.service.statistics import details
from hmstats.service.statistics.spark_marks import SHOWN, STATED, digest, stated, without_marks
from hmstats.service.statistics.spark_view import SPARK, Row, SparkView, shown
from hmstats.store import column_statistics
from hmstats.store.details import OF_TABLE
from hmstats.store.unit import Unit

_TOTAL_SIZE = "totalSize"


@dataclass(frozen=True, slots=True)
class Settled:
    """A table as it is to be stored, the column statistics that came with it, and the columns that lose theirs."""

    table: Table
    written: tuple[ColumnStatistics, ...] = ()
    gone: tuple[str, ...] = ()

    def keep(self, unit: Unit, table_id: int) -> None:
        """Store the statistics, once the table is stored."""
        replaced = [*self.gone, *(each.column for each in self.written)]
        if replaced:
            column_statistics.delete_tables(unit, [table_id], replaced, DEFAULT_ENGINE)
        if not self.written:
            return
        given = StatisticsSet(self.written, None, DEFAULT_ENGINE, unit.now_seconds)
        column_statistics.write_table(unit, table_id, self.table.name, given)
        details.keep(unit, table_id, {OF_TABLE: given}, None)
        table = replace(self.table, id=table_id)
        unit.record(StatisticsUpdated(table, given, table.parameters))


class SparkStatements:
    """Finds out what is new in a table that is written."""

    def __init__(self, view: SparkView) -> None:
        self._view = view

    def settled(self, unit: Unit, stored: Table | None, given: Table) -> Settled:
        """What to store instead of `given`, when `stored` was there before (None: the table is new)."""
        before: Parameters = stored.parameters if stored else {}
        old, new = spark_properties.own(before), spark_properties.own(given.parameters)
        others = {key: value for key, value in given.parameters.items() if key not in new}
        mark = others.get(SHOWN)
        plain = replace(given, parameters=without_marks(others))
        marks = {STATED: before[STATED]} if STATED in before else {}
        unchanged = Settled(replace(given, parameters={**plain.parameters, **old, **marks}))
        if mark == digest(new) or (mark is None and new == old):
            return unchanged
        rows = self._view.rows(unit.connection, stored) if stored else {}
        if not new:
            return _withdrawn(unit, plain, old, rows)
        return _said(unit, plain, new, old, shown(stored, rows) if stored else {}, rows) or unchanged


def counted(old: Parameters, new: Parameters) -> dict[str, str]:
    """The new parameters of a partition; rows and bytes that Spark has just stated are the metastore's own too."""
    before, now = spark_properties.read(old), spark_properties.read(new)
    return dict(new) if (before.rows, before.size_bytes) == (now.rows, now.size_bytes) else _following(new, now)


def _said(
    unit: Unit, plain: Table, new: Parameters, old: Parameters, known: Parameters, rows: Mapping[str, Row]
) -> Settled | None:
    """What Spark's new parameters bring; None when they say nothing but what was known.

    `known` is what Spark is shown. A column that is said as Spark had stored it, though newer statistics are known, was
    said by one who did not see those.
    """
    now, seen, before = (spark_properties.read(each) for each in (new, known, old))
    kept = dict(new)
    types = {column.name.lower(): column.type.lower() for column in plain.columns}
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
        found = from_spark(name.lower(), types.get(name.lower(), ""), column, now.rows)
        if found is not None:
            written.append(replace(found, provenance=made))
    if spark_properties.read(kept) == seen:
        return None
    named = {name.lower() for name in now.columns}
    gone = tuple(column for column, row in rows.items() if row.of_spark and column not in named)
    followed = _following(plain.parameters, now)
    same_rows = followed.get(NUM_ROWS) == plain.parameters.get(NUM_ROWS)
    parameters = _unmarked(followed, written, keep_basic=same_rows)
    parameters |= {**kept, **stated(unit.now_seconds, kept)}
    return Settled(replace(plain, parameters=parameters), tuple(written), gone)


def _withdrawn(unit: Unit, plain: Table, old: Parameters, rows: Mapping[str, Row]) -> Settled:
    """The data has changed: nothing is exact, and what Spark had said goes.

    Statistics of the second of the newest row and before are shown to Spark no more.
    """
    followed = {key: str(count) for key, count in _totals(spark_properties.read(old)).items() if count is not None}
    parameters = {
        key: value for key, value in plain.parameters.items() if key != PARAMETER and followed.get(key) != value
    }
    pushed = [row.analyzed_seconds or 0 for row in rows.values() if not row.of_spark]
    marks = stated(max(pushed, default=unit.now_seconds), {})
    gone = tuple(column for column, row in rows.items() if row.of_spark)
    return Settled(replace(plain, parameters={**parameters, **marks}), gone=gone)


def _following(parameters: Parameters, said: SparkStatistics) -> dict[str, str]:
    """The parameters with the rows and bytes that Spark says; another size alone says that the rows are others."""
    given = {key: str(count) for key, count in _totals(said).items() if count is not None}
    grown = said.rows is None and _TOTAL_SIZE in given and parameters.get(_TOTAL_SIZE) != given[_TOTAL_SIZE]
    known = {key: value for key, value in parameters.items() if not (grown and key == NUM_ROWS)}
    return known | given


def _totals(said: SparkStatistics) -> dict[str, int | None]:
    return {NUM_ROWS: said.rows, _TOTAL_SIZE: said.size_bytes}


def _unmarked(parameters: Parameters, written: list[ColumnStatistics], *, keep_basic: bool) -> dict[str, str]:
    """The parameters with no column marked as accurate that Spark wrote, and no row count unless it is kept."""
    if PARAMETER not in parameters:
        return dict(parameters)
    accurate = Accurate.parse(parameters[PARAMETER]).without_columns([each.column for each in written])
    return {**parameters, PARAMETER: replace(accurate, basic=accurate.basic and keep_basic).text()}
