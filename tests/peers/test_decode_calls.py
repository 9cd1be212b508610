"""The recorder of calls, before a server of ours."""

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.peers.decode_calls import Recorder
from tests.server.requests import ReplyReader, request
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


class _Source:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def read(self, size: int) -> bytes:
        return self._connection.recv(size)


@contextmanager
def _recorded(port: int, recorder: Recorder) -> Iterator[tuple[socket.socket, ReplyReader]]:
    """A client's end of a recorded connection; when it is closed the record is whole."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), timeout=20)
        server, _ = listener.accept()
    running = threading.Thread(target=recorder.serve, args=(server, port))
    running.start()
    with client:
        yield client, ReplyReader(_Source(client))
    running.join(20)


def test_calls_are_recorded_and_answered(hmstats_sqlite: int) -> None:
    out = io.StringIO()
    wanted = api.TableStatsRequest(dbName="nope", tblName="t", colNames=[f"c{number}" for number in range(20)])
    with _recorded(hmstats_sqlite, Recorder(out)) as (client, replies):
        client.sendall(request("get_databases", pattern="default"))
        assert replies.next().value == ["default"]
        client.sendall(request("get_table_statistics_req", request=wanted))
        assert isinstance(replies.next().content.o1, api.NoSuchObjectException)
    found: list[dict[str, Any]] = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(each["name"], each["reply"]) for each in found] == [
        ("get_databases", "ok"),
        ("get_table_statistics_req", "NoSuchObjectException"),
    ]
    assert found[0]["args"] == {"pattern": "default"}
    assert found[0]["result"] == ["default"]
    assert found[1]["args"]["request"]["dbName"] == "nope"
    assert found[1]["args"]["request"]["colNames"][-1] == "..20 in all"


def test_refused_methods_are_not_asked(hmstats_sqlite: int) -> None:
    out = io.StringIO()
    recorder = Recorder(out, names_only=True, refused=["get_databases"])
    with _recorded(hmstats_sqlite, recorder) as (client, replies):
        client.sendall(request("get_databases", sequence=7, pattern="default"))
        reply = replies.next()
        assert (reply.sequence, reply.content.type) == (7, TApplicationException.UNKNOWN_METHOD)
        client.sendall(request("get_all_databases"))
        assert "default" in replies.next().value
    assert out.getvalue().splitlines() == ["get_databases", "get_all_databases"]


@pytest.mark.parametrize("garbage", [b"", b"\x00\x00\x00\x03abc"])
def test_a_connection_that_ends_leaves_no_call(hmstats_sqlite: int, garbage: bytes) -> None:
    out = io.StringIO()
    with _recorded(hmstats_sqlite, Recorder(out)) as (client, _):
        client.sendall(garbage)
    assert out.getvalue() == ""
