"""Whether a column's statistics are older than the rows that they describe."""

from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Parameters
from hmstats.model.column_statistics import ColumnStatistics
from hmstats.model.provenance import Provenance
from hmstats.model.row_counts import known_rows


def stale(column: ColumnStatistics, parameters: Parameters) -> str | None:
    """Why a column's statistics are behind, as the parameters of its table or partition tell it; None when not.

    A writer of rows takes the column out of COLUMN_STATS_ACCURATE, as Hive does, or changes the number of rows. A
    table that never had the parameter says nothing.
    """
    return why_stale(column.column, column.provenance, parameters)


def why_stale(column: str, made: Provenance | None, parameters: Parameters) -> str | None:
    """The same of a column whose statistics were made so."""
    rows = known_rows(parameters)
    whole = made is not None and made.sample_fraction == 1 and made.rows_seen is not None
    if made is not None and whole and rows is not None and made.rows_seen != rows:
        return f"made of {made.rows_seen:,} rows, now {rows:,}"
    if PARAMETER in parameters and column not in Accurate.parse(parameters[PARAMETER]).columns:
        return f"not in {PARAMETER}"
    return None
