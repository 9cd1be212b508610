"""Whether what a server sent can be read by a client: whole replies in the form that its first bytes say."""

import struct
from io import BytesIO

from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.thrift import TType

from hmstats.server.messages.compact_reader import PROTOCOL_ID
from hmstats.wire.messages.envelope import EXCEPTION, REPLY
from hmstats.wire.messages.scanner import end_of_value

_BINARY_ID = 0x80
_HTTP = b"HTTP/1.1 "
_THRIFT = b"thrift"


def count(data: bytes) -> int:
    """The number of replies. Raises AssertionError, or what a decoder raises, when the data are anything else."""
    found = at = 0
    while at < len(data):
        at = _end(data, at)
        found += 1
    assert at == len(data), f"a reply of {at} bytes, found {len(data)}"
    return found


def _end(data: bytes, at: int) -> int:
    if data.startswith(_HTTP, at):
        return _end_of_response(data, at)
    if data[at] in (_BINARY_ID, PROTOCOL_ID):
        return _end_of_message(data, at)
    (size,) = struct.unpack_from(">I", data, at)
    end = at + 4 + int(size)
    assert _end_of_message(data[:end], at + 4) == end, "a frame must hold one reply"
    return end


def _end_of_message(data: bytes, at: int) -> int:
    if data[at] == _BINARY_ID:
        version, size = struct.unpack_from(">Ii", data, at)
        assert version in (0x80010000 | REPLY, 0x80010000 | EXCEPTION), hex(version)
        data[at + 8 : at + 8 + size].decode()
        return end_of_value(data, TType.STRUCT, at + 12 + size)
    assert data[at] == PROTOCOL_ID, f"a reply must begin with 0x80 or 0x82, found {data[at : at + 8]!r}"
    buffer = BytesIO(data[at:])
    protocol = TCompactProtocol(buffer)
    kind = protocol.read_message_begin()[1]
    assert kind in (REPLY, EXCEPTION), kind
    protocol.skip(TType.STRUCT)
    return at + buffer.tell()


def _end_of_response(data: bytes, at: int) -> int:
    head, _, rest = data[at:].partition(b"\r\n\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    size = int(headers[b"content-length"])
    body = rest[:size]
    assert len(body) == size, f"a body of {size} bytes, found {len(body)}"
    if _THRIFT in headers[b"content-type"] and body:
        assert _end_of_message(body, 0) == size, "a body must hold one reply"
    return at + len(head) + 4 + size
