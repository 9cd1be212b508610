"""The line that asks an upstream for its log's last number, and all that an upstream may send on it."""

import contextlib
import select
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import issued
from tests.gateway.gateways import TIMES, Upstream, UpstreamSide
from tests.server.layers.test_tls import tls_of, trusting
from tests.server.requests import encoded
from tests.server.serving import PATIENCE_SECONDS, serving

from hmstats.client.connection.address import Address
from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.upstream.log_line import LOG, LogLine
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import Refusal, encode_refusal, encode_reply, read_head


def numbered(asked: bytes, number: int) -> bytes:
    """The answer with a number, as thriftpy2 encodes it."""
    head = read_head(asked)
    assert head is not None
    result = methods()[head.name].result(success=api.CurrentNotificationEventId(eventId=number))
    return encode_reply(head, encoded(result))


@contextlib.contextmanager
def line_to(behave: Callable[[UpstreamSide], None]) -> Iterator[LogLine]:
    with Upstream(behave) as upstream:
        relay = UpstreamRelay([Address(*upstream.address)], 1, TIMES)
        line = relay.log_line()
        assert line is not None
        yield line
        line.close()
        relay.close()


def received(line: LogLine) -> dict[int, int]:
    """The next number, when it has come."""
    while True:
        ready, _, _ = select.select([line.fileno()], [], [], PATIENCE_SECONDS)
        assert ready
        found = line.receive()
        if found is not None:
            return found


def test_numbers_come_whole_and_in_parts() -> None:
    def behave(side: UpstreamSide) -> None:
        for number in (1, 2**62):
            asked = side.request()
            assert asked is not None
            for byte in numbered(asked, number):
                side.send(bytes([byte]))
        asked = side.request()
        assert asked is not None
        side.send(numbered(asked, 3))
        side.request()

    with line_to(behave) as line:
        for number in (1, 2**62, 3):
            line.send_query([])
            assert received(line) == {LOG: number}
        assert not line.is_running


def refusing(asked: bytes) -> bytes:
    return encode_refusal(read_head(asked), Refusal.INTERNAL_ERROR, "no")


ANSWERS: dict[str, Callable[[bytes], bytes]] = {
    "an error": refusing,
    "more than an answer": lambda asked: numbered(asked, 5) + b"\x00",
    "another answer of that length": lambda asked: b"x" * len(numbered(asked, 5)),
    "a number in another field": lambda asked: numbered(asked, 5).replace(b"\x0a\x00\x01", b"\x0a\x00\x02"),
    "no end": lambda asked: numbered(asked, 5)[:-1] + b"\x01",
}


@pytest.mark.parametrize("answer", list(ANSWERS.values()), ids=list(ANSWERS))
def test_any_other_answer_ends_the_line(answer: Callable[[bytes], bytes]) -> None:
    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        side.send(answer(asked))
        side.request()

    with line_to(behave) as line:
        line.send_query([])
        with pytest.raises(UpstreamUnavailable, match=r"line to the log of thrift://127\.0\.0\.1:\d+ was lost"):
            received(line)


def test_bytes_that_nobody_asked_for_end_the_line() -> None:
    def behave(side: UpstreamSide) -> None:
        side.send(b"x")
        side.request()

    with line_to(behave) as line, pytest.raises(UpstreamUnavailable, match="was not asked"):
        received(line)


def test_an_upstream_that_ends_the_connection_ends_the_line() -> None:
    with line_to(lambda _: None) as line, pytest.raises(UpstreamUnavailable, match="it ended"):
        received(line)


def test_an_upstream_that_is_away_is_named() -> None:
    with Upstream(lambda _: None) as upstream:
        address = upstream.address
    with pytest.raises(UpstreamUnavailable, match=f"{address[0]}:{address[1]}"):
        UpstreamRelay([Address(*address)], 1, TIMES).log_line()


def test_a_line_over_tls(tmp_path: Path) -> None:
    files = issued(tmp_path)
    numbers = iter([7, 2**40])

    def last_number(session: Session) -> object:
        return api.CurrentNotificationEventId(eventId=next(numbers))

    with serving(None, tls_of(files, required=True), None, get_current_notificationEventId=last_number) as upstream:
        relay = UpstreamRelay([Address(*upstream, tls=True)], 1, TIMES, trusting(files))
        line = relay.log_line()
        assert line is not None
        for number in (7, 2**40):
            line.send_query([])
            assert received(line) == {LOG: number}
        line.close()
        relay.close()


def test_there_is_no_line_behind_sasl() -> None:
    """Threads ask there: its frames may need more than one look."""

    class Wrapped:
        closed = False

        def plain_socket(self) -> None:
            """None, as of a connection behind SASL."""

        def close(self) -> None:
            self.closed = True

    connection = Wrapped()
    assert LogLine.over(connection) is None  # type: ignore[arg-type]
    assert connection.closed
