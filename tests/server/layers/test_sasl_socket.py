"""A connection through SASL: its states, its limits, and protected data in pieces of any size."""

import struct
import threading
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs
from tests.server.authentication.sasl_peers import SaslClient
from tests.server.requests import ReplyReader, request
from tests.server.serving import PATIENCE_SECONDS, serving

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.sasl import Conversation, SaslMechanism
from hmstats.server.calls.dispatch import Session
from hmstats.server.limits import Limits
from hmstats.wire.sasl_messages import Status, framed

ALICE = Principal("alice", (), "kerberos")


class Turned:
    """Not secret, but no frame is what it was, and each is one byte longer."""

    piece_bytes = 1_000

    def wrap(self, data: bytes) -> bytes:
        return b"!" + data[::-1]

    def unwrap(self, data: bytes) -> bytes:
        if data[:1] != b"!":
            raise ConnectionError("changed")
        return data[:0:-1]


class Talk:
    """Wants `one`, then `two`."""

    principal = ALICE
    success = b""
    ended = False

    def __init__(self, seal: Turned | None = None) -> None:
        self.seal = seal
        self._left = [b"two", b"one"]

    def step(self, response: bytes) -> bytes | None:
        if response == b"more":
            return b"more"
        if response == b"break":
            raise AssertionError("a mistake of ours")
        if response != self._left.pop():
            raise NotAuthenticated("the response must be the right one")
        return b"go on" if self._left else None


def with_talk(seal: Turned | None = None) -> Authentication:
    def begin(_peer: str, _secure: bool) -> Conversation:
        return Talk(seal)

    return Authentication(("kerberos",), sasl=(SaslMechanism("TALK", begin),))


def begun(client: SaslClient) -> None:
    client.say(Status.START, b"TALK")
    client.say(Status.OK, b"one")
    assert client.hear() == (Status.OK, b"go on")


def proven(client: SaslClient) -> None:
    begun(client)
    client.say(Status.COMPLETE, b"two")
    assert client.hear() == (Status.COMPLETE, b"")


def whoami(session: Session) -> list[str]:
    assert session.principal is not None
    return [session.principal.user]


def test_a_proven_user_calls() -> None:
    with serving(authentication=with_talk(), get_all_databases=whoami) as address, SaslClient(address) as client:
        proven(client)
        assert client.call().success == "k"
        assert client.call(request("get_all_databases", 1)).success == ["alice"]


def test_all_that_a_client_sends_may_come_at_once_or_byte_by_byte() -> None:
    whole = b"".join(
        struct.pack(">BI", status, len(data)) + data
        for status, data in [(Status.START, b"TALK"), (Status.OK, b"one"), (Status.OK, b"two")]
    ) + framed(request("getOption", 1, key="k"))
    with serving(authentication=with_talk()) as address:
        for size in (1, 7, len(whole)):
            with SaslClient(address) as client:
                for at in range(0, len(whole), size):
                    client.send(whole[at : at + size])
                assert [client.hear().status, client.hear().status] == [Status.OK, Status.COMPLETE]
                assert b"k" in client.data()


