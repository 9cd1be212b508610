"""What a check found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hmstats.collector.checking.seen import Limits
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import Kind
from hmstats.outlets.comparison import q_error


@dataclass(frozen=True, slots=True)
class Wrong:
    """A stored number that is wrong; of the rows or the files as a whole where `column` is None.

    It must be within `limits`. `q_error` is the factor between a count and the nearest of them; bounds have none.
    `kind` is that of the column's statistics.
    """

    partition: str | None
    column: str | None
    statistic: str
    stored: Any
    limits: Limits
    kind: Kind | None = None
    q_error: float | None = None

    @property
    def nearest(self) -> Any:
        """The limit that the stored number is beyond."""
        low, high = self.limits.low, self.limits.high
        return low if high is None or (low is not None and self.stored < low) else high

    def with_q_error(self) -> "Wrong":
        """The same with the factor."""
        return replace(self, q_error=q_error(self.stored, self.nearest))


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of many numbers. Tallies merge in any order.

    `checked` numbers were compared, of which `open` ones fit what was read and could be wrong all the same. `rows` is
    how many there are, `rows_read` how many of them were read. Of `targets`, which are partitions or the table,
    `bare` ones have no column statistics.
    """

    checked: int = 0
    open: int = 0
    wrong: tuple[Wrong, ...] = ()
    targets: int = 0
    bare: int = 0
    rows: int = 0
    rows_read: int = 0

    def merge(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The outcome of a check of a table or some of its partitions.

    `skipped` is column to the reason why it has no statistics.
    """

    table: TableName
    tally: Tally
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> tuple[Wrong, ...]:
        """What is wrong: the table's own numbers, then those of its partitions, in the order of their names."""
        return tuple(sorted(self.tally.wrong, key=lambda each: each.partition or ""))

    def as_json(self) -> dict[str, Any]:
        """The counts as a JSON object."""
        counts = {name: value for name, value in asdict(self.tally).items() if name != "wrong"}
        return {"table": f"{self.table.database}.{self.table.table}", **counts, "wrong": len(self.tally.wrong)}
