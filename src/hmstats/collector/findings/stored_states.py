"""Converts stored statistics to accumulators, so that new rows can be merged into them."""

from collections.abc import Iterable
from typing import Any

from hmstats.client import Metastore
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan
from hmstats.errors import SketchError, UnknownCall
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.sketch.accumulator import ColumnAccumulator, TableAccumulator
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram


def stored_total(metastore: Metastore, plan: Plan, pieces: Iterable[Piece]) -> TableAccumulator | None:
    """The merged stored state of some partitions; None if some of it is missing.

    If a Hive Metastore sends no sketches, the total has none.
    """
    rows = {piece.name: _count(piece.parameters.get("numRows")) for piece in pieces}
    known = {name: count for name, count in rows.items() if count is not None}
    if len(known) < len(rows):
        return None
    if not plan.types:
        return TableAccumulator({}, sum(known.values()))
    total: TableAccumulator | None = None
    seen = 0
    for each in read_statistics(metastore, plan, list(known)):
        made = accumulators(each, known.get(each.partition or "", 0))
        if made is None or made.columns.keys() != plan.types.keys():
            return None
        total = made if total is None else total.merge(made)
        seen += 1
    return total if seen == len(known) else None


def read_statistics(metastore: Metastore, plan: Plan, names: list[str] | None) -> Iterable[StatisticsSet]:
    """The statistics of the plan's columns, of some partitions or of the table itself (None)."""
    try:
        yield from metastore.statistics(plan.table, list(plan.types), names)
    except UnknownCall:  # not an hmstats
        if names is None:
            yield StatisticsSet(metastore.table_statistics(plan.table, list(plan.types)))
            return
        yield from metastore.partition_statistics(plan.table, list(plan.types), names)


def accumulators(found: StatisticsSet, rows: int) -> TableAccumulator | None:
    """The state of `rows` rows with these statistics; None if they are incomplete."""
    columns = {column.column: _column(column, rows) for column in found.columns}
    made = {name: column for name, column in columns.items() if column is not None}
    return TableAccumulator(made, rows) if len(made) == len(columns) else None


def _column(stored: ColumnStatistics, rows: int) -> ColumnAccumulator | None:
    """The column's state; None if a number is missing. The sum of lengths is computed from the average."""
    data: Any = stored.data
    if data.nulls is None or data.nulls > rows:
        return None
    try:
        made = ColumnAccumulator(stored.kind, *_sketches(data, stored.top_k))
    except SketchError:  # an older Hive's kind of bit vector
        return None
    made.rows, made.nulls = rows, data.nulls
    made.low, made.high = getattr(data, "low", None), getattr(data, "high", None)
    made.trues = getattr(data, "trues", None) or 0
    made.max_length = getattr(data, "max_length", None) or 0
    made.total_length = round((getattr(data, "average_length", None) or 0.0) * (rows - data.nulls))
    return made


def _sketches(data: Any, top_k: bytes | None) -> tuple[HiveHll | None, KllHistogram | None, TopK | None]:
    bit_vector, histogram = getattr(data, "bit_vector", None), getattr(data, "histogram", None)
    return (
        HiveHll.from_bytes(bit_vector) if bit_vector else None,
        KllHistogram.from_bytes(histogram) if histogram else None,
        TopK.from_bytes(top_k) if top_k else None,
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
