"""Blame as it is recorded and summed over queries. No literal, no text and no user of a query is kept."""

from dataclasses import dataclass

from hmstats.model.feedback.verdicts import MENDABLE, Blame


@dataclass(frozen=True, slots=True)
class Seen:
    """The blame found in one query. Queries that differ in literals only have one `shape`. `at_ms`: its begin."""

    blame: Blame
    engine: str
    shape: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class BlameSum:
    """All that a table or column was to blame for, with one use and verdict. `worst` weighs most.

    `queries` counts each shape once a day. `analyzed_at_seconds` is the epoch time of the table's statistics now.
    """

    worst: Seen
    queries: int
    weight: float
    last_ms: int
    analyzed_at_seconds: int | None = None

    @property
    def analyzed_since(self) -> bool:
        """Whether the statistics are newer than the last of the queries."""
        return self.analyzed_at_seconds is not None and self.analyzed_at_seconds * 1_000 > self.last_ms

    @property
    def can_be_mended(self) -> bool:
        """Whether a new analysis would correct the estimates, and none has run since."""
        return self.worst.blame.verdict in MENDABLE and not self.analyzed_since
