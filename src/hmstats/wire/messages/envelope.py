"""The envelope of a TBinaryProtocol message: name, type and sequence id before the struct of arguments or results.

Strict: i32 0x8001_00_<type>, string name, i32 sequence id. Old: string name, byte type, i32 sequence id. Both are read;
replies are strict, which every client reads. Format: thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift.
"""

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from hmstats.errors import ProtocolError

CALL, REPLY, EXCEPTION, ONEWAY = 1, 2, 3, 4

MAX_NAME_BYTES = 256
"""The longest method name that is read; the API's longest has 51 characters."""

_VERSION = 0x80010000
_VERSION_MASK = 0xFFFF0000
_CALL_OF_SHORT_NAME = b"\x80\x01\x00\x01\x00\x00\x00"
"""The beginning of a strict call whose name has less than 256 bytes, without the last byte of the name's size."""
_STRICT_REPLY = b"\x80\x01\x00\x02"
_I32 = struct.Struct(">i")
_ANSWER = struct.Struct(">II")
_STRING, _INTEGER, _STOP = 11, 8, 0


Pieces: TypeAlias = Sequence[bytes]
"""A message's bytes as pieces that are sent in order, so that a large result is not copied."""


class Refusal(IntEnum):
    """The types of TApplicationException that a server sends."""

    UNKNOWN_METHOD = 1
    MISSING_RESULT = 5
    INTERNAL_ERROR = 6
    PROTOCOL_ERROR = 7


class Head(NamedTuple):
    """The envelope of a message, whose arguments or result begin at byte `body_at`."""

    name: str
    kind: int
    sequence: int
    body_at: int

    @property
    def oneway(self) -> bool:
        """Whether the client waits for no answer."""
        return self.kind == ONEWAY


def read_head(data: bytes | bytearray) -> Head | None:
    """The head of the request that `data` begins with; None if it is incomplete. Raises ProtocolError."""
    if len(data) < 4:
        return None
    (first,) = _I32.unpack_from(data)
    return _old_head(data, first) if first >= 0 else _strict_head(data, first)


def read_answer_head(data: bytes | bytearray) -> Head | None:
    """The head of the strict answer that `data` begins with; None if it is incomplete. Raises ProtocolError."""
    if len(data) < 8:
        return None
    first, name_size = _ANSWER.unpack_from(data)
    if first & _VERSION_MASK != _VERSION:
        raise ProtocolError(f"an answer must begin with version 0x8001, found 0x{first:08x}")
    if name_size > MAX_NAME_BYTES:
        raise ProtocolError(f"the name in an answer must have at most {MAX_NAME_BYTES} bytes, found {name_size}")
    end = 8 + name_size
    if len(data) < end + 4:
        return None
    return Head(_name(data[8:end]), first & 0xFF, _I32.unpack_from(data, end)[0], end + 4)


def glance(data: bytes) -> tuple[str, int] | None:
    """The name in a strict call, and where its arguments begin; None for other messages.

    A faster read_head for lookups in the cache: bytes that are not checked here just find no entry.
    """
    if not data.startswith(_CALL_OF_SHORT_NAME) or len(data) <= len(_CALL_OF_SHORT_NAME):
        return None
    name_at = len(_CALL_OF_SHORT_NAME) + 1
    end = name_at + data[name_at - 1]
    return data[name_at:end].decode("latin-1"), end + 4


def glanced_head(data: bytes, name: str, body_at: int) -> Head:
    """The head of a whole call of which `glance` told the name and where its arguments begin."""
    return Head(name, CALL, _I32.unpack_from(data, body_at - _I32.size)[0], body_at)


def head_of(data: bytes | bytearray) -> Head | None:
    """The head of a request, None when there is none to read."""
    try:
        return read_head(data)
    except ProtocolError:
        return None


def _strict_head(data: bytes | bytearray, first: int) -> Head | None:
    if first & _VERSION_MASK != _VERSION:
        raise ProtocolError(f"a request must begin with version 0x8001, found 0x{first & 0xFFFFFFFF:08x}")
    kind = _request_kind(first & 0xFF)
    if len(data) < 8:
        return None
    end = 8 + _name_size(_I32.unpack_from(data, 4)[0])
    if len(data) < end + 4:
        return None
    return Head(_name(data[8:end]), kind, _I32.unpack_from(data, end)[0], end + 4)


def _old_head(data: bytes | bytearray, name_size: int) -> Head | None:
    end = 4 + _name_size(name_size)
    if len(data) < end + 5:
        return None
    return Head(_name(data[4:end]), _request_kind(data[end]), _I32.unpack_from(data, end + 1)[0], end + 5)


def _request_kind(kind: int) -> int:
    if kind not in (CALL, ONEWAY):
        raise ProtocolError(f"a request must be of message type 1 or 4, found {kind}")
    return kind


def _name_size(size: int) -> int:
    if not 0 < size <= MAX_NAME_BYTES:
        raise ProtocolError(f"a method's name must have 1 to {MAX_NAME_BYTES} bytes, found {size}")
    return size


def _name(data: bytes | bytearray) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ProtocolError(f"a method's name must be UTF-8, found {bytes(data)!r}") from error


def encode_reply(head: Head, result: bytes) -> bytes:
    """The reply to a request; `result` is the encoded result struct with its stop byte."""
    return b"".join(reply_pieces(head, result))


def reply_pieces(head: Head, result: bytes) -> Pieces:
    """The reply to a request as two pieces, its head and the encoded result struct, without a copy."""
    return (encode_head(head.name, REPLY, head.sequence), result)


def head_in_return(call: bytes, body_at: int) -> bytes:
    """The head of the reply to a strict call whose arguments begin at `body_at`: the call's own except for the type."""
    return _STRICT_REPLY + call[len(_STRICT_REPLY) : body_at]


def encode_refusal(head: Head | None, kind: Refusal, sentence: str) -> bytes:
    """A TApplicationException in answer to a request, or to a client that has not asked yet (None).

    Generated clients look at an exception before they compare names and sequence ids, so the latter is understood too.
    """
    text = sentence.encode()
    return b"".join(
        (
            encode_head(head.name if head else "", EXCEPTION, head.sequence if head else 0),
            struct.pack(">bhi", _STRING, 1, len(text)),
            text,
            struct.pack(">bhib", _INTEGER, 2, kind, _STOP),
        )
    )


def encode_head(name: str, kind: int, sequence: int) -> bytes:
    """The beginning of a message, before its struct: version, type, name and sequence id."""
    encoded = name.encode()
    return struct.pack(f">Ii{len(encoded)}si", _VERSION | kind, len(encoded), encoded, sequence)
