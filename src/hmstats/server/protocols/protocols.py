"""The protocols that a connection may use, recognised by its first bytes.

Binary or compact messages, each on a plain buffered socket, in frames, or in the bodies of HTTP requests.
"""

import struct
from typing import Protocol

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.authentication.credentials import Credential
from hmstats.server.limits import Limits
from hmstats.server.messages.compact_reader import PROTOCOL_ID
from hmstats.server.messages.encodings import Encoding, Recognise, encoding_of
from hmstats.server.messages.request import Request
from hmstats.server.protocols.http_protocol import HttpProtocol
from hmstats.server.rpc.caller import Session
from hmstats.wire.messages.envelope import Pieces, Refusal, encode_refusal

_FRAME = struct.Struct(">I")
_BINARY_ID = 0x80
_METHODS = range(ord("A"), ord("Z") + 1)
"""The first byte of an HTTP request, which begins with the name of its method."""


class WireProtocol(Protocol):
    """One connection's protocol: how the bytes of requests are read, and those of replies made.

    Requests are converted to binary form. While a call runs, only `encode` and `wrap` may be called.
    """

    @property
    def begun(self) -> bool:
        """Whether a part of the next request was removed from the inbox already."""

    @property
    def held_bytes(self) -> int:
        """Memory in bytes of the next request beside the inbox."""

    @property
    def unread(self) -> bool:
        """Whether `take_request` returned None only since the request is too long for one turn of the selector."""

    @property
    def ends(self) -> bool:
        """Whether the connection must end after the reply that was wrapped last."""

    @property
    def awaits_proof(self) -> bool:
        """Whether `take_request` stopped in a request whose user is to be proven before the rest is read."""

    @property
    def credential(self) -> Credential | None:
        """The proof of the user in the request; None without one."""

    def accept_proof(self) -> None:
        """Go on with the request, whose user is proven."""

    @property
    def encodes_at_once(self) -> bool:
        """Whether `encode` takes constant time."""

    @property
    def streams(self) -> bool:
        """Whether a reply in binary form may be sent as it is, part by part, before its size is known."""

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove the next request from the inbox; None if it is incomplete. Raises ProtocolError."""

    def message(self, data: bytes) -> bytes | None:
        """The message in bytes that may be one whole request, unchecked; None if that cannot be told fast.

        Call this only between two requests, with an empty inbox.
        """

    def identify(self, session: Session) -> None:
        """Tell the session the user whom the request that was taken last names, if requests name users."""

    def encode(self, reply: Pieces | None) -> Pieces | None:
        """A reply in binary form as the client reads it; None for None."""

    def wrap(self, reply: Pieces | None) -> Pieces:
        """The bytes to send for an encoded reply. Call this once for each request, from one thread."""

    def reject(self, error: ProtocolError) -> Pieces:
        """The bytes in answer to an invalid request; empty if the client could not understand any."""


class PlainProtocol:
    """Messages one after the other, without frames."""

    ends = False
    awaits_proof = False
    credential = None

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    @property
    def begun(self) -> bool:
        """Always False: a message stays in the inbox until it is whole."""
        return False

    @property
    def held_bytes(self) -> int:
        """Bytes that the encoding holds."""
        return self._encoding.held_bytes

    @property
    def unread(self) -> bool:
        """Whether the encoding has more of the inbox to read."""
        return self._encoding.unread

    @property
    def encodes_at_once(self) -> bool:
        """Whether the encoding takes constant time."""
        return self._encoding.encodes_at_once

    @property
    def streams(self) -> bool:
        """Whether replies are in binary form."""
        return self._encoding.encodes_at_once

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove the next message from the inbox, in binary form; None if incomplete."""
        return self._encoding.take_request(inbox)

    def message(self, data: bytes) -> bytes | None:
        """The bytes themselves."""
        return data

    def accept_proof(self) -> None:
        """Nothing: a user is proven for the whole connection."""

    def identify(self, session: Session) -> None:
        """Nothing: a client names its user by a call."""

    def encode(self, reply: Pieces | None) -> Pieces | None:
        """The reply in the connection's encoding; None for None."""
        return None if reply is None else self._encoding.encode(reply)

    def wrap(self, reply: Pieces | None) -> Pieces:
        """The reply unchanged; nothing for None."""
        return reply or ()

    def reject(self, error: ProtocolError) -> Pieces:
        """A TApplicationException with the error's text; nothing if the request has no readable head."""
        head = self._encoding.head()
        if head is None:
            return ()
        return self.wrap(self.encode((encode_refusal(head, Refusal.PROTOCOL_ERROR, str(error)),)))


