"""Analyses an Iceberg table of a catalog other than a metastore, in this process, without Spark.

Distinct counts go to the table's own metadata, the only place that such a catalog has for them; all other numbers are
in the report.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hmstats.collector.durations import measure
from hmstats.collector.lake.catalogs.columns import hive_columns
from hmstats.collector.lake.catalogs.named import CatalogTable
from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.outlet import IcebergOutlet
from hmstats.collector.lake.iceberg.reader import open_snapshot
from hmstats.collector.lake.iceberg.source import Source
from hmstats.collector.lake.plan import LakePlan
from hmstats.collector.lake.reading import Rows, accumulate, column_statistics, read_all
from hmstats.collector.lake.sketches import register_sketches, sketched_columns
from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.plan import columns_of
from hmstats.collector.report import Finding, PuffinFile, Report, check_complete
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import Storage, Table

_PUFFIN = "the Puffin file"
"""The name of the failed step in a report."""


def analyze_in_catalog(
    table: CatalogTable,
    *,
    columns: Sequence[str] | None = None,
    changed_only: bool = False,
    options: Options = DEFAULT,
) -> Report:
    """Compute the statistics of a table's current snapshot, and register distinct counts for it in its catalog.

    `columns`: only these. `changed_only`: nothing is read if the current snapshot has counts of all these columns; only
    the added files are read if rows were only added to a snapshot that has them. Raises StatementError for a missing
    table or column, or a table that cannot be read; ServiceError; AnalysisIncomplete, with the report, if nothing could
    be registered.
    """
    seconds: dict[str, float] = {}
    with measure(seconds, "plan"):
        source = table.source()
        plan = _plan(table, source, columns, options, changed_only=changed_only)
    if plan.unchanged:
        return _report(plan, seconds)
    with measure(seconds, "read"):
        read, whole = _read(plan, options, changed_only=changed_only)
    puffin, failed = None, {}
    outlet = plan.opened.outlet
    if isinstance(outlet, IcebergOutlet):
        with measure(seconds, "register"):
            puffin, reason = register_sketches(
                lambda sketches, unwanted: outlet.register_by(table.commits, sketches, unwanted),
                plan.opened,
                read.sketches,
                options,
            )
        failed = {} if reason is None else {_PUFFIN: reason}
    report = _report(plan, seconds, read=read, whole=whole, puffin=puffin, failed=failed)
    check_complete(report)
    return report


def _plan(
    table: CatalogTable, source: Source, columns: Sequence[str] | None, options: Options, *, changed_only: bool
) -> LakePlan:
    opened = open_snapshot(table.name, source)
    if opened.only_by_spark is not None:
        raise StatementError(f"{opened.only_by_spark}; in catalogs other than a metastore it is not read by Spark")
    stored = Table(name=table.name, storage=Storage(columns=hive_columns(source.opened.schema())))
    named = None if columns is None else tuple(dict.fromkeys(each.strip().lower() for each in columns))
    request = Statement(table.name, named)
    types, skipped = columns_of(stored, request, taken=True)
    skipped |= {name: reason for name, reason in opened.without.items() if name in types}
    types = {name: type_ for name, type_ in types.items() if name not in skipped}
    sketched = sketched_columns(opened, request, options, ())
    fields = {opened.sketched[name].field_id for name in sketched}
    unchanged = changed_only and _is_registered(source.metadata, fields)
    return LakePlan(stored, opened, types, skipped, sketched, fingerprint="", unchanged=unchanged)


def _is_registered(metadata: Mapping[str, Any], fields: Collection[int]) -> bool:
    """Whether the current snapshot has its own counts of all these fields, and none of a dropped column."""
    current = metadata_of.current_snapshot_id(metadata)
    entry = None if current is None else metadata_of.entries(metadata).get(current)
    if entry is None:
        return not fields
    blobs = entry.get("blob-metadata") or ()
    counted = {field for each in blobs if each["snapshot-id"] == current for field in each["fields"]}
    named = {field for each in blobs for field in each["fields"]}
    return counted.issuperset(fields) and metadata_of.live_fields(metadata).issuperset(named)


def _read(plan: LakePlan, options: Options, *, changed_only: bool) -> tuple[Rows, Finding | None]:
    """Read the rows that are needed. Returns the finding about the table too, if those are all rows."""
    if changed_only and not options.sampled and (added := _read_added(plan, options)):
        return added, None
    read = read_all(plan, options)
    found = column_statistics(plan, read.total, options)
    return read, Finding(read.total.rows, plan.bytes, len(plan.opened.files), found)


def _read_added(plan: LakePlan, options: Options) -> Rows | None:
    """The sketches of the nearest earlier snapshot that has all of them, updated with the rows added since."""
    for version in plan.opened.earlier():
        added = version.added(plan.sketched)
        if added is not None:
            total = accumulate(added.read, {}, options, added.sketches)
            return Rows(total, added.sketches, added.files)
    return None


def _report(
    plan: LakePlan,
    seconds: Mapping[str, float],
    *,
    read: Rows | None = None,
    whole: Finding | None = None,
    puffin: PuffinFile | None = None,
    failed: Mapping[str, str] | None = None,
) -> Report:
    return Report(
        table=plan.table.name,
        whole=whole,
        partitions=0,
        rows=read.total.rows if read else 0,
        skipped=plan.skipped,
        seconds=seconds,
        files=len(read.files) if read else 0,
        bytes=sum(file.bytes for file in read.files) if read else 0,
        unchanged=int(plan.unchanged),
        columns=tuple(plan.types) if whole else plan.sketched if read else (),
        failed=failed or {},
        puffin=puffin,
    )
