"""Statistics that made estimates of queries wrong."""

from dataclasses import dataclass
from datetime import datetime

from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.verdicts import Verdict
from hmstats.web.answers.numbers import Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedLine:
    """A table, or a column of it, that is to blame for wrong estimates, with one use and verdict.

    `estimated` and `rows` are those of the query that weighs most, `factor` its error. `queries` counts each shape once
    a day. `weight` is the sum of log2 of the factor x seconds. `analyzed_since`: its statistics are newer.
    """

    table: str
    database: str
    name: str
    column: str | None = None
    verdict: Verdict
    why: str
    used_for: Use
    engine: str
    estimated: float | None = None
    rows: Whole
    factor: float
    queries: int
    weight: float
    last_at: datetime
    analyzed_since: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The lines that weigh most; `refresh` names the tables among them that an analysis would mend, the worst first."""

    lines: tuple[BlamedLine, ...]
    refresh: tuple[str, ...]
