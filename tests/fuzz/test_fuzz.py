"""A short run of what `make fuzz` does: mutated requests in every form neither break a server nor make it leak.

HMSTATS_TEST_FUZZ says how many, HMSTATS_TEST_SEED which.
"""

import os

import pytest
from tests.fuzz.in_process import Fuzzer
from tests.fuzz.over_sockets import send

COUNT = int(os.environ.get("HMSTATS_TEST_FUZZ", "10000"))
SEED = int(os.environ.get("HMSTATS_TEST_SEED", "1"))
_OVER_SOCKETS = 20


def test_mutated_requests_in_process() -> None:
    found = Fuzzer(SEED).run(range(COUNT))
    assert found.outcomes.total() == COUNT
    assert {"answered", "incomplete", "rejected at once", "rejected after an answer"} <= found.outcomes.keys()
    print(found)


@pytest.mark.slow
def test_mutated_requests_over_sockets() -> None:
    sent = send(SEED, range(COUNT // _OVER_SOCKETS))
    assert sent.replies > sent.connections / 10
    print(sent)


def test_a_request_is_the_same_each_time() -> None:
    one, other = Fuzzer(7), Fuzzer(7)
    assert [one.request(number) for number in (5, 3, 5)] == [other.request(number) for number in (5, 3, 5)]
    assert one.request(1) != one.request(2)
