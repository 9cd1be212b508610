"""An upstream whose answers claim what is not there: refused in time and memory that its bytes pay for."""

import contextlib
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.gateways import TIMES, Upstream, UpstreamSide, gateway
from tests.server.requests import ReplyReader, encoded, envelope, field, request
from tests.server.serving import PATIENCE_SECONDS, Client
from thriftpy2.thrift import TType

from hmstats.client.connection.address import Address
from hmstats.errors import MetaError, UpstreamClosed, UpstreamSilent, UpstreamUnavailable
from hmstats.gateway.upstream.connection import Times
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.gateway.upstream.upstream_calls import ask_upstream
from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import EXCEPTION, REPLY, encode_reply, read_head

_MB = 1024 * 1024
_MOST = struct.pack(">i", 2**31 - 1)
_GIB = struct.pack(">i", 2**30)
_UNKNOWN_TYPES = [bytes([kind]) for kind in (0, 1, 5, 7, 9, 16, 18, 99, 255)]
_LIST_FIELD = field(TType.LIST, 0)


def answering(*values: bytes) -> Callable[[UpstreamSide], None]:
    """Answers each call with one of these result structs, in turn."""

    def behave(side: UpstreamSide) -> None:
        for value in values:
            asked = side.request()
            if asked is None:
                return
            head = read_head(asked)
            assert head is not None
            side.send(encode_reply(head, value))
        side.request()

    return behave


@contextlib.contextmanager
def relay_to(upstream: Upstream, times: Times = TIMES, most_held_bytes: int = _MB) -> Iterator[UpstreamRelay]:
    host, port = upstream.address
    relay = UpstreamRelay([Address(host, port)], 1, times, None, most_held_bytes)
    try:
        yield relay
    finally:
        relay.close()


def call(relay: UpstreamRelay, method: str, *arguments: Any) -> Any:
    return ask_upstream(relay, Session(connection_id=1, peer="here:1"), method, *arguments)


