"""What an analysis found and how long it took."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hmstats.errors import AnalysisIncomplete
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics

_SHOWN_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """Statistics of a table or a partition.

    `rows` is None where they were not counted; `bytes` and `files` are None where there are no files, as for a view.
    `other`: further parameters to set, or to remove (None).
    """

    rows: int | None
    bytes: int | None
    files: int | None
    columns: tuple[ColumnStatistics, ...]
    other: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, str | None]:
        """The counts under the names that the metastore's parameters have for them, and all else to set or remove."""
        counts = {"numRows": self.rows, "totalSize": self.bytes, "numFiles": self.files}
        return {**self.other, **{name: str(count) for name, count in counts.items() if count is not None}}


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an analysis.

    `whole` is the table's own finding, None when only some partitions were analysed. `partitions` is how many were,
    `unchanged` how many were left out because their files are as they were. `rows` is None where none were counted.
    `files` and `bytes` are those that were analysed. `skipped` is column to the reason why it has no statistics.
    `seconds` is step to its duration. `failed` is partition (WHOLE_TABLE: the table itself) to the reason why it is not
    stored. `spooled` is how many partitions, the table itself among them, are in the spool folder.
    """

    table: TableName
    whole: Finding | None
    partitions: int
    rows: int | None
    skipped: Mapping[str, str]
    seconds: Mapping[str, float]
    files: int = 0
    bytes: int = 0
    unchanged: int = 0
    columns: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    spooled: int = 0

    def as_json(self) -> dict[str, Any]:
        """The report as a JSON object: names, counts and durations, without the statistics themselves."""
        return {
            "table": f"{self.table.database}.{self.table.table}",
            "catalog": self.table.catalog,
            "partitions": self.partitions,
            "unchanged": self.unchanged,
            "rows": self.rows,
            "files": self.files,
            "bytes": self.bytes,
            "columns": list(self.columns),
            "skipped": dict(self.skipped),
            "failed": dict(self.failed),
            "spooled": self.spooled,
            "seconds": {step: round(seconds, 3) for step, seconds in self.seconds.items()},
        }


def check_complete(report: Report) -> None:
    """Raises AnalysisIncomplete, with the report, when something could not be read or was refused."""
    if not report.failed:
        return
    shown = [f"{name or 'the table itself'}: {reason}" for name, reason in sorted(report.failed.items())]
    more = f"; and {len(shown) - _SHOWN_FAILURES} more" if len(shown) > _SHOWN_FAILURES else ""
    name = f"{report.table.database}.{report.table.table}"
    sentence = f"not all of {name} could be analysed and stored: {'; '.join(shown[:_SHOWN_FAILURES])}{more}"
    raise AnalysisIncomplete(sentence, report)
