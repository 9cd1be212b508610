"""The encodings of Thrift messages that clients may use. Behind them every message is in binary form."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from hmstats.server.messages.compact_reader import PROTOCOL_ID, CompactReader
from hmstats.server.messages.compact_writer import to_compact
from hmstats.server.messages.request import Request
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import Head, Pieces, head_of
from hmstats.wire.messages.scanner import Scanner


class Begun(Enum):
    """BEGUN stands for bytes that are the beginning of a longer request that came before: there is no end to look for.

    No message is the beginning of another one.
    """

    BEGUN = auto()


Recognise = Callable[[bytearray], Request | Begun | None]
"""The request that all of the bytes are, or BEGUN, if that is known without a scan for its end."""


class Encoding(Protocol):
    """One connection's encoding."""

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove the first request from `inbox`; None if it is incomplete.

        Called again with the same `inbox` as bytes are appended. Raises ProtocolError.
        """

    @property
    def unread(self) -> bool:
        """Whether `take_request` returned None only since the request is too long for one turn."""

    @property
    def held_bytes(self) -> int:
        """Memory in bytes of the current request beside the inbox."""

    @property
    def encodes_at_once(self) -> bool:
        """Whether `encode` takes constant time."""

    def head(self) -> Head | None:
        """The name, type and sequence id of the current request; None if they cannot be read."""

    def encode(self, message: Pieces) -> Pieces:
        """A message in binary form as the client reads it."""


class BinaryEncoding:
    """TBinaryProtocol."""

    unread = False
    held_bytes = 0
    encodes_at_once = True

    def __init__(self, allowance: Allowance, recognise: Recognise) -> None:
        self._allowance = allowance
        self._recognise = recognise
        self._scanner: Scanner | None = None
        self._inbox = bytearray()

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove a request from the inbox unchanged; `recognise` may spare a scan for its end."""
        self._inbox = inbox
        if self._scanner is None:
            request = self._recognise(inbox) if len(inbox) <= self._allowance.message_bytes else None
            if request is Begun.BEGUN:
                return None
            if request is not None:
                inbox.clear()
                return request
            self._scanner = Scanner(inbox, self._allowance)
        size = self._scanner.scan()
        if size is None:
            return None
        self._scanner = None
        return Request.of(_remove(inbox, size))

    def head(self) -> Head | None:
        """The head of the first message in the inbox; None if incomplete or invalid."""
        return head_of(self._inbox)

    def encode(self, message: Pieces) -> Pieces:
        """The message as given: replies are in binary form already."""
        return message


class CompactEncoding:
    """TCompactProtocol."""

    encodes_at_once = False

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._reader: CompactReader | None = None

    @property
    def unread(self) -> bool:
        """Whether the compact reader stopped before the end of the inbox."""
        return self._reader is not None and self._reader.unread

    @property
    def held_bytes(self) -> int:
        """Bytes of the current request that are converted to binary form; 0 between requests."""
        return 0 if self._reader is None else self._reader.held_bytes

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove a request from the inbox and convert it to binary form; None if incomplete."""
        if self._reader is None:
            self._reader = CompactReader(inbox, self._allowance)
        reader, message = self._reader, self._reader.read()
        if message is None or reader.head is None:
            return None
        del inbox[: reader.size]
        self._reader = None
        return Request(message, reader.head)

    def head(self) -> Head | None:
        """The head of the current request; None before it is read."""
        return self._reader.head if self._reader else None

    def encode(self, message: Pieces) -> Pieces:
        """The message converted to the compact protocol, as one piece."""
        return (to_compact(b"".join(message)),)


def encoding_of(first_byte: int, allowance: Allowance, recognise: Recognise) -> Encoding:
    """The encoding of messages that begin with this byte; an invalid byte is reported when the message is read."""
    if first_byte == PROTOCOL_ID:
        return CompactEncoding(allowance)
    return BinaryEncoding(allowance, recognise)


def _remove(inbox: bytearray, size: int) -> bytes:
    """Remove `size` bytes from the start of an inbox, and return them."""
    if size == len(inbox):
        message = bytes(inbox)
        inbox.clear()
        return message
    with memoryview(inbox) as view, view[:size] as part:
        message = bytes(part)
    del inbox[:size]
    return message
