"""Wakes a selector from another thread or from a signal handler."""

import contextlib
import socket


class Wakeup:
    """A socket pair: a byte written to one end makes the other readable."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.settimeout(0)
        self._writer.settimeout(0)

    def fileno(self) -> int:
        """The file descriptor that the selector watches for reading."""
        return self._reader.fileno()

    def wake(self) -> None:
        """Make the selector return, now or the next time; takes no lock. No effect after `close`."""
        with contextlib.suppress(OSError):  # a full buffer wakes the selector as well
            self._writer.send(b"!")

    def clear(self) -> None:
        """Read all bytes, so that the selector can sleep again."""
        with contextlib.suppress(BlockingIOError):
            self._reader.recv(4096)

    def close(self) -> None:
        """Close both ends."""
        self._reader.close()
        self._writer.close()
