"""Analyses a table by its format's own metadata: all rows of one version, in this process, without Spark."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from hmstats.client import Metastore
from hmstats.collector.delivery.deliver import Delivery, deliver
from hmstats.collector.delivery.waiting import waiting_reasons
from hmstats.collector.durations import measure
from hmstats.collector.findings.without_scan import STALE_PARAMETERS
from hmstats.collector.lake.formats import open_table
from hmstats.collector.lake.opened import Hadoop, no_settings
from hmstats.collector.lake.plan import LakePlan, plan_lake
from hmstats.collector.lake.reading import Rows, column_statistics, read_added, read_all, read_by_spark
from hmstats.collector.lake.sketches import register_sketches
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.report import Finding, PuffinFile, Report, check_complete
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.files.counted_reads import ReadCount
from hmstats.model.catalog.objects import Table
from hmstats.model.parameters.accurate import PARAMETER as ACCURATE
from hmstats.model.spark.spark_schema import LOG_SCHEMA
from hmstats.sketch.accumulator import TableAccumulator

_PUFFIN = "the Puffin file"
"""The name of the failed step in a report."""


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of an analysis: finding, counted or read files, Puffin file, and the reason by failed step."""

    finding: Finding | None = None
    files: Sequence[DataFile] = ()
    puffin: PuffinFile | None = None
    failed: Mapping[str, str] = field(default_factory=dict)


def analyze_lake(
    metastore: Metastore,
    table: Table,
    request: Statement,
    options: Options,
    delivery: Delivery,
    *,
    changed_only: bool,
    row_counts: bool,
    own_commits: int | None = None,
    spark: Any = None,
    hadoop: Hadoop = no_settings,
) -> Report:
    """Compute and store the statistics of a table's newest version.

    `row_counts`: with noscan, store the rows that the log gives. `delivery` says whether locked statistics are written.
    `own_commits`: the newest commits that are the caller's, whose rows alone may be read. `spark` is a session, if
    there is one: it reads tables that nothing else here reads. `hadoop` returns a setting of Hadoop by its name.

    Raises as plan_lake does; UnreadableFile; AnalysisIncomplete, with the report, if the metastore refused the
    statistics; StatementError if rows of other commits than the `own_commits` would be read.
    """
    seconds: dict[str, float] = {}
    with measure(seconds, "plan"):
        plan = plan_lake(
            metastore,
            table,
            request,
            options,
            changed_only=changed_only,
            past_locks=delivery.past_locks,
            hadoop=hadoop,
        )
    if plan.left_out is not None:
        result = _Result()
    elif request.noscan:
        result = _Result(_count_finding(plan, row_counts=row_counts), files=plan.opened.files)
    elif plan.unchanged:
        result = _Result()
    else:
        read = partial(_read_rows, plan, options, spark, delivery.metastore, own_commits)
        result = _read(metastore, plan, options, read, seconds)
    failed, spooled, held = result.failed, 0, dict[str, str]()
    if result.finding is not None:
        with measure(seconds, "publish"):
            _store_schema(metastore, plan, table)
            delivered = deliver(delivery, [(WHOLE_TABLE, result.finding)], options.sample_fraction)
            failed, spooled = {**failed, **delivered.refused}, delivered.spooled
            held = waiting_reasons(metastore, plan.table.name, [WHOLE_TABLE])
            if not (delivered.refused or delivered.spooled):
                _unmark_if_committed(metastore, plan, result.finding, hadoop)
    report = replace(_report(plan, result, failed, spooled, seconds), waiting=held)
    check_complete(report)
    return report


def _report(
    plan: LakePlan, result: _Result, failed: Mapping[str, str], spooled: int, seconds: Mapping[str, float]
) -> Report:
    return Report(
        table=plan.table.name,
        whole=result.finding,
        partitions=0,
        rows=result.finding.rows if result.finding else 0,
        skipped=plan.skipped,
        seconds=seconds,
        files=len(result.files),
        bytes=sum(file.bytes for file in result.files),
        unchanged=int(plan.unchanged),
        left=plan.left_out,
        columns=tuple(plan.types),
        failed=failed,
        spooled=spooled,
        puffin=result.puffin,
        reads=_reads(plan) if "read" in seconds else None,
    )


