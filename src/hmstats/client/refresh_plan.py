"""The plan of a round of refreshing, from the metastore's health, runs, locks and preferences; no file is listed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from hmstats.client import Metastore
from hmstats.client.recent_runs import recent_runs
from hmstats.client.refusals import refusals
from hmstats.errors import UnknownCall
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName, TableName
from hmstats.model.feedback.verdicts import MENDABLE
from hmstats.model.health.health import WHOLE
from hmstats.model.health.pages import ObjectHealth
from hmstats.model.health.plan import Blamed, Candidate, Plan, blamed_candidate, candidate, look, plan_work, share_of
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.health.runs import Lease, Outcome, Run, Speeds, speeds
from hmstats.model.preferences import windows
from hmstats.model.preferences.in_force import Stated
from hmstats.model.preferences.preference import Subject
from hmstats.model.preferences.values import EVERY
from hmstats.model.statistics.statistics_locks import StatisticsLock, table_lock

_ALL = "*"
_WEEK_MS = 7 * 86_400_000


@dataclass(frozen=True, slots=True)
class Round:
    """The plan of a round, and the tables that are left out of it with the reason.

    `complete`: everything that is wanted was looked at.
    """

    plan: Plan
    skipped: Mapping[TableName, str]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts that a plan is made from.

    `last_ms`: the last finished run of each table. `blamed`: what queries of the last week have shown since the
    statistics were made. `waiting`: since when new statistics of tables (None) and partitions
    wait, as epoch times in seconds.
    """

    now_ms: int
    speeds: Speeds
    leases: Mapping[TableName, Lease]
    runners: Mapping[TableName, str | None]
    last_ms: Mapping[TableName, int]
    locks: Mapping[tuple[str, str], Sequence[StatisticsLock]]
    stated: Stated
    waiting: Mapping[TableName, Mapping[str | None, int]]
    blamed: Mapping[TableName, Blamed]


def plan_round(
    service: Metastore, wanted: RefreshRequest, now_ms: int, busy: Mapping[TableName, float] | None = None
) -> Round:
    """The plan of a round; `busy` are tables that were written to a moment ago, with the seconds since then."""
    candidates, skipped = list[Candidate](), dict[TableName, str]()
    known: _Known | None = None
    complete = True
    for of, pattern in wanted.tables or _everything(service):
        known = _read_known(service, of.database, of.catalog, now_ms, wanted)
        for number, each in enumerate(service.health.tables(of.database, pattern, catalog=of.catalog)):
            if number == wanted.most:
                complete = False
                break
            complete = complete and (wanted.most is None or (each.health.stale_partitions or 0) <= wanted.most)
            seconds = (busy or {}).get(each.table)
            reason = _reason(each, known, wanted) if seconds is None else f"written to {seconds:.0f} s ago"
            if reason is not None and each.health.health < WHOLE:
                skipped[each.table] = reason
            elif reason is None:
                candidates += _candidates(service, each, known, wanted)
    overhead = known.speeds.overhead_seconds if known is not None else 1.0
    unique = {(each.table, each.partition): each for each in candidates}
    plan, refused = _plan_readable(service, [*unique.values()], wanted.budget_seconds, overhead)
    return Round(plan, skipped | refused, complete)


def _everything(service: Metastore) -> list[tuple[DatabaseName, str | None]]:
    """All databases of each catalog. The default catalog is last: its runs tell the overhead of a run."""
    catalogs = sorted(service.catalog_names(), key=lambda each: each == DEFAULT_CATALOG)
    return [(DatabaseName(each, _ALL), None) for each in catalogs]


def _plan_readable(
    service: Metastore, candidates: Sequence[Candidate], budget_seconds: float | None, overhead_seconds: float
) -> tuple[Plan, dict[TableName, str]]:
    """The plan, and the tables that have no place in it since an analysis refuses them, with the reason.

    Only the definitions of tables that the budget has room for are read.
    """
    known, refused = set[TableName](), dict[TableName, str]()
    while True:
        readable = [each for each in candidates if each.table not in refused]
        plan = plan_work(readable, budget_seconds, overhead_seconds=overhead_seconds)
        news = {each.table for each in plan.taken} - known
        found = refusals(service, sorted(news, key=str))
        if not found:
            return plan, refused
        known |= news
        refused |= found


def _read_known(service: Metastore, database: str, catalog: str, now_ms: int, wanted: RefreshRequest) -> _Known:
    waiting: dict[TableName, dict[str | None, int]] = {}
    for owner in service.pending.listed(database, None, catalog):
        waiting.setdefault(owner.table, {})[owner.partition] = owner.held_at_seconds
    stated = service.preferences.stated(database, None, catalog)
    runs, leases = recent_runs(service, database, catalog, now_ms - int(_longest_pause(stated, wanted) * 1_000))
    locks: dict[tuple[str, str], list[StatisticsLock]] = {}
    for each in service.locks.listed(database, None, catalog):
        locks.setdefault((each.object.database.database, each.object.table or ""), []).append(each)
    done = [each for each in runs if each.outcome is Outcome.DONE]
    return _Known(
        now_ms,
        speeds(runs),
        {name: lease for name, (lease, _) in leases.items()},
        {name: runner for name, (_, runner) in leases.items()},
        _last(done),
        locks,
        stated,
        waiting,
        _read_blamed(service, database, catalog, now_ms),
    )