def processor_seconds(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize(
    "value",
    [
        *(_LIST_FIELD + kind + _MOST for kind in _UNKNOWN_TYPES),
        *(field(TType.SET, 0) + kind + _MOST for kind in _UNKNOWN_TYPES[:2]),
        field(TType.MAP, 0) + b"\x01\x01" + _MOST,
        field(TType.MAP, 0) + b"\x0b\x01" + _MOST,
        _LIST_FIELD + b"\x0f" + struct.pack(">i", 1000) + (b"\x01" + _MOST) * 1000,
        _LIST_FIELD + b"\x0b" + struct.pack(">i", -1),
        _LIST_FIELD + b"\x0c" + _MOST,
        field(TType.STRING, 0) + struct.pack(">i", -5),
        field(TType.STRUCT, 0) * 200,
        _LIST_FIELD + b"\x0f\0\0\0\1" * 200,
        field(77, 0),
    ],
    ids=str,
)
def test_what_claims_billions_is_refused_at_once(value: bytes) -> None:
    """thriftpy2 goes on for billions of values of a type that has no bytes, and lets no other thread run."""

    def work() -> None:
        with pytest.raises(UpstreamClosed, match=r"no Thrift message|broke off its answer"):
            call(relay, "get_all_databases")

    def sends_and_goes(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        head = read_head(asked)
        assert head is not None
        side.send(encode_reply(head, value + bytes(20)))

    with Upstream(sends_and_goes) as upstream, relay_to(upstream) as relay:
        assert processor_seconds(work) < 1


def test_billions_of_nothing_hold_up_no_other_client() -> None:
    value = _LIST_FIELD + b"\x0f" + struct.pack(">i", 1000) + (b"\x01" + _MOST) * 1000

    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        head = read_head(asked)
        assert head is not None
        if head.name == "get_all_databases":
            side.send(encode_reply(head, value))
            side.request()
            return
        side.send(encode_reply(head, encoded(methods()[head.name].result(success=["t"]))))
        side.request()

    with (
        Upstream(behave) as upstream,
        gateway(upstream.address) as address,
        Client(address) as attacked,
        Client(address) as other,
    ):
        attacked.send(request("get_all_databases"))
        assert other.ask("get_all_tables", db_name="default").value == ["t"]
        while attacked.socket.recv(65536):
            pass


def endless(text: bytes) -> Callable[[UpstreamSide], None]:
    """Answers with a text of 1 GiB, of which it sends as much as anybody takes."""

    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        head = read_head(asked)
        assert head is not None
        side.send(envelope(head.name, head.sequence, REPLY, field(TType.STRING, 0) + _GIB))
        while True:
            side.send(text)

    return behave


def test_an_endless_text_passes_in_little_memory() -> None:
    taken, wanted = 0, 300 * _MB
    with (
        Upstream(endless(bytes(256 * 1024))) as upstream,
        gateway(upstream.address) as address,
        Client(address) as client,
    ):
        (Path("/proc/self") / "clear_refs").write_text("5")
        before = resident("VmRSS")
        client.send(request("get_all_databases"))
        while taken < wanted:
            data = client.socket.recv(1 << 20)
            assert data
            taken += len(data)
    assert resident("VmHWM") - before < 48


def resident(name: str) -> float:
    """Of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def test_an_endless_answer_that_must_be_held_is_refused_with_a_sentence() -> None:
    with (
        Upstream(endless(bytes(256 * 1024))) as upstream,
        relay_to(upstream) as relay,
        pytest.raises(MetaError, match=r"may have 1048576 bytes \(upstream_answer_bytes\), found more"),
    ):
        call(relay, "get_metastore_db_uuid")


def test_an_endless_answer_to_a_client_over_http_is_an_error() -> None:
    with (
        Upstream(endless(bytes(256 * 1024))) as upstream,
        gateway(upstream.address, most_held_bytes=_MB) as (host, port),
    ):
        client = HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
        with contextlib.closing(client):
            client.request("POST", "/", request("get_metastore_db_uuid"), {"Content-Type": "application/x-thrift"})
            reply = ReplyReader(BytesIO(client.getresponse().read())).next()
    assert "upstream_answer_bytes" in reply.content.o1.message


def test_an_endless_exception_is_never_passed_on() -> None:
    """An exception is looked at when it is whole, so that none is passed on in parts."""

    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        head = read_head(asked)
        assert head is not None
        side.send(envelope(head.name, head.sequence, EXCEPTION, field(TType.STRING, 1) + _GIB))
        while True:
            side.send(bytes(256 * 1024))

    with (
        Upstream(behave) as upstream,
        gateway(upstream.address, most_held_bytes=_MB) as address,
        Client(address) as client,
    ):
        reply = client.ask("get_database", name="default")
    assert "upstream_answer_bytes" in reply.content.o2.message


def test_an_exception_behind_a_value_that_was_passed_on_ends_the_client() -> None:
    large = field(TType.STRING, 0) + struct.pack(">i", _MB) + bytes(_MB)
    value = large + field(TType.STRUCT, 1) + field(TType.STRING, 1) + struct.pack(">i", 2) + b"no\0\0"
    with Upstream(answering(value)) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(request("get_metastore_db_uuid"))
        while client.socket.recv(65536):
            pass


def test_bytes_behind_an_answer_are_no_answer_to_the_next_call() -> None:
    value = encoded(methods()["get_all_databases"].result(success=["a"]))
    behind = encode_reply(read_head(request("get_all_databases")), encoded(methods()["get_all_databases"].result()))  # type: ignore[arg-type]
    with (
        Upstream(answering(value + behind)) as upstream,
        relay_to(upstream) as relay,
        pytest.raises(UpstreamClosed, match="bytes behind its end"),
    ):
        call(relay, "get_all_databases")


@pytest.mark.parametrize("name_size", [-1, 300, 2**31 - 1])
def test_a_name_of_any_size_is_refused(name_size: int) -> None:
    def behave(side: UpstreamSide) -> None:
        side.request()
        side.send(struct.pack(">Ii", 0x80010000 | REPLY, name_size) + bytes(300))
        side.request()

    with (
        Upstream(behave) as upstream,
        relay_to(upstream) as relay,
        pytest.raises(UpstreamClosed, match="the name in an answer must have at most 256 bytes"),
    ):
        call(relay, "get_all_databases")


def test_an_answer_that_drips_is_given_up() -> None:
    """Each byte comes in time, and the whole does not."""
    done = threading.Event()

    def behave(side: UpstreamSide) -> None:
        side.request()
        for byte in envelope("get_all_databases", 0, REPLY, _LIST_FIELD + b"\x0b" + struct.pack(">i", 9) + bytes(90)):
            side.send(bytes([byte]))
            if done.wait(0.05):
                return

    with Upstream(behave) as upstream, relay_to(upstream, Times(5, 0.3, 60)) as relay:
        with pytest.raises(UpstreamSilent):
            call(relay, "get_all_databases")
        done.set()


@pytest.mark.parametrize(
    ("method", "arguments", "value", "reason"),
    [
        ("get_all_databases", [], b"", "it has no value"),
        ("get_all_databases", [], field(TType.STRING, 0) + bytes(4), "it has no value"),
        ("get_all_databases", [], _LIST_FIELD + b"\x0b\0\0\0\1\0\0\0\2\xff\xfe", "cannot be read"),
        (
            "get_partitions_by_names",
            ["default", "t", ["k=1"]],
            _LIST_FIELD + b"\x0c" + struct.pack(">i", 100_000) + bytes(100_000),
            "may hold",
        ),
        (
            "get_partitions_statistics_req",
            [api.PartitionsStatsRequest(dbName="default", tblName="t", colNames=["c"], partNames=["k=1"])],
            field(TType.STRUCT, 0) + field(TType.MAP, 1) + b"\x0b\x0b" + struct.pack(">i", 1) + bytes(8) + b"\0",
            "must have types",
        ),
    ],
    ids=["nothing", "a text for a list", "no UTF-8", "many empty structs", "texts for lists in a map"],
)
def test_an_answer_that_the_gateway_cannot_use_is_a_sentence(
    method: str, arguments: list[Any], value: bytes, reason: str
) -> None:
    with (
        Upstream(answering(value + b"\0")) as upstream,
        relay_to(upstream, most_held_bytes=8 * _MB) as relay,
        pytest.raises(UpstreamUnavailable, match=f"the upstream's answer to {method} cannot be used: .*{reason}"),
    ):
        call(relay, method, *arguments)
