"""The encodings of Thrift messages that clients may use. Behind them every message is in binary form."""

from collections.abc import Callable
from typing import Protocol

from hmstats.server.compact_reader import PROTOCOL_ID, CompactReader
from hmstats.server.compact_writer import to_compact
from hmstats.server.messages import Head, Pieces, head_of
from hmstats.server.scanner import Scanner

Knows = Callable[[bytearray], bool]
"""Whether bytes are one whole request in binary form, which then need not be scanned."""


class Encoding(Protocol):
    """One connection's encoding."""

    def take(self, inbox: bytearray) -> bytes | None:
        """Remove the request that `inbox` begins with, and return it in binary form; None while it is not whole.

        Called again with the same `inbox` as bytes are appended. Raises ProtocolError.
        """

    def head(self) -> Head | None:
        """What the request that is being read says before its arguments, if that much can be read."""

    def encode(self, message: Pieces) -> Pieces:
        """A message in binary form as the client reads it."""


class BinaryEncoding:
    """TBinaryProtocol."""

    def __init__(self, max_message_bytes: int, knows: Knows) -> None:
        self._max_message_bytes = max_message_bytes
        self._knows = knows
        self._scanner: Scanner | None = None
        self._inbox = bytearray()

    def take(self, inbox: bytearray) -> bytes | None:
        """See Encoding."""
        self._inbox = inbox
        if self._scanner is None:
            if len(inbox) <= self._max_message_bytes and self._knows(inbox):
                return _removed(inbox, len(inbox))
            self._scanner = Scanner(inbox, self._max_message_bytes)
        size = self._scanner.scan()
        if size is None:
            return None
        self._scanner = None
        return _removed(inbox, size)

    def head(self) -> Head | None:
        """See Encoding."""
        return head_of(self._inbox)

    def encode(self, message: Pieces) -> Pieces:
        """See Encoding."""
        return message


class CompactEncoding:
    """TCompactProtocol."""

    def __init__(self, max_message_bytes: int) -> None:
        self._max_message_bytes = max_message_bytes
        self._reader: CompactReader | None = None

    def take(self, inbox: bytearray) -> bytes | None:
        """See Encoding."""
        if self._reader is None:
            self._reader = CompactReader(inbox, self._max_message_bytes)
        message = self._reader.read()
        if message is not None:
            del inbox[: self._reader.size]
            self._reader = None
        return message

    def head(self) -> Head | None:
        """See Encoding."""
        return self._reader.head if self._reader else None

    def encode(self, message: Pieces) -> Pieces:
        """See Encoding."""
        return (to_compact(b"".join(message)),)


def encoding_of(first_byte: int, max_message_bytes: int, knows: Knows) -> Encoding:
    """The encoding of messages that begin with this byte; what is none at all is found out by reading."""
    if first_byte == PROTOCOL_ID:
        return CompactEncoding(max_message_bytes)
    return BinaryEncoding(max_message_bytes, knows)


def _removed(inbox: bytearray, size: int) -> bytes:
    """The first bytes of an inbox, which are gone from it."""
    if size == len(inbox):
        message = bytes(inbox)
        inbox.clear()
        return message
    with memoryview(inbox) as view, view[:size] as part:
        message = bytes(part)
    del inbox[:size]
    return message
