"""Connections handed over by a worker that has many to one that has few.

The kernel gives a new connection to one of a port's workers by chance: of four, one of two workers often gets three or
all. So each worker writes down how many it has, where all can see it, and whoever accepts a connection while another
has fewer sends it there, as a file descriptor in a message to the other's inbox. The numbers are read without a lock:
an old one costs some evenness and nothing else. A connection in an inbox is as safe as one that no worker has accepted
yet: the parent holds the inboxes too, and the next worker in the place of one that died finds it.
"""

import mmap
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress

import structlog

_NOBODY = 2**30
"""What stands for the connections of a worker that takes none."""
_NUMBER_BYTES = 4
_TOLERATED = 8
"""A worker may have an eighth more than another: where many come and go, evenness comes by itself."""
_TAKEN_AT_ONCE = 256
_PEER_BYTES = 256

_log = structlog.get_logger("hmstats.server")


class Neighbourhood:
    """The parent's side: what `count` workers share."""

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
        """Have no connection handed over to a worker that has ended, until another in its place says what it has."""
        self._numbers[number] = _NOBODY

    def leave(self, number: int) -> None:
        """Have no connection handed over to a worker any more, for ever; those in its inbox are its last."""
        self.vacate(number)
        with suppress(OSError):
            self._pairs[number][0].shutdown(socket.SHUT_RD)

    def close(self) -> None:
        """Give everything back. Connections that are in an inbox are closed once no worker has it either."""
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
        self._mine = 0
        self._numbers = _numbers(numbers, len(outboxes))
        os.close(numbers)
        self._inbox, *self._outboxes = (socket.socket(fileno=each) for each in (inbox, *outboxes))
        for each in (self._inbox, *self._outboxes):
            each.settimeout(0)

    def fileno(self) -> int:
        """What the selector watches for reading."""
        return self._inbox.fileno()

    def note(self, connections: int) -> None:
        """Let the others know how many connections this worker has."""
        self._mine = self._numbers[self._number] = connections

    def hand_over(self, accepted: socket.socket, peer: str) -> bool:
        """Give a new connection to a worker that has fewer, if there is one: then this one has it no more."""
        mine, numbers = self._mine, self._numbers.tolist()  # at one moment: the others go on writing
        numbers[self._number] = mine  # the worker that this one replaces may have written another
        fewest = min(numbers)
        if fewest + mine // _TOLERATED >= mine:
            return False
        other = numbers.index(fewest)
        self._numbers[other] += 1  # until it says so itself, which it may as soon as it has the connection
        try:
            socket.send_fds(self._outboxes[other], [peer.encode()], [accepted.fileno()])
        except OSError:
            return False  # it takes no more, or too many wait for it
        accepted.close()
        return True

    def handed_over(self) -> Iterator[tuple[socket.socket, str]]:
        """Connections that others gave to this worker, each with its peer's address and port."""
        for _ in range(_TAKEN_AT_ONCE):
            try:
                peer, filenos, *_ = socket.recv_fds(self._inbox, _PEER_BYTES, 1)
            except BlockingIOError:
                return
            except OSError as error:  # for want of memory; it waits for the next time
                _log.error("connection_not_taken", reason=str(error))
                return
            if not peer:
                return  # nobody hands over any more
            if not filenos:  # what the system did not let in is closed
                _log.error("connection_lost", peer=peer.decode(), reason="no file descriptor was left for it")
                continue
            taken = socket.socket(fileno=filenos[0])
            taken.set_inheritable(False)
            taken.settimeout(0)
            yield taken, peer.decode()

    def leave(self) -> None:
        """Be no neighbour any more: the numbers and the inbox are left to another worker in the same place.

        Until that one has another number of connections, nobody hands any over to it.
        """
        self._numbers[self._number] = _NOBODY
        self._numbers = memoryview(bytearray(self._numbers)).cast("i")

    def close(self) -> None:
        """Know nobody any more."""
        for each in (self._inbox, *self._outboxes):
            each.close()


def _numbers(fileno: int, count: int) -> "memoryview[int]":
    return memoryview(mmap.mmap(fileno, count * _NUMBER_BYTES)).cast("i")
