"""An upstream that takes connections and answers nothing: no call waits for it again until it answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from tests.gateway.gateways import TIMES, Upstream, UpstreamSide, answer_all

from hmstats.client.connection.address import Address
from hmstats.errors import UpstreamSilent, UpstreamUnavailable
from hmstats.gateway.upstream.calling import WholeAnswer, request_of, value_of
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.server.rpc.caller import Session

HANGS = replace(TIMES, hanging_seconds=0.3)
SESSION = Session(connection_id=1, peer="test")


class Hanging:
    """An upstream that answers only while it is told to."""

    def __init__(self) -> None:
        self.answers = threading.Event()

    def __call__(self, side: UpstreamSide) -> None:
        asked = side.request()
        while asked is not None:
            if not self.answers.is_set():
                side.request()  # the client gives up
                return
            side.send(_answer(asked))
            asked = side.request()


def _answer(asked: bytes) -> bytes:
    sent: list[bytes] = []
    requests = iter([asked, None])

    class Side:
        request = staticmethod(lambda: next(requests))
        send = staticmethod(sent.append)

    answer_all(Side)  # type: ignore[arg-type]
    return sent[0]


@contextmanager
def relay(*upstreams: Upstream, times: object = HANGS) -> Iterator[UpstreamRelay]:
    found = UpstreamRelay([Address(*each.address) for each in upstreams], 4, times)  # type: ignore[arg-type]
    yield found
    found.close()


def is_hanging(relay: UpstreamRelay) -> bool:
    return relay.is_hanging


def ask(relay: UpstreamRelay) -> object:
    request = request_of("get_all_databases")
    return value_of("get_all_databases", relay.answer(request, SESSION, WholeAnswer()))


def test_calls_are_refused_at_once_until_it_answers() -> None:
    behave = Hanging()
    with Upstream(behave) as upstream, relay(upstream) as found:
        found.probe()
        assert is_hanging(found)
        accepted = upstream.accepted
        with pytest.raises(UpstreamUnavailable, match=rf"{upstream.address[1]}: no answer in 0.3 seconds"):
            ask(found)
        assert upstream.accepted == accepted  # it was not even tried
        behave.answers.set()
        found.probe()
        assert not is_hanging(found)
        assert ask(found) == ["one", "other"]


@pytest.mark.slow
def test_the_next_address_is_asked_in_its_place() -> None:
    behave = Hanging()
    with Upstream(behave) as first, Upstream(answer_all) as second, relay(first, second) as found:
        found.probe()
        assert not found.is_hanging
        assert ask(found) == ["one", "other"]
        behave.answers.set()
        found.probe()
        accepted = first.accepted
        assert ask(found) == ["one", "other"]
        assert first.accepted == accepted + 1


@pytest.mark.slow
def test_one_that_answers_calls_does_not_hang_though_a_new_connection_waits() -> None:
    """As a Hive does all of whose threads are taken by connections."""
    numbers = iter(range(10))

    def first_alone(side: UpstreamSide) -> None:
        if next(numbers) == 0:
            answer_all(side)
        else:
            side.request()
            side.request()

    with Upstream(first_alone) as upstream, relay(upstream) as found:
        assert ask(found) == ["one", "other"]
        probe = threading.Thread(target=found.probe)
        probe.start()
        while probe.is_alive():
            assert ask(found) == ["one", "other"]
        assert not found.is_hanging
        assert ask(found) == ["one", "other"]


@pytest.mark.slow
def test_a_slow_call_alone_does_not_make_it_hang() -> None:
    def slow_lists(side: UpstreamSide) -> None:
        while (asked := side.request()) is not None and b"get_all_databases" not in asked:
            side.send(_answer(asked))
        side.request()

    with Upstream(slow_lists) as upstream, relay(upstream, times=replace(HANGS, answer_seconds=0.2)) as found:
        with pytest.raises(UpstreamSilent):
            ask(found)
        found.probe()
        assert not found.is_hanging
