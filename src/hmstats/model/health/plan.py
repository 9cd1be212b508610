"""Which statistics to refresh next: by benefit a second, until a budget is spent.

score = benefit / cost. benefit = staleness x use x share x waiting: staleness is 1 - health / 100, or by how much
estimates of queries were wrong; use is the weight of what queries need, 1 if unknown; share is the rows of a partition
by the mean of its table; waiting is 1 + days / 7 since health was first seen below 100, so that nothing starves. cost
is the predicted seconds. Partitions are taken one by one, so that no large table fills a round.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import WHOLE, Reason
from hmstats.model.health.pages import ObjectHealth
from hmstats.model.health.runs import Speeds

_WEEK_MS = 7 * 86_400_000
_LEAST_SHARE = 0.1
_LOOK_STALENESS = 0.01
"""The staleness of statistics that look fresh, of a table whose files nobody has listed lately."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a score."""

    staleness: float
    use: float
    waiting: float
    cost_seconds: float
    share: float = 1.0

    @property
    def score(self) -> float:
        """Benefit a second."""
        return self.staleness * self.use * self.share * self.waiting / self.cost_seconds

    def as_dict(self) -> dict[str, float]:
        """The terms by name, with the score."""
        names = ("staleness", "use", "share", "waiting", "cost_seconds")
        return {each: round(getattr(self, each), 4) for each in names} | {"score": round(self.score, 6)}


@dataclass(frozen=True, slots=True)
class Blamed:
    """What queries have shown of a table: the weight of all errors of estimates that an analysis mends, and the largest
    factor of one.
    """

    weight: float = 0.0
    factor: float = 1.0

    @property
    def use(self) -> float:
        """How much more the statistics are worth than those of a table that nobody asks, which is 1."""
        return 1.0 + log2(1.0 + self.weight)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A table, or a partition of it, whose statistics may be refreshed.

    With `look`, its statistics look fresh, and only its files can tell. With `blamed`, they look fresh, and queries
    have shown that they are not.
    """

    table: TableName
    partition: str | None
    health: int
    reason: Reason
    size_bytes: int | None
    terms: Terms
    look: bool = False
    blamed: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """What one run does: a table (no partitions), or some partitions of it. `terms` are those of the best."""

    table: TableName
    partitions: tuple[str, ...]
    reason: Reason
    health: int
    seconds: float
    size_bytes: int | None
    terms: Terms
    look: bool = False
    blamed: bool = False

    @property
    def why(self) -> str:
        """The reason in words."""
        if self.blamed:
            return "queries blame it"
        return "its files may have changed" if self.look else self.reason.value


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of a round, in order, and the candidates that its budget has no room for."""

    taken: tuple[Work, ...]
    left: tuple[Candidate, ...] = ()

    @property
    def seconds(self) -> float:
        """The predicted seconds of the round."""
        return sum(each.seconds for each in self.taken)


def share_of(partition: ObjectHealth, table: ObjectHealth) -> float:
    """How many rows a partition has, by the mean of its table's partitions; 1 if that is not known.

    It is never so small that a partition without rows would never be looked at.
    """
    rows, every, number = partition.health.now.rows, table.health.now.rows, table.health.partitions
    if rows is None or not every or not number:
        return 1.0
    return max(rows * number / every, _LEAST_SHARE)


def candidate(of: ObjectHealth, speeds: Speeds, now_ms: int, use: float = 1.0, share: float = 1.0) -> Candidate:
    """A table or partition with the terms of its score."""
    found = of.health
    since = found.stale_since_ms
    waiting = 1.0 if since is None else 1.0 + max(now_ms - since, 0) / _WEEK_MS
    cost = speeds.seconds(of.table, found.now.size_bytes)
    terms = Terms(1.0 - found.health / WHOLE, use, waiting, cost, share)
    return Candidate(of.table, of.partition, found.health, found.reason, found.now.size_bytes, terms)


def look(of: ObjectHealth, speeds: Speeds) -> Candidate:
    """A table that looks fresh, to be analysed if its files have changed; only the list of them costs something."""
    terms = Terms(_LOOK_STALENESS, 1.0, 1.0, speeds.overhead_seconds)
    return Candidate(of.table, None, of.health.health, of.health.reason, 0, terms, look=True)


def blamed_candidate(of: ObjectHealth, speeds: Speeds, blame: Blamed) -> Candidate:
    """A table that looks fresh, and whose statistics made estimates wrong: all of it is analysed."""
    size = of.health.now.size_bytes
    terms = Terms(1.0 - 1.0 / max(blame.factor, 1.0), blame.use, 1.0, speeds.seconds(of.table, size))
    return Candidate(of.table, None, of.health.health, of.health.reason, size, terms, blamed=True)


def planned(
    candidates: Iterable[Candidate],
    budget_seconds: float | None,
    *,
    run_seconds: float = 30.0,
    run_partitions: int = 64,
    overhead_seconds: float = 1.0,
) -> Plan:
    """The round: the best first, until the budget is spent (None: all); at least one.

    Partitions of a table that follow each other are one run, of about `run_seconds` at most.
    """
    ordered = sorted(candidates, key=lambda each: (-each.terms.score, str(each.table), each.partition or ""))
    taken, left, spent = list[Candidate](), list[Candidate](), 0.0
    for each in ordered:
        own = each.terms.cost_seconds
        if budget_seconds is None or not taken or spent + own <= budget_seconds:
            taken.append(each)
            spent += own
        else:
            left.append(each)
    return Plan(tuple(_runs(taken, run_seconds, run_partitions, overhead_seconds)), tuple(left))


def _runs(
    taken: Sequence[Candidate], run_seconds: float, run_partitions: int, overhead_seconds: float
) -> Iterator[Work]:
    """The candidates as runs, in the order of the best of each."""
    open_runs: dict[TableName, int] = {}
    runs: list[Work] = []
    for each in taken:
        own = each.terms.cost_seconds
        at = open_runs.get(each.table)
        if each.partition is not None and at is not None:
            run = runs[at]
            longer = run.seconds + own - overhead_seconds
            if longer <= run_seconds and len(run.partitions) < run_partitions:
                size = None if run.size_bytes is None or each.size_bytes is None else run.size_bytes + each.size_bytes
                runs[at] = replace(run, partitions=(*run.partitions, each.partition), seconds=longer, size_bytes=size)
                continue
        partitions = () if each.partition is None else (each.partition,)
        if partitions:
            open_runs[each.table] = len(runs)
        known = (each.reason, each.health, own, each.size_bytes, each.terms, each.look, each.blamed)
        runs.append(Work(each.table, partitions, *known))
    yield from runs
