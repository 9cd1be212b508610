"""Equal reads that wait at the same moment are asked once, and none gets an answer from before it came."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from tests.gateway.gateways import databases, wait_until
from tests.server.requests import request

from hmstats.errors import MetaError, UpstreamUnavailable
from hmstats.gateway.catalog.joined_reads import JoinedReads
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.connection import User
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.request import Request
from hmstats.wire.messages.envelope import read_head

ANNA, BEN = User("anna"), User("ben")


class Upstream:
    """An upstream that answers with the number of the question, when it is told to."""

    def __init__(self) -> None:
        self.joined = JoinedReads("upstream")
        self.asked = 0
        self.go = threading.Semaphore(0)
        self.failing: Exception | None = None
        self.threads = ThreadPoolExecutor(20)

    def ask(self, sequence: int, user: User = ANNA, name: str = "get_all_databases") -> Future[str]:
        """The answer to come."""
        return self.threads.submit(self._ask, sequence, user, name)

    def _ask(self, sequence: int, user: User, name: str) -> str:
        message = request(name, sequence)
        head = read_head(message)
        assert head is not None

        def answer(_: Stream) -> Relayed:
            self.asked += 1
            number = self.asked
            assert self.go.acquire(timeout=20)
            if self.failing is not None:
                raise self.failing
            return Relayed((databases(message, f"answer {number}"),))

        stream: Any = WholeAnswer()
        whole = b"".join(self.joined.answer(user, Request(message, head), stream, answer).rest)
        wanted = next(each for each in range(1, 9) if databases(message, f"answer {each}") == whole)
        return f"{wanted}"


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


def waiting(upstream: Upstream) -> int:
    return sum(each.members for each in upstream.joined.rounds.waiting.values())


def test_those_that_wait_are_asked_once_behind_the_one_under_way(upstream: Upstream) -> None:
    first = upstream.ask(1)
    wait_until(lambda: upstream.asked == 1)
    later = [upstream.ask(each) for each in range(2, 8)]
    wait_until(lambda: waiting(upstream) == 6)
    upstream.go.release()
    assert first.result(20) == "1"
    wait_until(lambda: upstream.asked == 2)
    last = upstream.ask(9)
    wait_until(lambda: waiting(upstream) == 1)
    upstream.go.release()
    assert [each.result(20) for each in later] == ["2"] * 6, "with the sequence id of each call"
    upstream.go.release()
    assert last.result(20) == "3"
    assert upstream.asked == 3
    assert not upstream.joined.rounds.running
    assert not upstream.joined.rounds.waiting


def test_other_users_and_other_calls_are_asked_at_once(upstream: Upstream) -> None:
    found = [upstream.ask(1), upstream.ask(1, BEN), upstream.ask(1, name="get_all_functions")]
    wait_until(lambda: upstream.asked == 3)
    upstream.go.release(3)
    assert len({each.result(20) for each in found[:2]}) == 2


def test_changes_are_never_joined(upstream: Upstream) -> None:
    found = [upstream.ask(each, name="flushCache") for each in range(3)]
    wait_until(lambda: upstream.asked == 3)
    upstream.go.release(3)
    assert len({each.exception(20) or each.result(20) for each in found}) == 3


@pytest.mark.parametrize(("error", "asked"), [(UpstreamUnavailable("away"), 4), (MetaError("too long"), 5)])
def test_an_error_is_each_callers_own(upstream: Upstream, error: Exception, asked: int) -> None:
    """One that waits asks for itself then, and so does the one that asked for all if only the length was too great."""
    first = upstream.ask(1)
    wait_until(lambda: upstream.asked == 1)
    later = [upstream.ask(each) for each in (2, 3, 4)]
    wait_until(lambda: waiting(upstream) == 3)
    upstream.go.release()
    assert first.result(20) == "1"
    wait_until(lambda: upstream.asked == 2)
    upstream.failing = error
    upstream.go.release(9)
    assert all(isinstance(each.exception(20), type(error)) for each in later)
    assert upstream.asked == asked


def test_one_that_hangs_does_not_hold_up_others_for_long(upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.gateway.upstream.rounds.PATIENCE_SECONDS", 0.1)
    hanging = upstream.ask(1)
    wait_until(lambda: upstream.asked == 1)
    others = [upstream.ask(2), upstream.ask(3)]
    wait_until(lambda: upstream.asked == 3)
    upstream.go.release(3)
    assert {each.result(20) for each in (hanging, *others)} <= {"1", "2", "3"}


class Sent:
    """A call that was sent at once, as far as its round has to do with it."""

    when_left: Callable[[], None] | None = None


def sent_by(upstream: Upstream, sent: Any) -> Any:
    """What becomes of a call that would be sent at once."""
    message = request("get_all_databases", 1)
    head = read_head(message)
    assert head is not None
    return upstream.joined.send(ANNA, Request(message, head), lambda: sent)


def test_equal_ones_wait_for_a_call_that_was_sent_at_once_and_are_asked_once(upstream: Upstream) -> None:
    sent = Sent()
    assert sent_by(upstream, sent) is sent
    later = [upstream.ask(each) for each in range(2, 8)]
    wait_until(lambda: waiting(upstream) == 6)
    assert sent_by(upstream, Sent()) is None, "a thread waits with the others"
    assert upstream.asked == 0
    assert sent.when_left is not None
    sent.when_left()
    upstream.go.release()
    assert [each.result(20) for each in later] == ["1"] * 6
    assert not upstream.joined.rounds.running


def test_a_call_that_cannot_be_sent_at_once_holds_nobody_up(upstream: Upstream) -> None:
    assert sent_by(upstream, None) is None
    asked = upstream.ask(1)
    upstream.go.release()
    assert asked.result(20) == "1"
