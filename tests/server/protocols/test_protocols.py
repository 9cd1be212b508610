"""Frames, compact messages and HTTP on one port, by bytes and by the clients of thriftpy2 and Apache."""

import http.client
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.fixtures.metastores import COLUMNS, Metastore
from tests.server.requests import encoded, old_envelope, reply_of, request
from tests.server.serving import PATIENCE_SECONDS, Address, Client, Gate, serving
from thriftpy2.http import THttpClient
from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException, TClient
from thriftpy2.transport import TCyBufferedTransport, TCyFramedTransport, TMemoryBuffer, TSocket

from hmstats.server.calls.dispatch import Dispatcher, Session
from hmstats.server.limits import Limits
from hmstats.server.messages.compact_writer import to_compact
from hmstats.server.server import Server
from hmstats.wire.idl import SERVICE, hive_metastore, methods
from hmstats.wire.messages.envelope import CALL, EXCEPTION

TRANSPORTS = ("buffered", "framed", "http")
SHORT_SECONDS = 0.2
THRIFT = {"Content-Type": "application/x-thrift"}


def framed(message: bytes) -> bytes:
    return struct.pack(">I", len(message)) + message


def read_compact(data: bytes) -> tuple[str, int, Any]:
    """The method, sequence id and result, or exception, of one reply."""
    protocol = TCompactProtocol(TMemoryBuffer(data))
    name, kind, sequence = protocol.read_message_begin()
    content = TApplicationException() if kind == EXCEPTION else methods()[name].result()
    protocol.read_struct(content)
    return name, sequence, content


