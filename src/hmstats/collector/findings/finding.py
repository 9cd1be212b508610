"""The finding about a piece before its rows are read, and about the table after all rows were read."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from hmstats.client import Metastore
from hmstats.collector.delivery.waiting import waiting_reasons
from hmstats.collector.findings.stored_states import stored_total
from hmstats.collector.findings.without_scan import STALE_PARAMETERS
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint
from hmstats.collector.planning.plan import Plan
from hmstats.collector.planning.prepare import Files
from hmstats.collector.report import Finding
from hmstats.model.parameters.accurate import PARAMETER as ACCURATE
from hmstats.sketch.accumulator import TableAccumulator


def file_finding(plan: Plan, files: Sequence[DataFile], options: Options) -> Finding:
    """A finding about these files, without their rows; it has no mark of accuracy if Hive reads other rows of them."""
    if not plan.has_files:
        return Finding(None, None, None, ())
    marks = {} if plan.hive_reads_alike else {ACCURATE: None}
    other = {PARAMETER: fingerprint(files, plan.types, options), **marks}
    return Finding(None, sum(file.bytes for file in files), len(files), (), other)


def table_finding(
    metastore: Metastore, plan: Plan, files: Files, analysed: TableAccumulator, options: Options
) -> Finding | None:
    """The finding about the table itself, from the state of all analysed rows and the stored statistics of the rest.

    None if only a part of the table was requested, or if none of its files has changed. If too little is stored about
    the rest, or if numbers of it are pending, so that the stored ones are older, the finding has only files and bytes,
    and removes the stale parameters.
    """
    if not plan.whole:
        return None
    known = file_finding(plan, list(chain.from_iterable(files.values())), options)
    total: TableAccumulator | None = analysed
    if plan.unchanged:
        if not plan.pieces and known.other.get(PARAMETER) == plan.parameters.get(PARAMETER):
            return None
        pending = waiting_reasons(metastore, plan.table, [each.name for each in plan.unchanged])
        others = None if pending else stored_total(metastore, plan, plan.unchanged)
        total = analysed.merge(others) if others and plan.pieces else others
    if total is None:
        return replace(known, other=STALE_PARAMETERS)
    return replace(known, rows=total.rows, columns=total.statistics(plan.types))
