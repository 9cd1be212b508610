"""What an analysis found and how long it took."""

from collections.abc import Mapping
from dataclasses import dataclass

from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics


@dataclass(frozen=True, slots=True)
class Finding:
    """Statistics of a table or a partition. `bytes` and `files` are None where there are no files, as for a view."""

    rows: int
    bytes: int | None
    files: int | None
    columns: tuple[ColumnStatistics, ...]

    @property
    def parameters(self) -> dict[str, str]:
        """The counts under the names that the metastore's parameters have for them."""
        counts = {"numRows": self.rows, "totalSize": self.bytes, "numFiles": self.files}
        return {name: str(count) for name, count in counts.items() if count is not None}


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an analysis.

    `whole` is the table's own finding, None when only some partitions were analysed. `partitions` is how many were.
    `skipped` is column to the reason why it has no statistics. `seconds` is step to its duration.
    """

    table: TableName
    whole: Finding | None
    partitions: int
    rows: int
    skipped: Mapping[str, str]
    seconds: Mapping[str, float]
