"""An analysis of a table by its format's own metadata: all rows of one version, in this process, without Spark."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from hmstats.client import Metastore
from hmstats.collector.delivery.deliver import Delivery, deliver
from hmstats.collector.delivery.items import TOOL
from hmstats.collector.findings.without_scan import UNTRUE
from hmstats.collector.lake.formats import check_request, open_table
from hmstats.collector.lake.opened import LakeTable
from hmstats.collector.lake.sketches import registered, sketched_columns
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint
from hmstats.collector.planning.locked import LOCKED, left_out, locks_of, unlocked_columns
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import columns_of
from hmstats.collector.report import Finding, PuffinFile, Report, check_complete
from hmstats.collector.request.statement import Statement
from hmstats.collector.scan.dataframe import conformed
from hmstats.collector.scan.states import States
from hmstats.model.catalog.objects import Table
from hmstats.model.spark.spark_schema import LOG_SCHEMA
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.sketch.distinct.theta import ThetaSketch

_NO_SKETCHES: Mapping[str, ThetaSketch] = {}
_PUFFIN = "the Puffin file"
"""What failed, in a report."""


@dataclass(frozen=True, slots=True)
class LakePlan:
    """What will be read: `types` is column to Hive type, `skipped` column to the reason why it has no statistics.

    `sketched` are the columns that get a theta sketch in the table's own metadata. `unchanged`: the version was
    analysed before, for these columns and with these options. `left` is why nothing is to be analysed.
    """

    table: Table
    opened: LakeTable
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    sketched: tuple[str, ...]
    fingerprint: str
    unchanged: bool = False
    left: str | None = None

    @property
    def bytes(self) -> int:
        """The size of the live data files."""
        return sum(file.bytes for file in self.opened.files)


def plan_lake(
    metastore: Metastore, table: Table, request: Statement, options: Options, *, changed_only: bool, past_locks: bool
) -> LakePlan:
    """The plan of a request for such a table; nothing is written. Locked columns are left out unless `past_locks`.

    Raises StatementError for partitions, for a missing column, for a table that cannot be read, and unless
    `changed_only` for one whose statistics are locked; SettingsError if the reader of the format is not installed.
    """
    check_request(table, request)
    opened = open_table(table)
    if opened.schema is not None:
        table = replace(table, parameters={**table.parameters, LOG_SCHEMA: opened.schema})
    types, skipped = columns_of(table, request, taken=metastore.keeps_columns_of_spark(table))
    skipped |= {name: reason for name, reason in opened.without.items() if name in types}
    types = {name: type_ for name, type_ in types.items() if name not in skipped}
    left: str | None = None
    locked: set[str] = set()
    if not past_locks:
        locks = locks_of(metastore, table.name)
        locked = {column for lock in locks if lock.object.partition is None for column in lock.object.columns}
        free, left = unlocked_columns(locks, table.name, types, automatic=changed_only)
        if changed_only and left is None:
            left = left_out(metastore.preferences.of_table(table.name), table.name, table.parameters)
        skipped |= dict.fromkeys(types.keys() - free.keys(), LOCKED)
        types = free
    sketched = sketched_columns(opened, request, options, locked)
    # The name of a file that no version but this has.
    identity = f"{opened.identity} {options.puffin_columns}" if opened.sketched else opened.identity
    found = fingerprint([DataFile(identity, 0)], types, options)
    same = changed_only and table.parameters.get(PARAMETER) == found
    return LakePlan(table, opened, types, skipped, sketched, found, unchanged=same, left=left)


def analyze_lake(
    metastore: Metastore,
    table: Table,
    request: Statement,
    options: Options,
    delivery: Delivery,
    *,
    changed_only: bool,
    row_counts: bool,
) -> Report:
    """Compute and store the statistics of a table's newest version.

    `row_counts`: with noscan, the rows that the log says. `delivery` says whether locked statistics are written.
    Raises as plan_lake; UnreadableFile; AnalysisIncomplete, with the report, if the metastore refused the statistics.
    """
    seconds: dict[str, float] = {}
    with _timed(seconds, "plan"):
        plan = plan_lake(metastore, table, request, options, changed_only=changed_only, past_locks=delivery.past_locks)
    finding: Finding | None = None
    puffin: PuffinFile | None = None
    failed: dict[str, str] = {}
    if plan.left is None and request.noscan:
        finding = _counted(plan, row_counts=row_counts)
    elif plan.left is None and not plan.unchanged:
        with _timed(seconds, "read"):
            sketches = {name: ThetaSketch() for name in plan.sketched}
            finding = _found(plan, accumulated(plan.opened, plan.types, options, sketches), options)
        with _timed(seconds, "register"):
            # Before the statistics: they mark the version as analysed.
            puffin, reason = registered(metastore, plan.opened, sketches, options)
        if reason is not None:
            failed[_PUFFIN] = reason
            finding = replace(finding, other={**finding.other, PARAMETER: None})
    spooled = 0
    if finding is not None:
        with _timed(seconds, "publish"):
            _keep_schema(metastore, plan, table)
            delivered = deliver(delivery, [(WHOLE_TABLE, finding)], options.sample_fraction)
            failed |= delivered.refused
            spooled = delivered.spooled
    report = Report(
        table=table.name,
        whole=finding,
        partitions=0,
        rows=finding.rows if finding else 0,
        skipped=plan.skipped,
        seconds=seconds,
        files=len(plan.opened.files) if finding else 0,
        bytes=plan.bytes if finding else 0,
        unchanged=int(plan.unchanged),
        left=plan.left,
        columns=tuple(plan.types),
        failed=failed,
        spooled=spooled,
        puffin=puffin,
    )
    check_complete(report)
    return report


def accumulated(
    opened: LakeTable, types: Mapping[str, str], options: Options, sketches: Mapping[str, ThetaSketch] = _NO_SKETCHES
) -> TableAccumulator:
    """The state of all rows, or of a sample of them; all values of the columns of `sketches` are added to these.

    Raises UnreadableFile.
    """
    found = States(types, options).of(WHOLE_TABLE)
    sample = np.random.default_rng(0)
    names = [*types, *(name for name in sketches if name not in types)]
    places = {name: place for place, name in enumerate(names)}
    for batch in opened.read(names):
        for name, sketch in sketches.items():
            sketch.update(batch.column(places[name]))
        seen = conformed(batch, types)
        if options.sampled:
            seen = seen.take(np.flatnonzero(sample.random(batch.num_rows) < options.sample_fraction))
            found.leave_out(batch.num_rows - seen.num_rows)
        found.update(seen)
    return found


def _found(plan: LakePlan, total: TableAccumulator, options: Options) -> Finding:
    columns = tuple(_signed(each, plan, total.rows, options) for each in total.statistics(plan.types))
    outlet = plan.opened.outlet
    versions = outlet.parameters(plan.table.parameters, list(plan.types)) if outlet and plan.types else {}
    return Finding(total.rows, plan.bytes, len(plan.opened.files), columns, {**versions, PARAMETER: plan.fingerprint})


def _signed(column: ColumnStatistics, plan: LakePlan, rows: int, options: Options) -> ColumnStatistics:
    """The column's statistics, with the version that was read in their provenance."""
    seen = column.provenance or Provenance(rows_seen=rows, sample_fraction=options.sample_fraction)
    return replace(column, provenance=replace(seen, tool=f"{TOOL}, {plan.opened.version}"))


def _counted(plan: LakePlan, *, row_counts: bool) -> Finding:
    """Files and bytes by the table's own metadata, and the rows if they are known without reading."""
    stored, total_bytes, files = plan.table.parameters, plan.bytes, len(plan.opened.files)
    same = (stored.get("totalSize"), stored.get("numFiles")) == (str(total_bytes), str(files))
    rows = plan.opened.rows if row_counts else None
    return Finding(rows, total_bytes, files, (), other={} if same else UNTRUE)


def _keep_schema(metastore: Metastore, plan: LakePlan, stored: Table) -> None:
    """Store the schema of the table's own log, without which the metastore refuses statistics of its columns."""
    if plan.types and plan.opened.schema is not None and stored.parameters.get(LOG_SCHEMA) != plan.opened.schema:
        metastore.put_table_parameters(stored.name, {LOG_SCHEMA: plan.opened.schema})


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - begin
