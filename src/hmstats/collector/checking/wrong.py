"""A wrong stored number, and how it is shown."""

from dataclasses import dataclass, replace
from typing import Any

from hmstats.collector.checking.seen import Limits
from hmstats.model.statistics.column_statistics import Kind
from hmstats.outlets.people.comparison import q_error
from hmstats.outlets.people.flat_table import bound_text


@dataclass(frozen=True, slots=True)
class Wrong:
    """A stored number outside of its `limits`; `column` is None for counts of rows, files and bytes.

    `q_error` is the factor between a count and the nearest limit; bounds have none. `kind` is that of the column's
    statistics.
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
        """A copy with the q-error of the stored number against the nearest limit."""
        return replace(self, q_error=q_error(self.stored, self.nearest))

    def texts(self) -> tuple[str, ...]:
        """Partition, column, statistic, stored number, limits, distance and q-error, as text for people."""
        error = "" if self.q_error is None else f"{self.q_error:.3g}"
        limits = f"{'' if self.limits.certain else '~'}{self._limits_text()}"
        place = (self.partition or "", self.column or "", self.statistic)
        return (*place, self.value_text(self.stored), limits, self._off_text(), error)

    def value_text(self, value: Any) -> str:
        """A stored number or a limit."""
        if self.is_bound and self.kind is not None:
            return bound_text(self.kind, value)
        return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"

    @property
    def is_bound(self) -> bool:
        """Whether it is the least or the greatest value of a column."""
        return self.statistic in ("low", "high")

    def _limits_text(self) -> str:
        low, high = self.limits.low, self.limits.high
        if low == high:
            return self.value_text(low)
        if low is None or high is None:
            return f"≤ {self.value_text(high)}" if low is None else f"≥ {self.value_text(low)}"
        return f"{self.value_text(low)} to {self.value_text(high)}"

    def _off_text(self) -> str:
        """The distance of the stored number from the nearest limit; in days for dates, in seconds for times."""
        off = self.stored - self.nearest
        return f"{off:+,.4g}" if isinstance(off, float) else f"{off:+,}"
