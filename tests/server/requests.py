"""Requests and replies as bytes, written and read by thriftpy2."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TCyBufferedTransport, TCyMemoryBuffer

from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import CALL, EXCEPTION


@dataclass(frozen=True)
class Reply:
    """One reply: the struct of results, or the exception in its place."""

    name: str
    sequence: int
    content: Any

    @property
    def value(self) -> Any:
        """What the call returned. Fails when it returned nothing."""
        assert self.content.success is not None, self.content
        return self.content.success


def request(name: str, /, sequence: int = 1, kind: int = CALL, **arguments: Any) -> bytes:
    """A whole request of the API."""
    return envelope(name, sequence, kind, encoded(methods()[name].arguments(**arguments)))


def encoded(value: Any) -> bytes:
    """A struct in binary form."""
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(value)
    result: bytes = buffer.getvalue()
    return result


def envelope(name: str, sequence: int, kind: int, body: bytes) -> bytes:
    """A message with the body as it is."""
    return struct.pack(f">Ii{len(name)}si", 0x80010000 | kind, len(name), name.encode(), sequence) + body


def old_envelope(name: str, sequence: int, kind: int, body: bytes) -> bytes:
    """A message as clients before the protocol had a version wrote it."""
    return struct.pack(f">i{len(name)}sbi", len(name), name.encode(), kind, sequence) + body


def field(kind: int, number: int) -> bytes:
    """The head of a field."""
    return struct.pack(">bh", kind, number)


class ReplyReader:
    """Decodes replies from something with a `read`."""

    def __init__(self, source: Any) -> None:
        self._protocol = TCyBinaryProtocol(TCyBufferedTransport(source))

    def next(self) -> Reply:
        """The next reply. Raises TTransportException at the end."""
        name, kind, sequence = self._protocol.read_message_begin()
        content = TApplicationException() if kind == EXCEPTION else methods()[name].result()
        self._protocol.read_struct(content)
        return Reply(name, sequence, content)


def reply_of(reply: Sequence[bytes] | None) -> Reply:
    """A reply that was made as pieces of its bytes."""
    assert reply is not None
    return ReplyReader(BytesIO(b"".join(reply))).next()
