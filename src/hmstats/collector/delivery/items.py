"""Converts findings to items for the metastore: parameters, column statistics, and their provenance.

Top-k sketches and provenance are sent too: hmstats stores both, a Hive Metastore neither.
"""

from dataclasses import replace

from hmstats.client.sending.parcel import Item
from hmstats.collector.report import Finding
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.version import __version__

TOOL = f"hmstats {__version__}"


def item(finding: Finding, partition: str | None, sample_fraction: float = 1.0) -> Item:
    """The item for a finding about a partition, or the table itself (None).

    `sample_fraction` is the fraction of the rows that was read; below 1 no number is exact, and nothing is marked as
    accurate, since Hive answers queries from the bounds of a marked column. The number of rows is marked as accurate if
    all rows of all files were counted; otherwise that mark is removed.
    """
    marks: dict[str, str | None] = {}
    if finding.rows is not None:
        marks[PARAMETER] = Accurate(basic=finding.files is not None).text() if sample_fraction == 1 else None
    return Item(StatisticsSet(_add_provenance(finding, sample_fraction), partition), {**marks, **finding.parameters})


def _add_provenance(finding: Finding, sample_fraction: float) -> tuple[ColumnStatistics, ...]:
    """Add the provenance to the columns' statistics. Columns of a sample have it already.

    Without a sample, every number but the distinct count is exact.
    """
    whole = Provenance(rows_seen=finding.rows, sample_fraction=sample_fraction)
    return tuple(
        replace(each, provenance=_complete_provenance(each, each.provenance or whole)) for each in finding.columns
    )


def _complete_provenance(column: ColumnStatistics, seen: Provenance) -> Provenance:
    exact = getattr(column.data, "ndv", None) is None and seen.sample_fraction == 1
    return replace(seen, exact=exact, tool=seen.tool or TOOL)
