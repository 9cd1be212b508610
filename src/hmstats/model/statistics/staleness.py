"""Whether a column's statistics are older than the rows that they describe."""

from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.provenance import Provenance


def stale(column: ColumnStatistics, parameters: Parameters) -> str | None:
    """The reason why a column's statistics are stale, by the parameters of its table or partition; None if they are
    not.

    A writer of rows takes the column out of COLUMN_STATS_ACCURATE, as Hive does, or changes the number of rows. Without
    the parameter only the number of rows is compared.
    """
    return why_stale(column.column, column.provenance, parameters)


def why_stale(column: str, made: Provenance | None, parameters: Parameters) -> str | None:
    """The reason why statistics of this provenance are stale, by the parameters of their owner; None if not stale."""
    rows = known_rows(parameters)
    whole = made is not None and made.sample_fraction == 1 and made.rows_seen is not None
    if made is not None and whole and rows is not None and made.rows_seen != rows:
        return f"made of {made.rows_seen:,} rows, now {rows:,}"
    if PARAMETER in parameters and column not in Accurate.parse(parameters[PARAMETER]).columns:
        return f"not in {PARAMETER}"
    return None
