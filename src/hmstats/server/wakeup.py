"""Wakes a selector from another thread or from a signal handler."""

import contextlib
import socket


class Wakeup:
    """A socket pair: what one end is given makes the other end readable."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.settimeout(0)
        self._writer.settimeout(0)

    def fileno(self) -> int:
        """What the selector watches for reading."""
        return self._reader.fileno()

    def wake(self) -> None:
        """Make the selector return, now or the next time; takes no lock. After close it does nothing."""
        with contextlib.suppress(OSError):  # a full pair wakes as well
            self._writer.send(b"!")

    def clear(self) -> None:
        """Forget what woke the selector."""
        with contextlib.suppress(BlockingIOError):
            self._reader.recv(4096)

    def close(self) -> None:
        """Give both ends back."""
        self._reader.close()
        self._writer.close()
