"""Health: what it is in each case, and what holds after any sequence of changes."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.health.health import UNMARKED_HEALTH, WHOLE, Facts, Health, Part, Reason, Size, assess, merge_parts

NOW_MS = 1_000_000_000
MADE = Facts(
    Size(rows=1_000, files=10, size_bytes=10_000),
    columns=4,
    analyzed=4,
    counted=True,
    marked=True,
    analyzed_at_seconds=500,
    seen_rows=1_000,
    changed_at_seconds=400,
)


COUNT = st.none() | st.integers(0, 3)
SIZES = st.builds(Size, COUNT, COUNT, COUNT)
ANALYZED = st.builds(
    Facts,
    SIZES,
    columns=st.just(2),
    analyzed=st.integers(1, 2),
    counted=st.booleans(),
    marked=st.booleans(),
    analyzed_at_seconds=COUNT,
    seen_rows=COUNT,
    changed_at_seconds=COUNT,
    rewritten=st.booleans(),
    then=st.none() | SIZES,
)
WITHDRAWN = ANALYZED.map(lambda each: replace(each, marked=False, withdrawn=True))


def resized(facts: Facts, **size: int | None) -> Facts:
    return replace(facts, size=replace(facts.size, **size))


def after(*facts: Facts) -> Health:
    health: Health | None = None
    for number, each in enumerate(facts):
        health = assess(health, each, NOW_MS + number)
    assert health is not None
    return health


def test_new_statistics_are_whole() -> None:
    health = after(MADE)
    assert (health.health, health.reason, health.stale_since_ms) == (WHOLE, Reason.FRESH, None)


def test_a_table_without_statistics_is_missing_them() -> None:
    health = after(replace(MADE, analyzed=0, analyzed_at_seconds=None, seen_rows=None, marked=False))
    assert (health.health, health.reason, health.stale_since_ms) == (0, Reason.MISSING, NOW_MS)


def test_an_empty_table_lacks_nothing() -> None:
    empty = Facts(Size(0, 0, 0), columns=4, analyzed=0, counted=True)
    assert after(empty).reason is Reason.EMPTY
    assert after(empty).health == WHOLE


def test_health_falls_with_the_rows_that_changed() -> None:
    health = after(MADE, resized(MADE, rows=1_200))
    assert (health.health, health.reason, health.then.rows) == (80, Reason.CHANGED, 1_000)


@given(st.lists(ANALYZED | WITHDRAWN, min_size=1, max_size=3), st.integers(1, 3))
def test_another_look_at_the_same_changes_nothing(every: list[Facts], times: int) -> None:
    """What a look has seen is no news to the next one, as in each walk beside a Hive."""
    health: Health | None = None
    for facts in every:
        health = first = assess(health, facts, NOW_MS)
        for _ in range(times):
            health = assess(health, replace(facts, rewritten=False, withdrawn=False, then=None), NOW_MS)
        assert health == first


def test_rows_that_are_proven_may_lie_in_other_files_since() -> None:
    compacted = replace(MADE, counted=False, rewritten=True, then=Size(rows=1_000, files=100, size_bytes=50_000))
    assert (after(compacted).health, after(compacted).then) == (WHOLE, MADE.size)


def test_rows_that_came_and_went_have_changed() -> None:
    assert after(MADE, resized(MADE, rows=1_300), MADE).health == WHOLE  # statistics are proven to be of these rows
    unproven = replace(MADE, seen_rows=None)
    health = after(unproven, resized(unproven, rows=1_300), unproven)
    assert (health.health, health.moved_rows) == (40, 600)


def test_statistics_made_of_other_rows_are_stale_at_first_sight() -> None:
    assert after(resized(MADE, rows=2_000)).health == 0
    assert after(resized(MADE, rows=1_100)).health == 90


def test_without_a_count_of_rows_bytes_tell_then_files() -> None:
    uncounted = replace(MADE, counted=False, seen_rows=None)
    assert after(uncounted, resized(uncounted, size_bytes=11_000)).health == 90
    only_files = resized(uncounted, size_bytes=None, rows=None)
    assert after(only_files, resized(only_files, files=12)).health == 80


def test_a_withdrawn_mark_is_a_change_of_unknown_size() -> None:
    health = after(MADE, replace(MADE, marked=False, counted=False))
    assert (health.health, health.reason) == (UNMARKED_HEALTH, Reason.UNMARKED)
    still = after(MADE, *[replace(MADE, marked=False, counted=False)] * 3)
    assert still.health == UNMARKED_HEALTH
    assert still.stale_since_ms == NOW_MS + 1


def test_a_mark_that_was_withdrawn_before_anybody_looked_counts_too() -> None:
    nothing = replace(MADE, analyzed=0, analyzed_at_seconds=None, marked=False, counted=False)
    written = replace(MADE, marked=False, counted=False, rewritten=True, then=MADE.size)
    assert after(nothing, written).reason is Reason.FRESH
    assert after(nothing, replace(written, withdrawn=True)).reason is Reason.UNMARKED


def test_statistics_without_a_mark_are_stale_if_the_data_changed_later() -> None:
    unmarked = replace(MADE, marked=False, seen_rows=None)
    assert after(unmarked).health == WHOLE
    assert after(replace(unmarked, changed_at_seconds=501)).health == UNMARKED_HEALTH


def test_a_change_in_the_second_of_statistics_that_were_judged_already_came_before_them() -> None:
    unmarked = replace(MADE, marked=False, seen_rows=None)
    at_once = replace(unmarked, changed_at_seconds=500)
    assert after(at_once).health == UNMARKED_HEALTH
    assert after(unmarked, at_once).health == WHOLE
    assert after(unmarked, replace(unmarked, changed_at_seconds=501)).health == UNMARKED_HEALTH


def test_newer_statistics_mend_health() -> None:
    changed = resized(MADE, rows=1_500)
    health = after(MADE, changed, replace(changed, analyzed_at_seconds=600, seen_rows=1_500))
    assert (health.health, health.then.rows, health.moved_rows, health.stale_since_ms) == (WHOLE, 1_500, 0, None)


def test_statistics_of_the_same_second_mend_health_if_they_say_their_rows() -> None:
    changed = resized(MADE, rows=1_500)
    assert after(MADE, changed, replace(changed, seen_rows=1_500)).health == WHOLE


def test_some_columns_are_worth_their_part() -> None:
    health = after(replace(MADE, analyzed=3))
    assert (health.health, health.reason) == (75, Reason.INCOMPLETE)


def test_a_jump_is_told() -> None:
    assert after(MADE, resized(MADE, rows=0)).jump == 0.0
    assert after(MADE, resized(MADE, rows=20_000)).jump == 20
    assert after(MADE, resized(MADE, rows=1_500)).jump is None


counts = st.none() | st.integers(0, 10**15)
facts = st.builds(
    lambda size, columns, part, counted, marked, at, seen, changed: Facts(
        size, columns, min(part, columns), counted, marked, at if min(part, columns) else None, seen, changed
    ),
    st.builds(Size, counts, counts, counts),
    st.integers(0, 50),
    st.integers(0, 50),
    st.booleans(),
    st.booleans(),
    st.integers(1, 10**9),
    counts,
    st.none() | st.integers(1, 10**9),
)


@given(st.lists(facts, min_size=1, max_size=8))
def test_health_is_in_range_and_says_why_and_since_when(seen: list[Facts]) -> None:
    health: Health | None = None
    for number, each in enumerate(seen):
        before, health = health, assess(health, each, NOW_MS + number)
        assert 0 <= health.health <= WHOLE
        assert (health.stale_since_ms is None) == (health.health == WHOLE)
        assert (health.health == WHOLE) == (health.reason in {Reason.FRESH, Reason.EMPTY})
        if before is not None and before.stale_since_ms is not None and health.health < WHOLE:
            assert health.stale_since_ms == before.stale_since_ms
        assert assess(health, each, NOW_MS + number + 1).health <= health.health  # looking again mends nothing


@given(st.integers(1, 10**12), st.lists(st.integers(0, 10**12), min_size=2, max_size=6))
def test_more_change_is_less_health(rows: int, later: list[int]) -> None:
    made = replace(resized(MADE, rows=rows), seen_rows=rows)
    healths = {abs(each - rows): after(made, resized(made, rows=each)).health for each in later}
    ordered = [healths[each] for each in sorted(healths)]
    assert ordered == sorted(ordered, reverse=True)


def part(reason: Reason, number: int, health: int, rows: int) -> Part:
    """Partitions with one health and so many rows each."""
    whole = number * rows
    return Part(
        reason,
        number,
        stale=number if health < WHOLE else 0,
        health=number * health,
        knowing_rows=number,
        rows=whole,
        health_by_rows=float(whole * health),
        knowing_bytes=number,
        size_bytes=whole * 10,
        health_by_bytes=float(whole * 10 * health),
        files=number,
        columns=4,
        analyzed=4,
        analyzed_at_seconds=500,
        stale_since_ms=7 if health < WHOLE else None,
    )


def test_partitions_count_by_their_size() -> None:
    health = merge_parts([part(Reason.FRESH, 1, WHOLE, 9_000), part(Reason.MISSING, 10, 0, 100)])
    assert (health.health, health.reason) == (90, Reason.MISSING)
    assert (health.partitions, health.stale_partitions) == (11, 10)


def test_one_stale_partition_of_very_many_is_seen() -> None:
    health = merge_parts([part(Reason.FRESH, 99_999, WHOLE, 1_000), part(Reason.CHANGED, 1, 99, 1)])
    assert health.health == WHOLE - 1
    assert health.reason is Reason.CHANGED


def test_partitions_of_unknown_size_count_alike() -> None:
    fresh = replace(part(Reason.FRESH, 3, WHOLE, 1), knowing_rows=0, knowing_bytes=0)
    health = merge_parts([fresh, part(Reason.MISSING, 1, 0, 10**9)])
    assert health.health == 75


def test_a_table_without_partitions_is_empty() -> None:
    assert merge_parts([]).reason is Reason.EMPTY
    assert merge_parts([]).health == WHOLE
