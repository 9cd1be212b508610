"""What is refreshed next: the score, and what holds of every plan."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import Health, Reason, Size
from hmstats.model.health.pages import ObjectHealth
from hmstats.model.health.plan import Blamed, Candidate, blamed_candidate, candidate, look, plan_work, share_of
from hmstats.model.health.runs import Speeds

NOW_MS = 10_000_000_000
DAY_MS = 86_400_000
SPEEDS = Speeds(of_all=1e6, overhead_seconds=1.0)


def found(
    health: int,
    size_bytes: int | None = 1_000_000,
    table: str = "t",
    partition: str | None = None,
    since_ms: int | None = NOW_MS,
) -> ObjectHealth:
    size = Size(size_bytes=size_bytes)
    reason = Reason.CHANGED if health < 100 else Reason.FRESH
    judged = Health(health, reason, size, size, 0, True, 3, 3, 1, since_ms if health < 100 else None)
    return ObjectHealth(TableName("hive", "d", table), partition, judged)


def scored(*given_: ObjectHealth) -> list[Candidate]:
    return [candidate(each, SPEEDS, NOW_MS) for each in given_]


def test_the_score_is_the_benefit_of_a_second() -> None:
    (one,) = scored(found(20, 3_000_000, since_ms=NOW_MS - 7 * DAY_MS))
    terms = {"staleness": 0.8, "use": 1.0, "share": 1.0, "waiting": 2.0, "cost_seconds": 4.0}
    assert one.terms.as_dict() == {**terms, "score": 0.4}


def test_partitions_are_weighed_by_their_rows() -> None:
    def partition(name: str, rows: int | None, size: int) -> Candidate:
        part = found(0, size, partition=name)
        part = replace(part, health=replace(part.health, now=replace(part.health.now, rows=rows)))
        return candidate(part, SPEEDS, NOW_MS, share=share_of(part, table))

    table = found(0)
    table = replace(table, health=replace(table.health, partitions=4, now=replace(table.health.now, rows=4_000)))
    large, small = partition("large", 3_980, 10**8), partition("small", 10, 10**6)
    empty, unknown = partition("empty", 0, 10**6), partition("unknown", None, 10**6)
    assert [each.terms.share for each in (large, small, empty, unknown)] == [3.98, 0.1, 0.1, 1.0]
    # Ten times the bytes and 400 times the rows: the large one first, which it was not without its share.
    medium = partition("medium", 3_980, 10**7)
    assert [each.partition for each in plan_work([small, medium], 0.0).left] == ["small"]
    assert share_of(found(0, partition="p"), found(0)) == 1.0


def test_small_and_stale_comes_before_large_and_stale() -> None:
    plan = plan_work(scored(found(0, 10**9, "large"), found(0, 10**6, "small"), found(90, 10**6, "fine")), None)
    assert [each.table.table for each in plan.taken] == ["small", "fine", "large"]


def test_what_queries_blame_comes_first_and_looks_fresh() -> None:
    blame = Blamed(weight=7.0, factor=4.0)
    fresh = blamed_candidate(found(100, table="blamed"), SPEEDS, blame)
    assert fresh.terms.as_dict() | {"score": 0} == {
        "staleness": 0.75,
        "use": 4.0,
        "share": 1.0,
        "waiting": 1.0,
        "cost_seconds": 2.0,
        "score": 0,
    }
    plan = plan_work([look(found(100, table="other"), SPEEDS), *scored(found(20)), fresh], None)
    assert [(each.table.table, each.blamed) for each in plan.taken] == [
        ("blamed", True),
        ("t", False),
        ("other", False),
    ]
    assert Blamed().use == 1.0


def test_nothing_starves() -> None:
    """A large table that waits comes before small ones that are stale again and again."""
    waiting = found(0, 20 * 10**6, "large", since_ms=NOW_MS - 90 * DAY_MS)
    plan = plan_work(scored(waiting, found(0, 10**6, "small")), None)
    assert plan.taken[0].table.table == "large"


def test_a_look_at_files_comes_last() -> None:
    plan = plan_work([*scored(found(99)), look(found(100, table="fresh"), SPEEDS)], None)
    assert [each.look for each in plan.taken] == [False, True] or plan.taken[0].terms.score > 0


def test_partitions_of_a_table_are_few_runs() -> None:
    parts = [found(0, 10**6, partition=f"p={each}") for each in range(100)]
    plan = plan_work(scored(*parts), None, run_seconds=30, run_partitions=64)
    assert [len(each.partitions) for each in plan.taken] == [29, 29, 29, 13]
    assert all(each.seconds <= 30 for each in plan.taken)
    assert plan.taken[0].size_bytes == 29 * 10**6


def test_a_further_partition_of_a_run_spends_no_overhead() -> None:
    parts = [found(0, 0, partition=f"p={each}") for each in range(9)]
    (first, *_) = scored(*parts)
    plan = plan_work(scored(*parts), first.terms.cost_seconds + 0.1, overhead_seconds=first.terms.cost_seconds)
    assert ([len(each.partitions) for each in plan.taken], plan.left) == ([9], ())


healths = st.builds(
    found,
    st.integers(0, 99),
    st.none() | st.integers(0, 10**10),
    st.sampled_from("abc"),
    st.none() | st.sampled_from([f"p={each}" for each in range(40)]),
    st.integers(0, NOW_MS),
)


@given(st.lists(healths, max_size=60, unique_by=lambda each: (each.table, each.partition)), st.floats(0, 10_000))
def test_a_plan_takes_the_best_until_its_budget_is_spent(given_: list[ObjectHealth], budget: float) -> None:
    wanted = scored(*given_)
    plan = plan_work(wanted, budget)
    taken = {(each.table, part) for each in plan.taken for part in each.partitions or (None,)}
    left = {(each.table, each.partition) for each in plan.left}
    assert taken | left == {(each.table, each.partition) for each in wanted}  # nothing is lost
    assert not taken & left
    assert sum(len(each.partitions) or 1 for each in plan.taken) == len(taken)  # nothing is done twice
    assert bool(taken) == bool(wanted)  # at least one, whatever the budget
    by_place = {(each.table, each.partition): each for each in wanted}
    assert plan.seconds <= budget + 1e-6 or len(taken) == 1
    best = max((each.terms.score for each in wanted), default=0)
    assert not plan.taken or plan.taken[0].terms.score == best
    for each in left:  # what has no place would not fit
        assert plan.seconds + by_place[each].terms.cost_seconds > budget - 1e-6 or len(taken) == 1


@given(healths, st.integers(1, 90), st.integers(0, 10**9))
def test_the_score_grows_with_staleness_and_waiting_and_falls_with_cost(
    of: ObjectHealth, days: int, more_bytes: int
) -> None:
    usual = candidate(of, SPEEDS, NOW_MS).terms.score
    assert candidate(of, SPEEDS, NOW_MS + days * DAY_MS).terms.score > usual
    worse = found(max(of.health.health - 1, 0), of.health.now.size_bytes, since_ms=of.health.stale_since_ms)
    assert candidate(worse, SPEEDS, NOW_MS).terms.score >= usual
    size = of.health.now.size_bytes
    if size is not None:
        larger = found(of.health.health, size + more_bytes, since_ms=of.health.stale_since_ms)
        assert candidate(larger, SPEEDS, NOW_MS).terms.score <= usual
