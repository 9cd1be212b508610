"""Requests that cost more than their bytes, and replies that nobody takes: refused, or without harm to others."""

import contextlib
import socket
import struct
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs
from tests.server.connections import test_prompt_replies
from tests.server.protocols.test_protocols import framed, read_compact
from tests.server.requests import encoded, envelope, field, request
from tests.server.serving import Client, serving
from tests.server.test_server import large, receive, wait_until
from thriftpy2.thrift import TApplicationException

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections import exchange, prompt_replies
from hmstats.server.limits import Limits
from hmstats.server.messages import compact_reader
from hmstats.server.messages.compact_reader import CompactReader
from hmstats.server.messages.compact_writer import to_compact
from hmstats.server.monitoring.metrics import UNTAKEN_REPLIES
from hmstats.server.protocols.http_protocol import HttpProtocol
from hmstats.wire.idl import methods
from hmstats.wire.messages.allowance import FREE_CONTAINERS, Allowance
from hmstats.wire.messages.envelope import CALL
from hmstats.wire.messages.scanner import Scanner

STRUCT, MAP, LIST, STRING, I64, BOOL = 12, 13, 15, 11, 10, 2
ALLOWANCE = Allowance(100_000_000)
MANY = 4 * FREE_CONTAINERS


def listed(kind: int, values: list[bytes]) -> bytes:
    return struct.pack(">bI", kind, len(values)) + b"".join(values)


def message(kind: int, value: bytes) -> bytes:
    """A request with a field that its call does not have."""
    return envelope("getOption", 7, CALL, field(kind, 99) + value + b"\0")


def with_structs(count: int, bytes_of_each: int = 1) -> bytes:
    text = b"x" * (bytes_of_each - 8)
    one = (field(STRING, 1) + struct.pack(">I", len(text)) + text if text else b"") + b"\0"
    return message(LIST, listed(STRUCT, [one] * count))


