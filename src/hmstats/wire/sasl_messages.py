"""SASL as Thrift frames it: the messages of a negotiation, and behind it data in frames.

A message is a status (1 byte), the length of its payload (4 bytes, big-endian, unsigned) and the payload. A frame is a
length of 4 bytes and data (Apache Thrift, doc/specs/thrift-sasl-spec.txt).
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from hmstats.errors import MessageTooLarge

_MESSAGE_HEAD = struct.Struct(">BI")
_FRAME_HEAD = struct.Struct(">I")
_MOST_PAYLOAD_BYTES = 64 * 1024
"""A Kerberos ticket with the groups of a Windows domain can have 48 KiB."""
_MOST_NAME_BYTES = 20
"""The longest name of a mechanism (RFC 4422, section 3.1)."""


class Status(IntEnum):
    """The status of a message of a negotiation."""

    START = 1
    OK = 2
    BAD = 3
    ERROR = 4
    COMPLETE = 5


class Message(NamedTuple):
    """A message of a negotiation. `status` may be none of Status."""

    status: int
    payload: bytes

    @property
    def encoded(self) -> bytes:
        """The message as it is sent."""
        return _MESSAGE_HEAD.pack(self.status, len(self.payload)) + self.payload


def begins_sasl(inbox: bytearray) -> bool:
    """Whether a connection begins with START: no other protocol's first five bytes are 1, 0, 0, 0 and 1 to 20.

    As a frame they would be 16 MiB of a message that begins with an impossible byte.
    """
    if len(inbox) < _MESSAGE_HEAD.size:
        return False
    status, size = _MESSAGE_HEAD.unpack_from(inbox)
    return bool(status == Status.START and 0 < size <= _MOST_NAME_BYTES)


MESSAGE_HEAD_BYTES, FRAME_HEAD_BYTES = _MESSAGE_HEAD.size, _FRAME_HEAD.size


def head(data: bytes) -> tuple[int, int]:
    """The status of a message and the length of its payload in bytes. Raises MessageTooLarge."""
    status, size = _MESSAGE_HEAD.unpack(data)
    if size > _MOST_PAYLOAD_BYTES:
        raise MessageTooLarge(f"a SASL message may have {_MOST_PAYLOAD_BYTES} bytes, found one of {size}")
    return status, size


def frame_bytes(data: bytes) -> int:
    """The length of a frame's data in bytes."""
    return int(_FRAME_HEAD.unpack(data)[0])


def take_message(inbox: bytearray) -> Message | None:
    """Remove the first message from the inbox; None if it is incomplete. Raises MessageTooLarge by its head alone."""
    if len(inbox) < _MESSAGE_HEAD.size:
        return None
    status, size = head(bytes(inbox[: _MESSAGE_HEAD.size]))
    end = _MESSAGE_HEAD.size + size
    if len(inbox) < end:
        return None
    payload = bytes(inbox[_MESSAGE_HEAD.size : end])
    del inbox[:end]
    return Message(status, payload)


def framed(data: bytes | memoryview) -> bytes:
    """One frame."""
    return _FRAME_HEAD.pack(len(data)) + data


class Frames:
    """Reads the frames of one client, whose ends need not be those of messages."""

    def __init__(self, most_bytes: int, *, whole: bool) -> None:
        """`whole` collects the data of a frame; without it the bytes of a frame are given as they come."""
        self._most_bytes = most_bytes
        self._whole = whole
        self._waiting = bytearray()
        self._left: int | None = None
        """The bytes of the current frame that were not given yet; None before its length is known."""

    @property
    def held_bytes(self) -> int:
        """Memory in bytes of what has come and was not given."""
        return len(self._waiting)

    def put(self, data: bytes) -> Iterator[bytes]:
        """Take bytes that have come, and give the data in them. Raises MessageTooLarge for a frame beyond the limit."""
        self._waiting += data
        while True:
            if self._left is None:
                if len(self._waiting) < _FRAME_HEAD.size:
                    return
                (self._left,) = _FRAME_HEAD.unpack_from(self._waiting)
                del self._waiting[: _FRAME_HEAD.size]
                if self._left > self._most_bytes:
                    raise MessageTooLarge(f"a SASL frame may have {self._most_bytes} bytes, found one of {self._left}")
            if self._left and (not self._waiting or (self._whole and len(self._waiting) < self._left)):
                return
            piece = bytes(self._waiting[: self._left])
            del self._waiting[: len(piece)]
            self._left = self._left - len(piece) or None
            if piece:
                yield piece
