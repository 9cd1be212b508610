"""A short run of `make fuzz ARGS='--shapes SECONDS'`: expensive requests do others no harm.

HMSTATS_TEST_SHAPES says for how many seconds, HMSTATS_TEST_SEED which.
"""

import os

import pytest
from tests.fuzz.judged import Cost, Judged, run
from tests.fuzz.shapes import draw

SECONDS = float(os.environ.get("HMSTATS_TEST_SHAPES", "10"))
SEED = int(os.environ.get("HMSTATS_TEST_SEED", "1"))
MOST_BYTES = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_expensive_requests_harm_nobody(database: str, request: pytest.FixtureRequest) -> None:
    postgres = request.getfixturevalue("postgres_server") if database == "postgres" else None
    judged = run(SEED, SECONDS, MOST_BYTES, postgres=postgres)
    print(judged)
    assert judged.requests > 10
    assert not judged.faults, str(judged)


def test_a_request_is_the_same_each_time() -> None:
    assert [draw(7, number, 10_000) for number in (5, 3)] == [draw(7, number, 10_000) for number in (5, 3)]
    assert len({draw(7, number, 10_000).data for number in range(50)}) > 45


@pytest.mark.parametrize(
    ("processor_seconds", "grown_mb", "outcome", "fault"),
    [
        (0.9, 10.0, "answered", None),
        (1.5, 10.0, "answered", "1.5 s of processor time"),
        (0.9, 90.0, "refused", "90 MB of memory"),
        (0.9, 10.0, "no answer", "no answer"),
    ],
)
def test_what_is_a_fault(processor_seconds: float, grown_mb: float, outcome: str, fault: str | None) -> None:
    assert Cost(1, "a", "b", 1, 1.0, processor_seconds, grown_mb, outcome).fault == fault


@pytest.mark.parametrize(
    ("waited", "beside", "fault"),
    [
        (0.09, 0.005, None),
        (0.11, 0.005, "the bystander's p99 is 110 ms, expected 100 ms"),
        (0.11, 0.04, None),
        (0.13, 0.04, "the bystander's p99 is 130 ms, expected 120 ms"),
    ],
)
def test_how_long_others_may_wait(waited: float, beside: float, fault: str | None) -> None:
    assert Judged(waited=[0.001] * 98 + [waited] * 2, beside=[0.001] * 98 + [beside] * 2).slow == fault
