"""Asks the upstream for its log's last number from a thread that serves many sockets and must not block.

The bytes of the question and of the answer's head never change, so the answer is read by its length. Any other answer
ends the line; then threads ask, which understand errors.
"""

import socket
from collections.abc import Collection
from struct import Struct
from typing import Self

from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.upstream.arriving import NOT_YET
from hmstats.gateway.upstream.calling import request_of
from hmstats.gateway.upstream.connection import UpstreamConnection
from hmstats.wire.messages.envelope import REPLY, encode_head

LOG = -1
"""A key for the log among the versions of tables, whose ids are positive."""
_METHOD = "get_current_notificationEventId"
_QUESTION = request_of(_METHOD).message
_ANSWER = Struct(">3s3sqH")
_SUCCESS, _NUMBER, _ENDS = b"\x0c\x00\x00", b"\x0a\x00\x01", 0
"""The headers of the result's field and of the number in it, and the two bytes that end the structs."""
_HEAD = encode_head(_METHOD, REPLY, 0)
_ANSWER_BYTES = len(_HEAD) + _ANSWER.size


class LogLine:
    """A connection used only for this question; every method raises UpstreamUnavailable if it was lost."""

    has_unsent = False
    """Always False: a question is so short that a socket takes it at once."""

    def __init__(self, connection: UpstreamConnection, descriptor: int) -> None:
        self._connection = connection
        self.idle_seconds: float | None = connection.idle_seconds
        """Idle connections may be dropped silently on the way to the upstream."""
        self._descriptor = descriptor
        self._arrived = b""
        self.is_running = False
        """Whether a question is under way."""

    @classmethod
    def over(cls, connection: UpstreamConnection) -> Self | None:
        """A line over a new connection; None if the connection uses SASL."""
        plain = connection.plain_socket()
        if plain is None:
            connection.close()
            return None
        plain.setblocking(False)
        return cls(connection, plain.fileno())

    def fileno(self) -> int:
        """The descriptor for a selector to watch; it stays when the connection is lost."""
        return self._descriptor

    def send_query(self, _: Collection[int]) -> None:
        """Ask for the last number."""
        try:
            sent = self._socket.send(_QUESTION)
        except OSError as error:
            raise self._lost(str(error)) from error
        if sent != len(_QUESTION):
            raise self._lost("it did not take a question at once")
        self._arrived = b""
        self.is_running = True

    def receive(self) -> dict[int, int] | None:
        """The number as the version of LOG; None if it has not arrived, or if no question is under way."""
        try:
            data = self._socket.recv(_ANSWER_BYTES + 1)
        except NOT_YET:
            return None
        except OSError as error:
            raise self._lost(str(error)) from error
        self._arrived += data
        if not data or not self.is_running or len(self._arrived) > _ANSWER_BYTES:
            raise self._lost("it ended" if not data else "it said what it was not asked")
        if len(self._arrived) < _ANSWER_BYTES:
            return None
        success, number, value, ends = _ANSWER.unpack_from(self._arrived, len(_HEAD))
        if not self._arrived.startswith(_HEAD) or (success, number, ends) != (_SUCCESS, _NUMBER, _ENDS):
            raise self._lost("it gave another answer than a number")
        self.is_running = False
        return {LOG: value}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def _socket(self) -> socket.socket:
        found = self._connection.plain_socket()
        assert found is not None
        return found

    def _lost(self, reason: str) -> UpstreamUnavailable:
        return UpstreamUnavailable(f"the line to the log of {self._connection.address} was lost: {reason}")
