"""The protocols that a connection may speak, and how its first bytes say which.

Binary on a plain buffered socket is the only one so far.
"""

from typing import Protocol

from hmstats.errors import ProtocolError
from hmstats.server.dispatch import Dispatcher
from hmstats.server.limits import Limits
from hmstats.server.messages import Refusal, encode_refusal, head_of
from hmstats.server.scanner import Scanner
from hmstats.server.session import Session


class WireProtocol(Protocol):
    """One connection's protocol: where a request ends, and how it is answered."""

    def scan(self, inbox: bytearray) -> int | None:
        """The bytes of the request that `inbox` begins with, None while it is not whole. Raises ProtocolError.

        Called again with the same `inbox` as bytes are appended; the caller removes the request once it is whole.
        """

    def answer(self, request: bytes, session: Session) -> bytes | None:
        """The reply to a whole request; None when the client waits for none. Raises nothing."""

    def refuse(self, request: bytes, session: Session, sentence: str) -> bytes | None:
        """The reply to a whole request that is not run or no longer waited for."""

    def reject(self, inbox: bytearray, error: ProtocolError) -> bytes | None:
        """The reply to bytes that become no request; None when the client could not make sense of one."""


class BinaryProtocol:
    """TBinaryProtocol on a plain buffered socket."""

    __slots__ = ("_dispatcher", "_limits", "_scanner", "answer", "refuse")

    def __init__(self, dispatcher: Dispatcher, limits: Limits) -> None:
        self._limits = limits
        self._scanner: Scanner | None = None
        self.answer = dispatcher.answer
        self.refuse = dispatcher.refuse

    def scan(self, inbox: bytearray) -> int | None:
        """See WireProtocol."""
        if self._scanner is None:
            self._scanner = Scanner(inbox, self._limits.max_message_bytes)
        size = self._scanner.scan()
        if size is not None:
            self._scanner = None
        return size

    def reject(self, inbox: bytearray, error: ProtocolError) -> bytes | None:
        """See WireProtocol. Answers when the bytes had a method's name and a sequence id."""
        head = head_of(inbox)
        return None if head is None else encode_refusal(head, Refusal.PROTOCOL_ERROR, str(error))


def recognise(first_bytes: bytearray, dispatcher: Dispatcher, limits: Limits) -> WireProtocol | None:
    """The protocol of a connection that begins with these bytes; None when they are too few to say."""
    return BinaryProtocol(dispatcher, limits) if first_bytes else None
