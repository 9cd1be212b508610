"""How fast runs are, and when a failed table is tried again."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import MOST_RETRY_SECONDS, Lease, Outcome, Run, end_lease, retry_seconds, speeds

T, U = TableName("hive", "d", "t"), TableName("hive", "d", "u")


def run(table: TableName, size_bytes: int, seconds: float, outcome: Outcome = Outcome.DONE) -> Run:
    return Run("r", table, "me", 0, outcome, size_bytes=size_bytes, seconds=seconds)


def test_a_table_is_as_fast_as_its_last_five_runs() -> None:
    runs = [run(T, 10**8, 2.0)] * 5 + [run(T, 10**8, 100.0)] * 5 + [run(U, 10**9, 6.0), run(U, 10, 1.0)]
    found = speeds(runs)
    assert found.overhead_seconds == 1.0
    assert found.seconds(T, 10**8) == 2.0
    assert found.seconds(U, 10**9) == 6.0
    assert 2 < found.seconds(TableName("hive", "d", "new"), 10**8) < 100


def test_failed_runs_say_nothing_of_speed() -> None:
    assert speeds([run(T, 10**9, 0.1, Outcome.FAILED)]) == speeds([])


def test_a_failure_waits_twice_as_long_each_time_up_to_a_day() -> None:
    assert [retry_seconds(each, 60.0) for each in (1, 2, 3)] == [1_800, 3_600, 7_200]
    assert retry_seconds(1, 3_600.0) == 7_200
    assert retry_seconds(50, 60.0) == MOST_RETRY_SECONDS


def test_a_killed_process_is_no_failure_of_its_table_at_once() -> None:
    lease = Lease("r", 5)
    for failures in (1, 2):
        lease = end_lease(lease, Outcome.LOST, None, 1_000)
        assert (lease.failures, lease.retry_ms) == (failures, None)
    assert end_lease(lease, Outcome.LOST, None, 1_000).retry_ms == 1_000 + 7_200_000
    assert end_lease(lease, Outcome.DONE, 1.0, 1_000) == Lease()
    assert end_lease(lease, Outcome.STOPPED, 1.0, 1_000) == lease


@given(st.lists(st.sampled_from([Outcome.DONE, Outcome.FAILED, Outcome.LOST, Outcome.STOPPED]), max_size=30))
def test_whatever_happened_a_table_is_tried_again_within_a_day(outcomes: list[Outcome]) -> None:
    lease, now_ms = Lease(), 0
    for each in outcomes:
        now_ms += 1_000
        lease = end_lease(lease, each, 3.0, now_ms)
        assert lease.run_id is None
        assert lease.retry_ms is None or lease.retry_ms <= now_ms + MOST_RETRY_SECONDS * 1_000
    if outcomes and outcomes[-1] is Outcome.DONE:
        assert lease == Lease()