CROWDED = {
    "structs": with_structs(MANY),
    "lists": message(LIST, listed(LIST, [listed(BOOL, [])] * MANY)),
    "maps": message(LIST, listed(MAP, [bytes([STRING, STRING]) + bytes(4)] * MANY)),
    "nested": message(LIST, listed(STRUCT, [field(LIST, 1) + listed(STRUCT, [b"\0"] * 9) + b"\0"] * (MANY // 11))),
    "lists of the same": message(
        LIST, listed(STRUCT, [field(LIST, 1) + listed(STRUCT, [b"\0"] * 50) + b"\0"] * (MANY // 50))
    ),
}
ROOMY = {
    "texts": message(LIST, listed(STRING, [bytes(4)] * MANY)),
    "numbers": message(LIST, listed(I64, [bytes(8)] * MANY)),
    "structs of enough bytes": with_structs(MANY, 10),
    "structs without charge": with_structs(FREE_CONTAINERS - 2),
}


def scan(data: bytes, allowance: Allowance) -> object:
    return Scanner(bytearray(data), allowance).scan()


def scan_in_pieces(data: bytes, allowance: Allowance) -> object:
    inbox = bytearray()
    scanner = Scanner(inbox, allowance)
    for at in range(0, len(data), 1_999):
        inbox += data[at : at + 1_999]
        size = scanner.scan()
    return size


def read_in_compact(data: bytes, allowance: Allowance) -> object:
    reader = CompactReader(bytearray(to_compact(data)), allowance)
    while (read := reader.read()) is None and reader.unread:
        pass
    return read and len(read)


READERS = [scan, scan_in_pieces, read_in_compact]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("shape", CROWDED)
def test_more_in_a_request_than_its_bytes_pay_for_is_refused(
    shape: str, read: Callable[[bytes, Allowance], object]
) -> None:
    with pytest.raises(MessageTooLarge, match=r"one more for each (10|4) of its bytes, found"):
        read(CROWDED[shape], ALLOWANCE)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("shape", ROOMY)
def test_what_is_paid_for_is_read(shape: str, read: Callable[[bytes, Allowance], object]) -> None:
    assert read(ROOMY[shape], ALLOWANCE) == len(ROOMY[shape])


@pytest.mark.parametrize("read", READERS)
def test_a_limit_that_is_set_counts_first(read: Callable[[bytes, Allowance], object]) -> None:
    data = with_structs(1_000, 100)
    assert read(data, Allowance(1_000_000, 1_002)) == len(data)
    with pytest.raises(MessageTooLarge, match="may hold 1001 structs, lists, sets and maps, found more"):
        read(data, Allowance(1_000_000, 1_001))


def test_the_client_is_told_in_every_protocol() -> None:
    data = CROWDED["structs"]
    with serving() as address, Client(address) as other:
        with Client(address) as client:
            client.send(data)
            reply = client.reply()
            assert (reply.content.type, reply.sequence) == (TApplicationException.PROTOCOL_ERROR, 7)
            assert "structs, lists, sets and maps" in reply.content.message
        with Client(address) as client:
            client.send(framed(to_compact(data)))
            told = receive(client, 10_000)
            assert b"structs, lists, sets and maps" in told
            assert read_compact(told[4:])[1] == 7
        with Client(address) as client:
            head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n"
            client.send(head % len(data) + data)
            assert receive(client, 10_000).startswith(b"HTTP/1.1 413 ")
        assert other.echoes("unharmed")


def test_a_compact_request_is_read_some_values_at_a_time() -> None:
    texts = to_compact(message(LIST, listed(STRING, [b"\0\0\0\1x"] * 50_000)))
    reader, turns = CompactReader(bytearray(texts), ALLOWANCE), 1
    while reader.read() is None:
        assert reader.unread
        turns += 1
    assert turns >= 50_000 // compact_reader._VALUES_AT_ONCE


def test_what_is_read_in_turns_is_answered_though_the_client_sends_no_more() -> None:
    body = encoded(methods()["getOption"].arguments(key="answered"))[:-1]
    extra = field(MAP, 99) + struct.pack(">bbI", STRING, STRING, 30_000) + b"\0\0\0\x0512345\0\0\0\x0567890" * 30_000
    data = to_compact(envelope("getOption", 3, CALL, body + extra + b"\0"))
    with serving() as address:
        for sent in (data, framed(data)):
            with Client(address) as client:
                client.send(sent)
                client.socket.shutdown(socket.SHUT_WR)
                reply = receive(client, 1_000)
                assert b"answered" in reply


def test_a_text_that_comes_in_pieces_is_not_copied_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = to_compact(request("getOption", key="x" * 1_000_000))
    inbox, copied = bytearray(), 0
    take = CompactReader._bytes

    def counted(reader: CompactReader, at: int, size: int) -> bytes:
        nonlocal copied
        found = take(reader, at, size)
        copied += len(found)
        return found

    monkeypatch.setattr(CompactReader, "_bytes", counted)
    reader = CompactReader(inbox, ALLOWANCE)
    for at in range(0, len(whole), 10_000):
        inbox += whole[at : at + 10_000]
        read = reader.read()
    assert read is not None
    assert 1_000_000 <= copied < 1_100_000


def test_many_requests_in_line_let_others_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of one connection that are answered in the selector's thread come some at a time, and in their order."""
    monkeypatch.setattr(exchange, "_REQUESTS_AT_ONCE", 3)
    source = test_prompt_replies.Source()
    with test_prompt_replies.serving(source) as address, Client(address) as client:
        run = test_prompt_replies.ask(client)
        source.known = {test_prompt_replies.TABLE: 1}
        client.send(b"".join(test_prompt_replies.question("c", number) for number in range(100)))
        client.socket.shutdown(socket.SHUT_WR)
        for number in range(100):
            reply = client.reply()
            assert (reply.sequence, test_prompt_replies.run_of(reply)) == (number, run)


def test_a_compact_reply_that_is_long_to_encode_is_left_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    source = test_prompt_replies.Source()
    with test_prompt_replies.serving(source) as address, Client(address) as plain, Client(address) as client:
        test_prompt_replies.ask(plain)
        source.known = {test_prompt_replies.TABLE: 1}
        question = framed(to_compact(test_prompt_replies.question()))

        def ask() -> None:
            client.send(question)
            (size,) = struct.unpack(">I", receive(client, 4))
            assert b"run1" in receive(client, size)

        ask()
        by_workers = source.checks
        ask()
        assert source.checks == by_workers, "a short one is encoded at once"
        monkeypatch.setattr(prompt_replies, "_LONGEST_ENCODED_BYTES", 10)
        ask()
        assert source.checks == by_workers + 1
    assert source.runs == 1


def chunked(data: bytes, size: int) -> bytes:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def take_all(data: bytes) -> tuple[bytes | None, int]:
    """A request by HTTP, and in how many turns it was read."""
    protocol, inbox = HttpProtocol(lambda _: None, ALLOWANCE), bytearray(data)
    found, turns = protocol.take_request(inbox), 1
    while found is None and protocol.unread:
        found, turns = protocol.take_request(inbox), turns + 1
    return found.message if found else None, turns


@pytest.mark.parametrize("form", [bytes, to_compact])
def test_a_body_in_many_chunks_is_read_in_turns(form: Callable[[bytes], bytes]) -> None:
    data = request("getOption", key="x" * 100_000)
    found, turns = take_all(chunked(form(data), 100))
    assert found == data
    assert turns > 3


def test_a_body_in_crumbs_is_refused() -> None:
    data = request("getOption", key="x" * 10_000)
    with pytest.raises(ProtocolError, match="must have 64 bytes on average, found 1001 chunks of 1001"):
        take_all(chunked(data, 1))
    short = request("getOption", key="x" * 500)
    assert take_all(chunked(short, 1))[0] == short


def test_a_reader_that_takes_single_bytes_is_dropped_with_a_line_and_a_count() -> None:
    before = UNTAKEN_REPLIES.labels("slow")._value.get()
    limits = Limits(send_seconds=0.3, send_bytes=40_000_000)
    with capture_logs() as logs, serving(limits, getName=large) as address, Client(address) as client:
        client.send(request("getName", 6))
        assert receive(client, 1_000_000)
        wait_until(lambda: UNTAKEN_REPLIES.labels("slow")._value.get() > before)
        with contextlib.suppress(ConnectionError):
            assert len(receive(client, 50_000_000)) < 49_000_000
    assert UNTAKEN_REPLIES.labels("slow")._value.get() == before + 1
    assert ["40000000" in line["reason"] for line in logs if line["event"] == "reply_not_taken"] == [True]


@pytest.mark.slow
def test_replies_that_nobody_takes_have_a_budget_and_the_slowest_client_goes() -> None:
    before = UNTAKEN_REPLIES.labels("unsent bytes")._value.get()
    with serving(Limits(max_unsent_bytes=60_000_000), getName=large) as address, contextlib.ExitStack() as clients:
        first, second = (clients.enter_context(Client(address)) for _ in range(2))
        for client in (first, second):
            client.send(request("getName", 6))
            assert receive(client, 1)
        with contextlib.suppress(ConnectionError):
            assert len(receive(first, 60_000_000)) < 50_000_000
        assert len(receive(second, 50_000_000)) == 50_000_000
    assert UNTAKEN_REPLIES.labels("unsent bytes")._value.get() == before + 1


@pytest.mark.slow
def test_a_single_reply_may_be_larger_than_the_budget() -> None:
    with serving(Limits(max_unsent_bytes=1_000_000), getName=large) as address, Client(address) as client:
        client.send(request("getName", 6))
        assert client.reply().value == large(Session(1, "x"))
