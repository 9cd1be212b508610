"""The report of a check."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hmstats.collector.checking.wrong import Wrong
from hmstats.model.catalog.objects import TableName
from hmstats.outlets.people.view import View

_HEADER = ("Partition", "Column", "Statistic", "Stored", "Must be", "Off by", "q-error")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of compared numbers. Tallies merge in any order.

    `checked` numbers were compared; `undecided` ones among them fit the rows that were read but could still be wrong.
    Of `rows` existing rows, `rows_read` were read. Of `targets`, which are partitions or the table,
    `without_statistics` have no column statistics.
    """

    checked: int = 0
    undecided: int = 0
    wrong: tuple[Wrong, ...] = ()
    targets: int = 0
    without_statistics: int = 0
    rows: int = 0
    rows_read: int = 0

    def merge(self, other: "Tally") -> "Tally":
        """The sums of both."""
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True, repr=False)
class CheckReport:
    """The outcome of a check of a table or some of its partitions.

    `skipped` gives for each column without statistics the reason.
    """

    table: TableName
    tally: Tally
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> tuple[Wrong, ...]:
        """The wrong numbers: the table's own, then those of its partitions, sorted by name."""
        return tuple(sorted(self.tally.wrong, key=lambda each: each.partition or ""))

    def __repr__(self) -> str:
        return self._view().text()

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        return self._view().html()

    def _view(self) -> View:
        """The counts, and a row for each wrong number."""
        tally = self.tally
        counts = f"{tally.checked:,} numbers compared, {len(tally.wrong):,} wrong"
        title = f"{self.table.typed}: {counts}; {tally.rows_read:,} of {tally.rows:,} rows read"
        notes = [f"left out: column {column}, {reason}" for column, reason in self.skipped.items()]
        return View(title, _HEADER, [each.texts() for each in self.wrong], notes)

    def as_json(self) -> dict[str, Any]:
        """The counts as a JSON object."""
        counts = {name: value for name, value in asdict(self.tally).items() if name != "wrong"}
        return {"table": self.table.typed, **counts, "wrong": len(self.tally.wrong)}