class FramedProtocol(PlainProtocol):
    """Messages with their size before them, an unsigned integer of four bytes."""

    streams = False

    def __init__(self, encoding: Encoding, max_message_bytes: int) -> None:
        super().__init__(encoding)
        self._max_message_bytes = max_message_bytes
        self._unread_bytes: int | None = None
        """The bytes of the current frame that were not read yet; None between frames."""

    @property
    def begun(self) -> bool:
        """Whether the size of the current frame was removed from the inbox."""
        return self._unread_bytes is not None

    def message(self, data: bytes) -> bytes | None:
        """The message in the frame; None unless `data` is one whole frame."""
        if not data.startswith(_FRAME.pack(max(0, len(data) - _FRAME.size))):
            return None
        return data[_FRAME.size :]

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove the next frame from the inbox and return its request; None if incomplete.

        Raises MessageTooLarge for a size above the limit, ProtocolError if a frame does not hold exactly one request.
        """
        if self._unread_bytes is None:
            if len(inbox) < _FRAME.size:
                return None
            (self._unread_bytes,) = _FRAME.unpack_from(inbox)
            del inbox[: _FRAME.size]
            if self._unread_bytes > self._max_message_bytes:
                raise MessageTooLarge(
                    f"a request may have {self._max_message_bytes} bytes, found one of {self._unread_bytes}"
                )
        size_before = len(inbox)
        request = self._encoding.take_request(inbox)
        read = size_before - len(inbox)
        if read != self._unread_bytes and (
            request is not None or (size_before >= self._unread_bytes and not self.unread)
        ):
            raise ProtocolError(f"a frame must hold one whole request, found a frame of {self._unread_bytes} bytes")
        if request is not None:
            self._unread_bytes = None
        return request

    def wrap(self, reply: Pieces | None) -> Pieces:
        """The reply with its size before it; nothing for None."""
        return () if reply is None else (_FRAME.pack(sum(map(len, reply))), *reply)


def recognise(
    inbox: bytearray, recognise_request: Recognise, limits: Limits, *, authenticates: bool = False, proven: bool = True
) -> WireProtocol | None:
    """The protocol of a connection that begins with these bytes; None if they are too few to tell.

    `recognise_request` recognises requests that need no scan for their end. `authenticates` says that users are
    proven, `proven` that the connection's user is: only small requests are read of one that is not, to tell it so.

    A binary message begins with 0x80, a compact one with 0x82; a frame's size within the limits begins with neither. A
    binary message in its old form begins with the size of its method's name, and its fifth byte is a letter of the
    name.
    """
    if not inbox:
        return None
    first = inbox[0]
    if first in _METHODS:
        return HttpProtocol(recognise_request, limits.allowance, authenticates=authenticates)
    if not proven:
        recognise_request, limits = _recognise_none, limits.before_proof
    allowance = limits.allowance
    if first > _METHODS[-1]:
        return PlainProtocol(encoding_of(first, allowance, recognise_request))
    if len(inbox) <= _FRAME.size:
        return None
    inner = inbox[_FRAME.size]
    if inner in (_BINARY_ID, PROTOCOL_ID, 0):
        return FramedProtocol(encoding_of(inner, allowance, recognise_request), limits.max_message_bytes)
    return PlainProtocol(encoding_of(first, allowance, recognise_request))


def _recognise_none(_: bytearray) -> Request | None:
    return None