def _reads(plan: LakePlan) -> ReadCount | None:
    """The bytes and requests that were read of the table's files; None if the library that read them does not tell."""
    if plan.opened.reads is None or plan.opened.only_by_spark is not None:
        return None
    return plan.opened.reads.count


def _read(
    metastore: Metastore, plan: LakePlan, options: Options, read_rows: Callable[[], Rows], seconds: dict[str, float]
) -> _Result:
    """Read the rows, and register their sketches where the format takes them.

    Sketches are registered before the statistics are delivered, which mark the version as analysed.
    """
    with measure(seconds, "read"):
        read = read_added(metastore, plan, options) or read_rows()
        finding = _row_finding(plan, read.total, options)
    puffin, reason = None, None
    if plan.opened.outlet is not None:
        with measure(seconds, "register"):
            register = partial(plan.opened.outlet.register, metastore)
            puffin, reason = register_sketches(register, plan.opened, read.sketches, options)
    if reason is None:
        return _Result(finding, read.files, puffin)
    unmarked = replace(finding, other={**finding.other, PARAMETER: None})
    return _Result(unmarked, read.files, puffin, {_PUFFIN: reason})


def _read_rows(plan: LakePlan, options: Options, spark: Any, metastore: str, own_commits: int | None) -> Rows:
    """All rows, read by Spark if nothing else can. Raises StatementError if there are commits besides `own_commits`."""
    if own_commits is not None and plan.opened.commits > own_commits:
        raise StatementError(
            f"table {plan.table.name.typed} must be read as a whole at {plan.opened.version}: rows were changed or"
            " removed, or the statistics of the version before are not stored; hmstats refresh or analyze does that"
        )
    if plan.opened.only_by_spark is not None:
        return read_by_spark(spark, metastore, plan, options)
    return read_all(plan, options)


def _row_finding(plan: LakePlan, total: TableAccumulator, options: Options) -> Finding:
    columns = column_statistics(plan, total, options)
    outlet = plan.opened.outlet
    versions = outlet.parameters(plan.table.parameters, list(plan.types)) if outlet and plan.types else {}
    other = {**_marks(plan), **versions, PARAMETER: plan.fingerprint}
    return Finding(total.rows, plan.bytes, len(plan.opened.files), columns, other)


def _marks(plan: LakePlan) -> dict[str, None]:
    """The parameters that remove the mark of accuracy, if the next commit would leave a mark untouched."""
    return {} if plan.opened.commits_are_told else {ACCURATE: None}


def _unmark_if_committed(metastore: Metastore, plan: LakePlan, finding: Finding, hadoop: Hadoop) -> None:
    """Remove the mark of accuracy if the analysed version is no longer the newest one.

    A commit before the statistics were stored could not remove the mark; a later one does.
    """
    if finding.rows is None or not plan.opened.commits_are_told:
        return
    table = metastore.find_table(plan.table.name)
    if table is not None and open_table(table, hadoop).identity != plan.opened.identity:
        metastore.put_table_parameters(table.name, {ACCURATE: None})


def _count_finding(plan: LakePlan, *, row_counts: bool) -> Finding:
    """Files and bytes from the table's own metadata, and the rows if they are known without reading."""
    stored, total_bytes, files = plan.table.parameters, plan.bytes, len(plan.opened.files)
    same = (stored.get("totalSize"), stored.get("numFiles")) == (str(total_bytes), str(files))
    rows = plan.opened.rows if row_counts else None
    return Finding(rows, total_bytes, files, (), other={**_marks(plan), **({} if same else STALE_PARAMETERS)})


def _store_schema(metastore: Metastore, plan: LakePlan, stored: Table) -> None:
    """Store the schema from the table's own log, without which the metastore refuses statistics of its columns."""
    if plan.types and plan.opened.schema is not None and stored.parameters.get(LOG_SCHEMA) != plan.opened.schema:
        metastore.put_table_parameters(stored.name, {LOG_SCHEMA: plan.opened.schema})
