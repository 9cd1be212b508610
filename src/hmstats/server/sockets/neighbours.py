"""Connections handed over by a worker that has many to one that has few.

The kernel gives a new connection to one of a port's workers by chance: of four connections, one of two workers often
gets three or all. So each worker publishes how many it has in shared memory. If a worker accepts a connection while
another has fewer, it sends the connection there, as a file descriptor in a message to the other's inbox. The numbers
are read without a lock: a stale one makes the load less even, nothing else. A connection in an inbox is not lost if its
worker dies: the parent holds the inboxes too, and the next worker in the slot accepts it.
"""

import mmap
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress

import structlog

_NOT_ACCEPTING = 2**30
"""The published number of a worker that accepts no connections."""
_NUMBER_BYTES = 4
_TOLERATED_DIVISOR = 8
"""A worker may have an eighth more than another: with many connections the load becomes even by itself."""
_ACCEPTED_AT_ONCE = 256
_PEER_BYTES = 256

_log = structlog.get_logger("hmstats.server")


class Neighbourhood:
    """The parent's side: the numbers and inboxes that `count` workers share."""

    def __init__(self, count: int) -> None:
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(bytes(count * _NUMBER_BYTES))
            self._fileno = os.dup(file.fileno())
        self._numbers = _numbers(self._fileno, count)
        self._pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(count)]
        for number in range(count):
            self.vacate(number)

    def inherited(self, number: int) -> tuple[int, ...]:
        """The file descriptors that a worker is to inherit, as `Neighbours` takes them."""
        return self._fileno, self._pairs[number][0].fileno(), *(outbox.fileno() for _, outbox in self._pairs)

    def vacate(self, number: int) -> None:
        """Stop handing connections to a worker that has ended, until its successor publishes a number."""
        self._numbers[number] = _NOT_ACCEPTING

    def leave(self, number: int) -> None:
        """Stop handing connections to a worker for ever; those in its inbox are its last."""
        self.vacate(number)
        with suppress(OSError):
            self._pairs[number][0].shutdown(socket.SHUT_RD)

    def close(self) -> None:
        """Close everything. Connections in an inbox are closed once no worker holds the inbox either."""
        os.close(self._fileno)
        for pair in self._pairs:
            for each in pair:
                each.close()


class Neighbours:
    """A worker's side: the other workers of its port."""

    def __init__(self, number: int, inherited: tuple[int, ...]) -> None:
        """`inherited`: the file descriptors of the numbers, of the worker's inbox, and of the way to each inbox."""
        numbers, inbox, *outboxes = inherited
        self._number = number
        self._own_count = 0
        self._numbers = _numbers(numbers, len(outboxes))
        os.close(numbers)
        self._inbox, *self._outboxes = (socket.socket(fileno=each) for each in (inbox, *outboxes))
        for each in (self._inbox, *self._outboxes):
            each.settimeout(0)

    def fileno(self) -> int:
        """The file descriptor that the selector watches for reading."""
        return self._inbox.fileno()

    def publish(self, connections: int) -> None:
        """Publish how many connections this worker has."""
        self._own_count = self._numbers[self._number] = connections

    def hand_over(self, accepted: socket.socket, peer: str) -> bool:
        """Send a new connection to a worker that has fewer; whether there was one. If so, it is closed here."""
        own_count, numbers = self._own_count, self._numbers.tolist()  # a copy, since the others go on writing
        numbers[self._number] = own_count  # the predecessor in this slot may have written another
        fewest = min(numbers)
        if fewest + own_count // _TOLERATED_DIVISOR >= own_count:
            return False
        other = numbers.index(fewest)
        self._numbers[other] += 1  # until that worker publishes its own number with the connection
        try:
            socket.send_fds(self._outboxes[other], [peer.encode()], [accepted.fileno()])
        except OSError:
            return False  # its inbox is closed or full
        accepted.close()
        return True

    def handed_over(self) -> Iterator[tuple[socket.socket, str]]:
        """Connections that others gave to this worker, each with its peer's address and port."""
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                peer, filenos, *_ = socket.recv_fds(self._inbox, _PEER_BYTES, 1)
            except BlockingIOError:
                return
            except OSError as error:  # out of memory; the connection stays in the inbox until the next call
                _log.error("connection_not_taken", reason=str(error))
                return
            if not peer:
                return  # no worker can send any more
            if not filenos:  # the system closes connections that it could not pass on
                _log.error("connection_lost", peer=peer.decode(), reason="no file descriptor was left for it")
                continue
            accepted = socket.socket(fileno=filenos[0])
            accepted.set_inheritable(False)
            accepted.settimeout(0)
            yield accepted, peer.decode()

    def leave(self) -> None:
        """Stop being a neighbour, and leave the number and the inbox to the successor in the slot.

        No connection is handed to the successor until it publishes a number.
        """
        self._numbers[self._number] = _NOT_ACCEPTING
        self._numbers = memoryview(bytearray(self._numbers)).cast("i")

    def close(self) -> None:
        """Close the shared numbers and the inboxes."""
        for each in (self._inbox, *self._outboxes):
            each.close()


def _numbers(fileno: int, count: int) -> "memoryview[int]":
    return memoryview(mmap.mmap(fileno, count * _NUMBER_BYTES)).cast("i")
