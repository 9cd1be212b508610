"""Answers of a metastore, scanned as they arrive: nothing that they claim is believed before its bytes are there.

thriftpy2 decodes while it reads: a list that claims billions of values which have no bytes would hold it up for hours,
and no other thread of the process would run.
"""

import time
from typing import Any

from thriftpy2.transport import TTransportException

from hmstats.errors import ProtocolError
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import read_answer_head
from hmstats.wire.messages.scanner import Scanner

MOST_ANSWER_BYTES = 1024 * 1024 * 1024
_ALLOWANCE = Allowance(MOST_ANSWER_BYTES, MOST_ANSWER_BYTES)
_PART_BYTES = 64 * 1024
_REMEMBERED_BYTES = range(256 * 1024, 4 * 1024 * 1024)
"""The sizes of an answer that is remembered: scanning one takes milliseconds, and holding one little memory."""


class ScannedAnswers:
    """A transport of Thrift over another one, from which it takes an answer whole before any of it is read."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._answer = memoryview(b"")
        self._scanned = b""
        self.limit_seconds = 0.0
        """How long the beginning of an answer, and each 64 KiB of it, may take to arrive."""

    def is_open(self) -> bool:
        """Whether it was not closed."""
        return bool(self._inner.is_open())

    def write(self, data: bytes) -> None:
        """Add to the request."""
        self._inner.write(data)

    def flush(self) -> None:
        """Send the request."""
        self._answer = memoryview(b"")
        self._inner.flush()

    def read(self, size: int) -> bytes:
        """From 1 to `size` bytes of an answer. Raises ProtocolError, TimeoutError, TTransportException, OSError."""
        if not self._answer:
            self.receive()
        data, self._answer = bytes(self._answer[:size]), self._answer[size:]
        return data

    def receive(self) -> bytes:
        """Take a whole answer, which is read next; one that comes again is the object that was remembered.

        Raises as `read` does.
        """
        answer = self._scan()
        self._answer = memoryview(answer)
        return answer

    def is_remembered(self, answer: bytes) -> bool:
        """Whether this object is the answer that was remembered last."""
        return answer is self._scanned

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def _scan(self) -> bytes:
        """Receive a whole answer. It is not scanned if its bytes equal those of the remembered answer, which was."""
        inbox = bytearray()
        scanner = Scanner(inbox, _ALLOWANCE, read_answer_head)
        until, part_bytes = time.monotonic() + self.limit_seconds, _PART_BYTES
        repeats, end = bool(self._scanned), None
        while repeats or (end := scanner.scan()) is None:
            data = self._inner.read(_PART_BYTES)
            if not data:
                raise TTransportException(TTransportException.END_OF_FILE, "the answer has no end")
            repeats = repeats and self._scanned.startswith(data, len(inbox))
            inbox += data
            if repeats and len(inbox) == len(self._scanned):
                return self._scanned
            now = time.monotonic()
            if now > until:
                raise TimeoutError
            if len(inbox) >= part_bytes:
                until, part_bytes = now + self.limit_seconds, len(inbox) + _PART_BYTES
        if end is not None and len(inbox) > end:
            raise ProtocolError(
                f"an answer must be the last that was sent, found {len(inbox) - end} bytes behind its end"
            )
        answer = bytes(inbox)
        if len(answer) in _REMEMBERED_BYTES:
            self._scanned = answer
        return answer
