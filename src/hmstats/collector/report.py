"""Findings and reports of an analysis."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

from hmstats.errors import AnalysisIncomplete
from hmstats.files.counted_reads import ReadCount
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.outlets.people.cells import amount, cells, headline
from hmstats.outlets.people.view import View

_SHOWN_FAILURES = 5
_HEADER = ("Column", "Type", "Nulls", "NDV", "Min", "Max", "Avg len", "Max len")


@dataclass(frozen=True, slots=True)
class Finding:
    """Statistics of a table or a partition.

    `rows` is None if they were not counted; `bytes` and `files` are None if there are no files, as for a view. `other`
    are further parameters to set, or to remove (None).
    """

    rows: int | None
    bytes: int | None
    files: int | None
    columns: tuple[ColumnStatistics, ...]
    other: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, str | None]:
        """The counts under the names of the metastore's parameters, and all other parameters to set or remove."""
        counts = {"numRows": self.rows, "totalSize": self.bytes, "numFiles": self.files}
        return {**self.other, **{name: str(count) for name, count in counts.items() if count is not None}}


@dataclass(frozen=True, slots=True)
class PuffinFile:
    """The Puffin file of an Iceberg table's snapshot: its path, and the columns whose distinct counts it has.

    `reason` is why no file is registered; `path` is None then.
    """

    path: str | None
    columns: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def sentence(self) -> str:
        """The outcome as a sentence for people."""
        if self.path is None:
            return f"no Puffin file: {self.reason}"
        return f"distinct counts of {', '.join(self.columns) or 'no column'} in the Puffin file {self.path}"


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The outcome of an analysis.

    `whole` is the table's own finding, None if only some partitions were analysed. `partitions` is the number of
    analysed ones, `unchanged` that of those skipped since their files have not changed. `rows` is None if none were
    counted. `files` and `bytes` are those that were analysed. `skipped` is the reason by column without statistics.
    `seconds` is the duration by step. `failed` is the reason by partition that is not stored (WHOLE_TABLE: the table
    itself). `spooled` is the number of partitions, including the table itself, in the spool folder. `waiting` is by
    partition (WHOLE_TABLE: the table itself) the reason why its new numbers wait for a publish. `locked` are the
    partitions that were skipped since their statistics are locked. `left` is the reason why nothing of the table was
    analysed. `puffin` is the Puffin file of an Iceberg table, None if none was to be written. `reads` is the number of
    bytes that were read of files, and of requests, which is unknown if Spark has read some; None if nothing was to be
    read, or if some bytes are not known: of views and ORC that Spark reads, of files that delta-rs or PyIceberg read by
    access of their own.
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
    waiting: Mapping[str, str] = field(default_factory=dict)
    locked: tuple[str, ...] = ()
    left: str | None = None
    puffin: PuffinFile | None = None
    reads: ReadCount | None = None

    def __repr__(self) -> str:
        return self._view().text()

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        return self._view().html()

    @property
    def waiting_sentence(self) -> str:
        """A sentence with the number of partitions whose new numbers wait, and the reason of the first one."""
        reason = next(iter(self.waiting.values()), "")
        many = f"{len(self.waiting):,} of {self.table.typed}"
        return f"not in force yet: {many}, which wait for hmstats pending publish: {reason}"

    def _view(self) -> View:
        """The counts, the columns' statistics, and the skipped parts."""
        name = self.table.typed
        counts = {"numRows": self.rows, "totalSize": self.bytes, "numFiles": self.files}
        shown = {key: str(count) for key, count in counts.items() if count is not None}
        if self.partitions:
            shown["numPartitions"] = str(self.partitions)
        columns = self.whole.columns if self.whole else ()
        rows = [(each.column, each.column_type, *astuple(cells(each))) for each in columns]
        return View(headline(name, shown), _HEADER, rows, [*self._notes()])

    def _notes(self) -> Iterator[str]:
        if self.left:
            yield f"left out: {self.left}"
        if self.locked:
            yield f"left out: {amount(len(self.locked), 'partition')} whose statistics are locked"
        if self.unchanged:
            yield f"left out: {amount(self.unchanged, 'partition')} with the same files as before"
        yield from (f"left out: column {column}, {reason}" for column, reason in self.skipped.items())
        yield from (f"failed: {name or 'the table itself'}: {reason}" for name, reason in self.failed.items())
        if self.spooled:
            yield f"not stored yet: {self.spooled:,}, which wait in the spool folder for hmstats push"
        if self.waiting:
            yield self.waiting_sentence
        if self.puffin is not None:
            yield self.puffin.sentence
        if self.reads is not None:
            yield self.reads.sentence
        yield f"took {sum(self.seconds.values()):.1f} seconds"

    def as_json(self) -> dict[str, Any]:
        """The report as a JSON object: names, counts and durations, without the statistics themselves."""
        return {
            "table": self.table.short,
            "catalog": self.table.catalog,
            "partitions": self.partitions,
            "unchanged": self.unchanged,
            "locked": list(self.locked),
            "left_out": self.left,
            "rows": self.rows,
            "files": self.files,
            "bytes": self.bytes,
            "columns": list(self.columns),
            "skipped": dict(self.skipped),
            "failed": dict(self.failed),
            "spooled": self.spooled,
            "waiting": dict(self.waiting),
            "puffin_file": self.puffin.path if self.puffin else None,
            "puffin_columns": list(self.puffin.columns) if self.puffin else [],
            "read_bytes": self.reads.bytes if self.reads else None,
            "requests": self.reads.requests if self.reads else None,
            "seconds": {step: round(seconds, 3) for step, seconds in self.seconds.items()},
        }


def check_complete(report: Report) -> None:
    """Raises AnalysisIncomplete, with the report, if something could not be read or was refused."""
    if not report.failed:
        return
    shown = [f"{name or 'the table itself'}: {reason}" for name, reason in sorted(report.failed.items())]
    more = f"; and {len(shown) - _SHOWN_FAILURES} more" if len(shown) > _SHOWN_FAILURES else ""
    name = report.table.typed
    sentence = f"not all of {name} could be analysed and stored: {'; '.join(shown[:_SHOWN_FAILURES])}{more}"
    raise AnalysisIncomplete(sentence, report)
