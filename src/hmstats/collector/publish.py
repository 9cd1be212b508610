"""What goes to the metastore of a finding: its parameters, its column statistics, and how they were made.

Top-k sketches and what is known of the making of the statistics go with them; hmstats keeps both, a Hive Metastore
neither.
"""

from dataclasses import replace

from hmstats import __version__
from hmstats.client.parcel import Item
from hmstats.collector.report import Finding
from hmstats.model.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.provenance import Provenance

_TOOL = f"hmstats {__version__}"


def item(finding: Finding, partition: str | None, sample_fraction: float = 1.0) -> Item:
    """What is pushed of a finding about a partition, or the table itself (None).

    `sample_fraction` is the part of the rows that was looked at: of less than all no number is exact.
    """
    return Item(StatisticsSet(_signed(finding, sample_fraction), partition), finding.parameters)


def _signed(finding: Finding, sample_fraction: float) -> tuple[ColumnStatistics, ...]:
    """The columns' statistics with what is known of their making. Of a sample the columns say themselves what it was.

    A distinct count is an estimate; all other numbers of all rows are exact.
    """
    whole = Provenance(rows_seen=finding.rows, sample_fraction=sample_fraction)
    return tuple(replace(each, provenance=_made(each, each.provenance or whole)) for each in finding.columns)


def _made(column: ColumnStatistics, seen: Provenance) -> Provenance:
    exact = getattr(column.data, "ndv", None) is None and seen.sample_fraction == 1
    return replace(seen, exact=exact, tool=_TOOL)
