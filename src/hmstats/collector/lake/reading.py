"""Reads the rows of a table into accumulators and sketches: all rows, or those that an earlier version lacked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hmstats.client import Metastore
from hmstats.collector.delivery.items import TOOL
from hmstats.collector.findings.stored_states import accumulators
from hmstats.collector.lake.plan import LakePlan
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan.dataframe import conform_batch
from hmstats.collector.scan.states import States
from hmstats.errors import SparkNeeded, UnknownCall
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.sketch.distinct.theta import ThetaSketch


@dataclass(frozen=True, slots=True)
class Rows:
    """The state of all rows of a table, sketches of some columns, and the files that were read for them."""

    total: TableAccumulator
    sketches: Mapping[str, ThetaSketch]
    files: Sequence[DataFile]


def read_all(plan: LakePlan, options: Options) -> Rows:
    """The state of all rows, or of a sample of them. Raises UnreadableFile."""
    sketches = {name: ThetaSketch() for name in plan.sketched}
    return Rows(accumulate(plan.opened.read, plan.types, options, sketches), sketches, plan.opened.files)


def read_by_spark(spark: Any, metastore: str, plan: LakePlan, options: Options) -> Rows:
    """The state of all rows of a table that only Spark reads; `metastore` is an address.

    Columns that Spark reads in another form than the sketched one have no sketch. Raises SparkNeeded without a session,
    StatementError if it has no reader of the format; UnreadableFile.
    """
    if spark is None or plan.opened.by_spark is None:
        raise SparkNeeded(f"{plan.opened.only_by_spark}; Spark with the format's runtime reads it")
    sketched = [name for name in plan.sketched if name not in plan.opened.without]
    total, sketches = plan.opened.by_spark(spark, metastore, plan.types, sketched, options)
    return Rows(total, sketches, plan.opened.files)


def read_added(metastore: Metastore, plan: LakePlan, options: Options) -> Rows | None:
    """The state of all rows, from the stored state of the plan's earlier version and the rows added since.

    None if there is no such version, or if its state is not completely stored. Raises UnreadableFile.
    """
    if plan.earlier is None:
        return None
    before = _stored_state(metastore, plan, plan.earlier.version)
    added = None if before is None else plan.earlier.added(plan.sketched)
    if before is None or added is None:
        return None
    total = before.merge(accumulate(added.read, plan.types, options, added.sketches))
    return Rows(total, added.sketches, added.files)


def accumulate(
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]],
    types: Mapping[str, str],
    options: Options,
    sketches: Mapping[str, ThetaSketch],
) -> TableAccumulator:
    """The state of the rows, or of a sample of them; all values of the columns in `sketches` are added to the sketches.

    Raises UnreadableFile.
    """
    found = States(types, options).of(WHOLE_TABLE)
    sample = np.random.default_rng(0)
    names = [*types, *(name for name in sketches if name not in types)]
    places = {name: place for place, name in enumerate(names)}
    for batch in read(names):
        for name, sketch in sketches.items():
            sketch.update(batch.column(places[name]))
        seen = conform_batch(batch, types)
        if options.sampled:
            seen = seen.take(np.flatnonzero(sample.random(batch.num_rows) < options.sample_fraction))
            found.leave_out(batch.num_rows - seen.num_rows)
        found.update(seen)
    return found


def column_statistics(plan: LakePlan, total: TableAccumulator, options: Options) -> tuple[ColumnStatistics, ...]:
    """The columns' statistics, whose provenance names the version that was read."""
    unknown = Provenance(rows_seen=total.rows, sample_fraction=options.sample_fraction)
    tool = f"{TOOL}, {plan.opened.version}"
    return tuple(
        replace(each, provenance=replace(each.provenance or unknown, tool=tool))
        for each in total.statistics(plan.types)
    )


def _stored_state(metastore: Metastore, plan: LakePlan, version: str) -> TableAccumulator | None:
    """The state of a version from the stored statistics; None if a column's are of another version, or incomplete.

    The parameter numRows is not used for the rows, since engines set it with each commit.
    """
    if not plan.types:
        return None
    try:
        (found,) = metastore.statistics(plan.table.name, list(plan.types))
    except (UnknownCall, ValueError):  # not an hmstats, or no statistics
        return None
    rows = {_rows_of(each, version) for each in found.columns}
    if len(found.columns) != len(plan.types) or len(rows) != 1 or None in rows:
        return None
    return accumulators(found, rows.pop() or 0)


def _rows_of(column: ColumnStatistics, version: str) -> int | None:
    """The number of rows that a column's statistics cover; None unless they are of this version."""
    seen = column.provenance
    if seen is None or seen.sample_fraction != 1 or not (seen.tool or "").endswith(f", {version}"):
        return None
    return seen.rows_seen