@settings(max_examples=20)
@given(st.binary(min_size=1, max_size=5_000), st.lists(st.integers(0, 6_000), max_size=5), st.booleans())
def test_protected_data_is_joined_however_it_is_split(text: bytes, at: list[int], protected: bool) -> None:
    seal = Turned() if protected else None
    wrap, unwrap = (seal.wrap, seal.unwrap) if seal else (bytes, bytes)
    message = request("getOption", 1, key=text.hex())
    ends = [*sorted(each % len(message) for each in at), len(message)]
    pieces = [message[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    with serving(authentication=with_talk(seal)) as address, SaslClient(address) as client:
        proven(client)
        for piece in pieces[:-1]:
            client.send(framed(wrap(piece)))
        assert client.call(pieces[-1], wrap, unwrap).success == text.hex()


def test_a_large_reply_comes_in_frames_that_a_slow_client_reads() -> None:
    large, authentication = "x" * 20_000_000, with_talk(Turned())
    calls: dict[str, Any] = {"get_all_databases": lambda _: [large]}
    with serving(authentication=authentication, **calls) as address, SaslClient(address) as client:
        proven(client)
        client.send(framed(Turned().wrap(request("get_all_databases", 1))))
        sizes, got = set(), 0
        while got < len(large):
            data = client.data()
            sizes.add(len(data))
            got += len(Turned().unwrap(data))
        assert max(sizes) == 1_001


@pytest.mark.parametrize("state", ["new", "begun", "in the middle"])
def test_nothing_is_called_before_the_end_of_the_negotiation(state: str) -> None:
    called = threading.Event()
    limits, call = Limits(handshake_seconds=0.5), request("flushCache", 1)
    calls: dict[str, Any] = {"flushCache": lambda _: called.set()}
    with serving(limits, authentication=with_talk(), **calls) as address, SaslClient(address) as client:
        if state == "begun":
            client.say(Status.START, b"TALK")
        if state == "in the middle":
            begun(client)
        client.send(call if state == "new" else framed(call))
        if state == "new":
            assert "authenticated clients only" in client.reply().content.message
        assert client.at_end()
    assert not called.is_set()


@pytest.mark.parametrize(
    ("status", "payload", "sentence"),
    [
        (Status.OK, b"wrong", "the response must be the right one"),
        (Status.START, b"TALK", "a SASL response must have the status 2 or 5, found 1"),
        (Status.BAD, b"", "a SASL response must have the status 2 or 5, found 3"),
        (99, b"", "a SASL response must have the status 2 or 5, found 99"),
        (Status.OK, b"break", "unexpected error; the server's log has it"),
    ],
)
def test_a_wrong_message_is_refused_with_a_sentence(status: int, payload: bytes, sentence: str) -> None:
    with serving(authentication=with_talk()) as address:
        for before in (lambda client: client.say(Status.START, b"TALK"), begun):
            with SaslClient(address) as client:
                before(client)
                client.say(status, payload)
                assert client.refused() == sentence
        with SaslClient(address) as client:
            proven(client)


def test_a_message_of_4_gib_and_a_negotiation_without_end_are_refused() -> None:
    with serving(authentication=with_talk()) as address, SaslClient(address) as client:
        client.say(Status.START, b"TALK")
        client.send(struct.pack(">BI", Status.OK, 2**32 - 1))
        assert client.refused() == "a SASL message may have 65536 bytes, found one of 4294967295"
        with SaslClient(address) as other:
            other.say(Status.START, b"TALK")
            for _ in range(10):
                other.say(Status.OK, b"more")
                assert other.hear().payload == b"more"
            other.say(Status.OK, b"one")
            assert "10 responses" in other.refused()


@pytest.mark.parametrize("sent", [b"\1", b"\1\0\0\0\4TA", b"\1\0\0\0\4TALK", b"\1\0\0\0\4TALK\2\0\0"])
def test_a_client_that_stops_in_the_negotiation_is_closed(sent: bytes) -> None:
    with serving(Limits(handshake_seconds=0.2), authentication=with_talk()) as address, SaslClient(address) as client:
        client.send(sent)
        assert client.at_end()


def test_a_frame_that_was_changed_or_is_too_large_ends_the_connection() -> None:
    limits = Limits(max_message_bytes=10_000)
    with serving(limits, authentication=with_talk(Turned())) as address:
        for wrong in (framed(b"?" + b"changed"), struct.pack(">I", 2**31), struct.pack(">I", 20_000)):
            with SaslClient(address) as client:
                proven(client)
                client.send(wrong)
                assert client.at_end()


def test_a_part_of_a_protected_frame_is_waited_for_no_longer_than_of_a_request() -> None:
    limits = Limits(receive_seconds=0.2)
    with serving(limits, authentication=with_talk(Turned())) as address, SaslClient(address) as client:
        proven(client)
        client.send(framed(b"!" + b"x" * 100)[:50])
        assert client.at_end()


@pytest.mark.parametrize(
    "other",
    [
        b"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        struct.pack(">I", 30) + request("getOption", 1, key="k"),
        b"\x16\3\1\2\0\1\0\1\xfc\3\3" + b"x" * 100,
        b"\1\0\0\0\4TALK\2\0\0\0\3one",
    ],
)
def test_no_other_protocol_and_no_other_layer_is_taken_behind_sasl(other: bytes) -> None:
    with serving(authentication=with_talk()) as address, SaslClient(address) as client, capture_logs() as logs:
        proven(client)
        client.send(framed(other))
        assert client.at_end()
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == ["request_rejected"]


def test_requests_around_one_in_a_large_frame_are_answered_in_order() -> None:
    large, seal = "x" * 500_000, Turned()
    messages = [request("getOption", number, key=key) for number, key in enumerate(("a", large, "b", "c"))]
    with serving(authentication=with_talk(seal)) as address, SaslClient(address) as client:
        proven(client)
        client.send(b"".join(framed(seal.wrap(each)) for each in messages))
        answers = b""
        while answers.count(b"getOption") < len(messages) or not answers.endswith(b"c\0"):
            answers += seal.unwrap(client.data())
    reader = ReplyReader(BytesIO(answers))
    assert [reader.next().value for _ in messages] == ["a", large, "b", "c"]


def test_a_changed_large_frame_ends_the_connection() -> None:
    with serving(authentication=with_talk(Turned())) as address, SaslClient(address) as client:
        proven(client)
        client.send(framed(b"?" + bytes(500_000)))
        assert client.at_end()


def test_many_clients_at_once_are_served() -> None:
    answers: list[str] = []

    def ask() -> None:
        with SaslClient(address) as client:
            proven(client)
            answers.append(client.call().success)

    with serving(authentication=with_talk()) as address:
        threads = [threading.Thread(target=ask) for _ in range(20)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(PATIENCE_SECONDS)
    assert answers == ["k"] * 20