def _longest_pause(stated: Stated, wanted: RefreshRequest) -> float:
    """The longest time in seconds for which a run keeps others from its table."""
    every = (stated.of(each.subject).every_seconds for each in stated.preferences if each.name == EVERY)
    return max(wanted.look_seconds or 0.0, *(each or 0.0 for each in every), 0.0)


def _read_blamed(service: Metastore, database: str, catalog: str, now_ms: int) -> dict[TableName, Blamed]:
    """The tables whose statistics caused wrong estimates that a new analysis would correct."""
    found: dict[TableName, Blamed] = {}
    try:
        sums = service.blame.sums(database, None, since_ms=now_ms - _WEEK_MS, catalog=catalog)
    except UnknownCall:  # a server of the version before, while it is upgraded
        return found
    for each in sums:
        blame = each.worst.blame
        if blame.verdict in MENDABLE and not each.analyzed_since:
            known = found.get(blame.table, Blamed())
            found[blame.table] = Blamed(known.weight + each.weight, max(known.factor, blame.factor))
    return found


def _last(runs: Sequence[Run]) -> dict[TableName, int]:
    found: dict[TableName, int] = {}
    for each in runs:
        found[each.table] = max(found.get(each.table, 0), each.started_ms)
    return found


def _reason(of: ObjectHealth, known: _Known, wanted: RefreshRequest) -> str | None:
    """The reason why a table is left out of a round; None if it is not."""
    name = of.table
    lease = known.leases.get(name, Lease())
    if lease.run_id is not None and lease.until_ms > known.now_ms:
        return f"is being refreshed by {known.runners.get(name) or 'another run'}"
    if lease.retry_ms is not None and lease.retry_ms > known.now_ms:
        return f"failed {lease.failures} times in a row, is tried again at {_time(lease.retry_ms)}"
    locks = [*known.locks.get((name.database, ""), ()), *known.locks.get((name.database, name.table), ())]
    if table_lock(locks) is not None:
        return "is locked"
    subject = Subject(name.parent, name.table)
    if not known.stated.is_automatic(subject):
        return "is left out of automatic analyses by its preferences"
    preferred = known.stated.of(subject)
    now = datetime.fromtimestamp(known.now_ms / 1000, UTC)
    if preferred.window and windows.closes_at(preferred.window, now) is None:
        return f"has a window of its own: {windows.windows_text(preferred.window)}"
    if None in _waiting(name, known, wanted) and of.health.partitions is None:
        return f"has new statistics that wait since {_time(known.waiting[name][None] * 1_000)}: hmstats pending list"
    last, every = known.last_ms.get(name), preferred.every_seconds
    if every is not None and last is not None and last + every * 1_000 > known.now_ms:
        return f"is analysed every {every:,} s at most"
    return None


def _candidates(service: Metastore, of: ObjectHealth, known: _Known, wanted: RefreshRequest) -> Iterator[Candidate]:
    """A table, or its partitions whose health is below 100; or a look at the files of one that looks fresh."""
    blame = known.blamed.get(of.table)
    if of.health.health == WHOLE and blame is not None:
        yield blamed_candidate(of, known.speeds, blame)
        return
    if of.health.health == WHOLE:
        last = known.last_ms.get(of.table, 0)
        if wanted.look_seconds is not None and last + wanted.look_seconds * 1_000 <= known.now_ms and _has_data(of):
            yield look(of, known.speeds)
        return
    use = 1.0 if blame is None else blame.use
    if of.health.partitions is None:
        yield candidate(of, known.speeds, known.now_ms, use)
        return
    held = _excluded_partitions(of.table, known) | _waiting(of.table, known, wanted)
    for each in islice(service.health.partitions(of.table, below=WHOLE), wanted.most):
        if each.partition not in held:
            yield candidate(each, known.speeds, known.now_ms, use, share_of(each, of))


def _excluded_partitions(name: TableName, known: _Known) -> set[str | None]:
    """The partitions that are locked, or excluded from automatic analyses."""
    locks = known.locks.get((name.database, name.table), ())
    held: set[str | None] = {each.object.partition for each in locks if not each.object.columns}
    stated = {each.subject.partition for each in known.stated.preferences if each.subject.table_name == name}
    for each in stated - {None}:
        if not known.stated.is_automatic(Subject(name.parent, name.table, each)):
            held.add(each)
    return held - {None}


def _waiting(name: TableName, known: _Known, wanted: RefreshRequest) -> set[str | None]:
    """The partitions (None: the table) whose new statistics wait, and are too young to be made again.

    Their health stays below 100 until somebody publishes them, so that every round would analyse them.
    """
    at_least = 0.0 if wanted.look_seconds is None else known.now_ms / 1_000 - wanted.look_seconds
    return {partition for partition, held_at in known.waiting.get(name, {}).items() if held_at > at_least}


def _has_data(of: ObjectHealth) -> bool:
    return of.health.columns > 0 or bool(of.health.partitions)


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
