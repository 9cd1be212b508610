"""One call in every protocol, over plain sockets or TLS, and what came of it."""

import http.client
import ssl
import struct
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from tests.server.requests import reply_of, request
from tests.server.serving import PATIENCE_SECONDS, Address, Client
from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TMemoryBuffer

from hmstats.server.messages.compact_writer import to_compact
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import EXCEPTION

CALL = request("getOption", 7, key="k")
THRIFT = {"Content-Type": "application/x-thrift"}
Context = ssl.SSLContext | None


def ask_binary(address: Address, context: Context = None, message: bytes = CALL) -> str:
    with Client(address, context) as client:
        client.send(message)
        answer = said(client.reply().content)
        return answer if answer == "k" else ended(client, answer)


def ask_compact(address: Address, context: Context = None) -> str:
    with Client(address, context) as client:
        client.send(to_compact(CALL))
        data = client.socket.recv(65_536)
        protocol = TCompactProtocol(TMemoryBuffer(data))
        name, kind, _ = protocol.read_message_begin()
        content = TApplicationException() if kind == EXCEPTION else methods()[name].result()
        protocol.read_struct(content)
        answer = said(content)
        return answer if answer == "k" else ended(client, answer)


def ask_framed(address: Address, context: Context = None) -> str:
    with Client(address, context) as client:
        client.send(struct.pack(">I", len(CALL)) + CALL)
        (size,) = struct.unpack(">I", received(client, 4))
        answer = said(reply_of([received(client, size)]).content)
        return answer if answer == "k" else ended(client, answer)


def ask_http(address: Address, context: Context = None, **headers: str) -> str:
    with closing(connection_to(address, context)) as connection:
        status, _, body = post(connection, CALL, headers)
    return said(reply_of([body]).content) if status == 200 else f"{status} {body.decode()}"


PROTOCOLS: Mapping[str, Callable[..., str]] = {
    "binary": ask_binary,
    "compact": ask_compact,
    "framed": ask_framed,
    "http": ask_http,
}


def connection_to(address: Address, context: Context = None) -> http.client.HTTPConnection:
    host = ("localhost", address[1])
    if context is None:
        return http.client.HTTPConnection(*host, timeout=PATIENCE_SECONDS)
    return http.client.HTTPSConnection(*host, timeout=PATIENCE_SECONDS, context=context)


def post(
    connection: http.client.HTTPConnection, body: bytes, headers: Mapping[str, str]
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection.request("POST", "/metastore", body, THRIFT | dict(headers))
    response = connection.getresponse()
    return response.status, response.headers, response.read()


def said(content: Any) -> str:
    return str(getattr(content, "success", None) or content.message)


def received(client: Client, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = client.socket.recv(size - len(data))
        assert piece, "the connection ended"
        data += piece
    return data


def ended(client: Client, answer: str) -> str:
    """The answer, where the connection has ended behind it."""
    assert client.at_end()
    return answer