def receive(client: Client, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = client.socket.recv(size - len(data))
        assert piece, "the connection ended"
        data += piece
    return data


def frame(client: Client) -> bytes:
    return receive(client, struct.unpack(">I", receive(client, 4))[0])


@contextmanager
def posting(address: Address) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(*address, timeout=PATIENCE_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


def post(
    connection: http.client.HTTPConnection, body: Any, headers: dict[str, str] = THRIFT
) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection.request("POST", "/metastore", body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def value(reply: bytes) -> Any:
    """What a binary reply carries."""
    return reply_of((reply,)).value


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("protocol", ["binary", "compact"])
def test_thriftpy2_speaks_every_protocol(our_metastore: Metastore, transport: str, protocol: str) -> None:
    our_metastore.table("t", keys=("k",))
    our_metastore.add_partitions(("a",), ("b",))
    host, port = "127.0.0.1", our_metastore.port
    opened = {
        "buffered": lambda: TCyBufferedTransport(TSocket(host, port)),
        "framed": lambda: TCyFramedTransport(TSocket(host, port)),
        "http": lambda: THttpClient(f"http://{host}:{port}/metastore", timeout=20_000),
    }[transport]()
    opened.open()
    binary = TBinaryProtocol if transport == "http" else TCyBinaryProtocol
    client = TClient(SERVICE, {"binary": binary, "compact": TCompactProtocol}[protocol](opened))
    _write_and_read(client, hive_metastore, our_metastore)
    client.close()


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("protocol", ["binary", "compact", "accelerated"])
def test_apaches_client_speaks_every_protocol(our_metastore: Metastore, transport: str, protocol: str) -> None:
    from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
    from thrift.protocol import TBinaryProtocol as Binary
    from thrift.protocol import TCompactProtocol as Compact
    from thrift.transport import THttpClient as Http
    from thrift.transport import TSocket as Sockets
    from thrift.transport import TTransport as Transports

    our_metastore.table("t", keys=("k",))
    our_metastore.add_partitions(("a",), ("b",))
    opened = {
        "buffered": lambda: Transports.TBufferedTransport(Sockets.TSocket("127.0.0.1", our_metastore.port)),
        "framed": lambda: Transports.TFramedTransport(Sockets.TSocket("127.0.0.1", our_metastore.port)),
        "http": lambda: Http.THttpClient(f"http://127.0.0.1:{our_metastore.port}/metastore"),
    }[transport]()
    opened.open()
    spoken = {
        "binary": Binary.TBinaryProtocol,
        "compact": Compact.TCompactProtocol,
        "accelerated": Compact.TCompactProtocolAccelerated,
    }[protocol](opened)
    _write_and_read(ThriftHiveMetastore.Client(spoken), ttypes, our_metastore)
    opened.close()


def _write_and_read(client: Any, api: Any, metastore: Metastore) -> None:
    """Kept answers and new ones, statistics that the server encodes by itself, exceptions, texts and doubles."""
    data = api.ColumnStatisticsData(
        stringStats=api.StringColumnStatsData(maxColLen=9, avgColLen=3.25, numNulls=2**40, numDVs=6)
    )
    column = api.ColumnStatisticsObj(colName="s", colType="string", statsData=data)
    for name in ("k=a", "k=b"):
        description = api.ColumnStatisticsDesc(
            isTblLevel=False, dbName=metastore.database, tableName="t", partName=name
        )
        written = api.ColumnStatistics(statsDesc=description, statsObj=[column])
        assert client.update_partition_column_statistics(written)
    wanted = api.PartitionsStatsRequest(
        dbName=metastore.database, tblName="t", colNames=["s"], partNames=["k=a", "k=b"]
    )
    for _ in range(3):
        found = client.get_partitions_statistics_req(wanted).partStats
        assert {name: each[0].statsData.stringStats for name, each in found.items()} == {
            "k=a": data.stringStats,
            "k=b": data.stringStats,
        }
        assert client.get_aggr_stats_for(wanted).partsFound == 2
        assert [each.name for each in client.get_table(metastore.database, "t").sd.cols] == list(COLUMNS)
        assert [each.values for each in client.get_partitions(metastore.database, "t", -1)] == [["a"], ["b"]]
    with pytest.raises(api.NoSuchObjectException):
        client.get_table(metastore.database, "nope")


def test_frames() -> None:
    data = framed(request("getOption", 1, key="framed" * 100))
    with serving() as address:
        for cut in (1, 3, 4, 5, 30, len(data) - 1):
            with Client(address) as client, Client(address) as other:
                client.send(data[:cut])
                assert other.echoes("between")
                client.send(data[cut:] + framed(request("getOption", 2, key="behind")))
                assert value(frame(client)) == "framed" * 100
                assert value(frame(client)) == "behind"


def test_a_frame_with_a_request_in_old_form() -> None:
    old = old_envelope("getOption", 3, CALL, encoded(methods()["getOption"].arguments(key="old")))
    with serving() as address, Client(address) as client:
        client.send(framed(old))
        assert value(frame(client)) == "old"


@pytest.mark.parametrize("change", [-1, 1])
def test_a_frame_must_hold_one_request(change: int) -> None:
    message = request("getOption", 5, key="x")
    with capture_logs() as events, serving() as address, Client(address) as client, Client(address) as other:
        client.send(struct.pack(">I", len(message) + change) + message + bytes(1))
        client.socket.shutdown(socket.SHUT_WR)
        assert client.at_end()
        assert other.echoes("unharmed")
    (rejected,) = (event["reason"] for event in events if event["event"] == "request_rejected")
    assert rejected == f"a frame must hold one whole request, found a frame of {len(message) + change} bytes"


def test_a_frame_above_the_limit_is_refused_at_once() -> None:
    with serving(Limits(max_message_bytes=10_000)) as address, Client(address) as client, Client(address) as other:
        client.send(struct.pack(">I", 20_000) + request("getOption", key="x")[:10])
        assert client.at_end()
        assert other.echoes("unharmed")


@pytest.mark.parametrize(
    "half",
    [
        framed(request("getOption", key="x"))[:4] + b"\x80",
        to_compact(request("getOption", key="x"))[:-2],
        b"POST / HTTP/1.1\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: 100\r\n\r\n\x80",
    ],
)
def test_a_client_that_stops_half_way_is_dropped(half: bytes) -> None:
    with serving(Limits(receive_seconds=SHORT_SECONDS)) as address, Client(address) as client, Client(address) as idle:
        client.send(half)
        while client.socket.recv(1_000):
            pass
        assert idle.echoes("idle is not half way")


def test_compact_requests_in_line() -> None:
    line = b"".join(to_compact(request("getOption", number, key=f"k{number}")) for number in range(100))
    with serving() as address, Client(address) as client:
        client.send(line)
        replies = b""
        for number in range(100):
            expected = b"\x82\x41" + bytes([number]) + b"\x09getOption\x08\x00"
            replies = receive(client, len(expected) + 2 + len(f"k{number}"))
            assert read_compact(replies)[2].success == f"k{number}"


def test_a_broken_compact_request_is_answered_in_compact() -> None:
    with serving() as address, Client(address) as client:
        client.send(to_compact(request("getOption", 5, key="x"))[:-4] + b"\x1d")
        client.socket.shutdown(socket.SHUT_WR)
        data = b""
        while piece := client.socket.recv(1_000):
            data += piece
    name, sequence, content = read_compact(data)
    assert (name, sequence, content.type) == ("getOption", 5, TApplicationException.PROTOCOL_ERROR)


def test_compact_requests_that_are_refused() -> None:
    gate = Gate()
    limits = Limits(threads=1, call_seconds=SHORT_SECONDS)
    with serving(limits, get_all_databases=gate) as address, Client(address) as client:
        client.send(framed(to_compact(request("get_all_databases", 3))))
        name, sequence, content = read_compact(frame(client))
        gate.open()
    assert (name, sequence) == ("get_all_databases", 3)
    assert "timed out" in content.o1.message


def test_http_keeps_a_connection_for_many_requests() -> None:
    with serving() as address, posting(address) as connection:
        for number in range(5):
            status, reply, headers = post(connection, request("getOption", number, key=f"http {number}"))
            assert (status, headers["Content-Type"]) == (200, "application/x-thrift")
            assert value(reply) == f"http {number}"
        peer = connection.sock.getsockname()
        assert value(post(connection, iter([request("getOption", key="in"), b""]))[1]) == "in"
        assert connection.sock.getsockname() == peer


def test_http_with_a_body_in_chunks_and_one_behind_the_other() -> None:
    message = request("getOption", 1, key="chunks" * 20)
    head = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-thrift; a=b\r\n"
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (message[:1], message[1:50], message[50:]))
    whole = head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    second = head + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(message) + message
    with serving() as address, Client(address) as client:
        for byte in whole:
            client.send(bytes([byte]))
        client.send(whole + second)
        data = b""
        while piece := client.socket.recv(10_000):
            data += piece
    assert data.count(b"HTTP/1.1 200 OK") == 3
    assert data.count(b"chunks" * 20) == 3


def test_a_large_http_reply_to_a_slow_reader_that_wants_the_end() -> None:
    with serving(getName=lambda _: "x" * 20_000_000) as address, posting(address) as connection:
        message = request("getName")
        connection.request("POST", "/", message, THRIFT | {"Connection": "close"})
        with Client(address) as other:
            assert other.echoes("meanwhile")
        answer = connection.getresponse()
        assert value(answer.read()) == "x" * 20_000_000
        assert answer.getheader("Connection") == "close"


def test_http_says_who_calls() -> None:
    def name(session: Session) -> str:
        return str(session.user)

    with serving(getName=name) as address, posting(address) as connection:
        assert value(post(connection, request("getName"), THRIFT | {"X-Actor-Username": "ada"})[1]) == "ada"
        assert value(post(connection, request("getName"))[1]) == "None"  # a proxy shares its connections


def test_spark_is_known_over_http_by_its_user() -> None:
    def name(session: Session) -> str:
        return str(session.is_spark)

    sessions = partial(Session, spark_names=frozenset({"spark"}))
    server = Server(("127.0.0.1", 0), Dispatcher(methods(), {"getName": name}), sessions=sessions)
    try:
        with posting(server.start()) as connection:
            for user, is_spark in (("spark", True), ("ada", False), ("spark", True)):
                headers = THRIFT | {"X-Actor-Username": user}
                assert value(post(connection, request("getName"), headers)[1]) == str(is_spark)
            assert value(post(connection, request("getName"))[1]) == "False"
    finally:
        server.stop(0)


def test_a_oneway_call_by_http_is_answered_by_nothing() -> None:
    ran = threading.Event()
    with serving(shutdown=lambda _session: ran.set()) as address, posting(address) as connection:
        assert post(connection, request("shutdown"))[:2] == (200, b"")
        assert ran.is_set()
        assert value(post(connection, request("getOption", key="next"))[1]) == "next"


def test_a_call_that_fails_is_a_thrift_answer_by_http() -> None:
    gate = Gate()
    with (
        serving(Limits(call_seconds=SHORT_SECONDS), get_all_databases=gate) as address,
        posting(address) as connection,
    ):
        status, reply, _ = post(connection, request("get_all_databases"))
        gate.open()
        assert status == 200
        assert b"timed out" in reply


@pytest.mark.parametrize(
    ("method", "headers", "body", "status", "sentence"),
    [
        ("GET", {}, None, 405, "must be a POST, found GET"),
        ("POST", {"Content-Type": "text/plain"}, b"x", 415, "must be application/x-thrift, found text/plain"),
        ("POST", THRIFT | {"Content-Encoding": "gzip"}, b"x", 415, "must not be compressed"),
        ("POST", THRIFT, b"", 400, "one whole request, found a part"),
        ("POST", THRIFT, request("getOption", key="x")[:-1], 400, "one whole request, found a part"),
        ("POST", THRIFT, request("getOption", key="x") + b"y", 400, "one whole request, found more"),
        ("POST", THRIFT, b"\xff" * 20, 400, "must begin with version 0x8001"),
        ("POST", THRIFT, request("getOption", key="x" * 20_000), 413, "may have 10000 bytes"),
        ("POST", THRIFT | {"Transfer-Encoding": "gzip"}, None, 501, "HTTP: "),
    ],
)
def test_http_that_is_refused(
    method: str, headers: dict[str, str], body: bytes | None, status: int, sentence: str
) -> None:
    with serving(Limits(max_message_bytes=10_000)) as address, posting(address) as connection:
        with capture_logs() as events:
            connection.request(method, "/", body, headers)
            answer = connection.getresponse()
            assert (answer.status, answer.getheader("Connection")) == (status, "close")
            assert sentence in answer.read().decode()
        assert any(sentence in event.get("reason", "") for event in events if event["event"] == "request_rejected")
        with Client(address) as other:
            assert other.echoes("unharmed")


def test_all_protocols_at_once() -> None:
    message = request("getOption", 1, key="one port")
    with (
        serving() as address,
        Client(address) as plain,
        Client(address) as frames,
        Client(address) as compact,
        posting(address) as connection,
    ):
        for _ in range(3):
            assert plain.echoes("one port")
            frames.send(framed(message))
            assert value(frame(frames)) == "one port"
            assert value(post(connection, message)[1]) == "one port"
            compact.send(framed(to_compact(message)))
            assert read_compact(frame(compact))[2].success == "one port"


@pytest.mark.parametrize("line", ["Authorization: Bearer \0canary", "Authorization : canary", "canary", "\0: canary"])
def test_an_answer_and_a_log_line_about_malformed_headers_quote_none_of_them(line: str) -> None:
    with serving() as address, capture_logs() as log, Client(address) as client:
        client.send(f"POST / HTTP/1.1\r\nHost: x\r\n{line}\r\n\r\n".encode())
        answer = client.socket.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"HTTP: illegal header line\n")
    assert "canary" not in repr((answer, log))
