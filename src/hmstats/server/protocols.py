"""The protocols that a connection may speak, and how its first bytes say which.

Binary or compact messages, each on a plain buffered socket, in frames, or in the bodies of HTTP requests.
"""

import struct
from typing import Protocol

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.compact_reader import PROTOCOL_ID
from hmstats.server.dispatch import Dispatcher, KeptReply, Repeated
from hmstats.server.encodings import Encoding, encoding_of
from hmstats.server.http_protocol import HttpProtocol
from hmstats.server.limits import Limits
from hmstats.server.messages import Pieces, Refusal, encode_refusal
from hmstats.server.session import Session

_FRAME = struct.Struct(">I")
_BINARY_ID = 0x80
_METHODS = range(ord("A"), ord("Z") + 1)
"""How an HTTP request begins: with the name of its method."""


class WireProtocol(Protocol):
    """One connection's protocol: how requests are read, answered, and replies wrapped.

    Requests are in binary form once they are read. While a call runs nothing but `answer`, `refuse` and `wrap` is used.
    """

    @property
    def begun(self) -> bool:
        """Whether a part of the next request was taken out of the inbox already."""

    @property
    def ends(self) -> bool:
        """Whether the reply that was wrapped is the last on the connection."""

    def take(self, inbox: bytearray) -> bytes | None:
        """Take the next request out of the inbox; None while it is not whole. Raises ProtocolError."""

    def answer(self, request: bytes, session: Session) -> Pieces | None:
        """The reply to a request; None when the client waits for none. Raises nothing."""

    def repeated(self, data: bytes, session: Session) -> Repeated | None:
        """The reply, wrapped, to bytes that are a whole request that came before; None where that is not seen at once.

        To be asked only with nothing in the inbox, and between two requests.
        """

    def kept(self, request: bytes, session: Session) -> KeptReply | None:
        """The reply to a request as it is kept, to be confirmed; None when there is none."""

    def confirmed(self, reply: KeptReply) -> Pieces:
        """The kept reply, once it was found to be true."""

    def refuse(self, request: bytes, session: Session, sentence: str) -> Pieces | None:
        """The reply to a request that is not run or no longer waited for."""

    def wrap(self, reply: Pieces | None) -> Pieces:
        """The bytes that bring a reply to the client. To be called once for each request, by one thread."""

    def reject(self, error: ProtocolError) -> Pieces:
        """The bytes in answer to what becomes no request; none when the client could not make sense of them."""


class PlainProtocol:
    """Messages one behind the other."""

    ends = False

    def __init__(self, encoding: Encoding, dispatcher: Dispatcher) -> None:
        self._encoding = encoding
        self._dispatcher = dispatcher

    @property
    def begun(self) -> bool:
        """See WireProtocol."""
        return False

    def take(self, inbox: bytearray) -> bytes | None:
        """See WireProtocol."""
        return self._encoding.take(inbox)

    def answer(self, request: bytes, session: Session) -> Pieces | None:
        """See WireProtocol."""
        return self._encoded(self._dispatcher.answer(request, session))

    def repeated(self, data: bytes, session: Session) -> Repeated | None:
        """See WireProtocol."""
        return self._dispatcher.repeated(data, session)

    def kept(self, request: bytes, session: Session) -> KeptReply | None:
        """See WireProtocol."""
        return self._dispatcher.kept(request, session)

    def confirmed(self, reply: KeptReply) -> Pieces:
        """See WireProtocol."""
        return self._encoding.encode(self._dispatcher.confirmed(reply))

    def refuse(self, request: bytes, session: Session, sentence: str) -> Pieces | None:
        """See WireProtocol."""
        return self._encoded(self._dispatcher.refuse(request, session, sentence))

    def wrap(self, reply: Pieces | None) -> Pieces:
        """See WireProtocol."""
        return reply or ()

    def reject(self, error: ProtocolError) -> Pieces:
        """See WireProtocol. Answers when the bytes had a method's name and a sequence id."""
        head = self._encoding.head()
        if head is None:
            return ()
        return self.wrap(self._encoded(encode_refusal(head, Refusal.PROTOCOL_ERROR, str(error))))

    def _encoded(self, reply: bytes | None) -> Pieces | None:
        return None if reply is None else self._encoding.encode((reply,))


class FramedProtocol(PlainProtocol):
    """Messages with their size before them, an unsigned integer of four bytes."""

    def __init__(self, encoding: Encoding, dispatcher: Dispatcher, max_message_bytes: int) -> None:
        super().__init__(encoding, dispatcher)
        self._max_message_bytes = max_message_bytes
        self._left: int | None = None
        """The bytes of the frame that are still in the inbox or to come; None between frames."""

    @property
    def begun(self) -> bool:
        """See WireProtocol."""
        return self._left is not None

    def repeated(self, data: bytes, session: Session) -> Repeated | None:
        """See WireProtocol."""
        if not data.startswith(_FRAME.pack(max(0, len(data) - _FRAME.size))):
            return None
        repeated = super().repeated(data[_FRAME.size :], session)
        return repeated and repeated._replace(pieces=self.wrap(repeated.pieces))

    def take(self, inbox: bytearray) -> bytes | None:
        """See WireProtocol."""
        if self._left is None:
            if len(inbox) < _FRAME.size:
                return None
            (self._left,) = _FRAME.unpack_from(inbox)
            del inbox[: _FRAME.size]
            if self._left > self._max_message_bytes:
                raise MessageTooLarge(f"a request may have {self._max_message_bytes} bytes, found one of {self._left}")
        held = len(inbox)
        request = self._encoding.take(inbox)
        read = held - len(inbox)
        if read != self._left and (request is not None or held >= self._left):
            raise ProtocolError(f"a frame must hold one whole request, found a frame of {self._left} bytes")
        if request is not None:
            self._left = None
        return request

    def wrap(self, reply: Pieces | None) -> Pieces:
        """See WireProtocol."""
        return () if reply is None else (_FRAME.pack(sum(map(len, reply))), *reply)


def recognise(inbox: bytearray, dispatcher: Dispatcher, limits: Limits) -> WireProtocol | None:
    """The protocol of a connection that begins with these bytes; None when they are too few to say.

    A message begins with 0x80 or 0x82, of which the first is no size of a frame within the limits. In its old form a
    binary message begins with the size of its method's name, and the fifth byte is a letter of it.
    """
    if not inbox:
        return None
    first, limit = inbox[0], limits.max_message_bytes
    if first in _METHODS:
        return HttpProtocol(dispatcher, limit)
    if first > _METHODS[-1]:
        return PlainProtocol(encoding_of(first, limit, dispatcher.knows), dispatcher)
    if len(inbox) <= _FRAME.size:
        return None
    inner = inbox[_FRAME.size]
    if inner in (_BINARY_ID, PROTOCOL_ID, 0):
        return FramedProtocol(encoding_of(inner, limit, dispatcher.knows), dispatcher, limit)
    return PlainProtocol(encoding_of(first, limit, dispatcher.knows), dispatcher)
