"""Plans which statistics to refresh next: by benefit a second, until a budget is spent.

score = benefit / cost. benefit = staleness x use x share x waiting: staleness is 1 - health / 100, or by how much
estimates of queries were wrong; use is the weight of what queries need, 1 if unknown; share is the rows of a partition
by the mean of its table; waiting is 1 + days / 7 since health was first seen below 100, so that nothing starves. cost
is the predicted seconds. Partitions are taken one by one, so that no large table fills a round.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
        """The use of the statistics, as a term of the score; 1 for a table that no query was wrong about."""
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
    """The work of a run: a table (no partitions), or some partitions of it. `terms` are those of the best partition."""

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
    """The rows of a partition by the mean of its table's partitions; 1 if that is not known.

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


def plan_work(
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
    runs, left, spent = _Runs(run_seconds, run_partitions, overhead_seconds), list[Candidate](), 0.0
    for each in ordered:
        own = runs.seconds_of(each)
        if budget_seconds is None or not runs.all or spent + own <= budget_seconds:
            runs.add(each)
            spent += own
        else:
            left.append(each)
    return Plan(tuple(runs.all), tuple(left))


@dataclass(slots=True)
class _Runs:
    """Runs in the order of the best candidate of each. A further partition costs its run no overhead."""

    run_seconds: float
    run_partitions: int
    overhead_seconds: float
    all: list[Work] = field(default_factory=list)
    _open: dict[TableName, int] = field(default_factory=dict)
    """The index of the last run over partitions of each table."""

    def seconds_of(self, candidate: Candidate) -> float:
        """The predicted seconds that a candidate adds."""
        own = candidate.terms.cost_seconds
        return own if self._run_for(candidate) is None else own - self.overhead_seconds

    def add(self, candidate: Candidate) -> None:
        """Put a candidate into the open run of its table, or into a new one."""
        at, seconds = self._run_for(candidate), self.seconds_of(candidate)
        if at is not None:
            self.all[at] = _with_partition(self.all[at], candidate, seconds)
            return
        partitions = () if candidate.partition is None else (candidate.partition,)
        if partitions:
            self._open[candidate.table] = len(self.all)
        known = (candidate.size_bytes, candidate.terms, candidate.look, candidate.blamed)
        self.all.append(Work(candidate.table, partitions, candidate.reason, candidate.health, seconds, *known))

    def _run_for(self, candidate: Candidate) -> int | None:
        """The index of the run that has room for a candidate; None if the candidate needs a new run."""
        at = self._open.get(candidate.table)
        if candidate.partition is None or at is None:
            return None
        longer = self.all[at].seconds + candidate.terms.cost_seconds - self.overhead_seconds
        return at if longer <= self.run_seconds and len(self.all[at].partitions) < self.run_partitions else None


def _with_partition(run: Work, candidate: Candidate, seconds: float) -> Work:
    """A run over partitions with one more, which takes so many seconds."""
    sizes = (run.size_bytes, candidate.size_bytes)
    size = None if None in sizes else sum(each or 0 for each in sizes)
    partitions = (*run.partitions, candidate.partition or "")
    return replace(run, partitions=partitions, seconds=run.seconds + seconds, size_bytes=size)
