"""A network that cuts, delays and halves what goes through it: a proxy before a server or a database.

What befalls a piece is drawn from a seed. A connection is cut in the middle of a message: the first half of the piece
is delivered, then both sides see the end.
"""

import contextlib
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.server.serving import Address

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset."""
_LONGEST_DELAY_SECONDS = 0.1


class Fate:
    """Draws what befalls a piece, and counts it; `chances`: how likely each mishap is, between 0 and 1."""

    def __init__(self, seed: int) -> None:
        self.happened: Counter[str] = Counter()
        self.chances: dict[str, float] = {}
        self._random = random.Random(seed)
        self._lock = threading.Lock()

    def draw(self) -> tuple[str, float]:
        """What befalls the next piece, "" for nothing, and the seconds that a delay takes."""
        with self._lock:
            drawn = self._random.random()
            seconds = self._random.random() * _LONGEST_DELAY_SECONDS
            for kind, chance in self.chances.items():
                drawn -= chance
                if drawn < 0:
                    self.happened[kind] += 1
                    return kind, seconds
        return "", seconds


class Link:
    """One connection through the network: two sockets, each read by a thread of its own."""

    def __init__(self, client: socket.socket, server: socket.socket, fate: Fate) -> None:
        self._sockets = (client, server)
        self._fate = fate
        self._pumping = threading.Semaphore(0)

    def start(self) -> None:
        """Carry what comes from both sides."""
        for source, sink in (self._sockets, reversed(self._sockets)):
            threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()
        threading.Thread(target=self._close, daemon=True).start()

    def cut(self) -> None:
        """End it for both sides."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                each.shutdown(socket.SHUT_RDWR)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(1 << 16)) and self._carry(data, sink):
                pass
            sink.shutdown(socket.SHUT_WR)
        self._pumping.release()

    def _carry(self, data: bytes, sink: socket.socket) -> bool:
        """Send a piece, as far as the network lets it; False when the connection was cut."""
        kind, seconds = self._fate.draw()
        sent = 0
        if kind in ("cut", "halve"):
            sent = len(data) // 2
            sink.sendall(data[:sent])
        if kind == "cut":
            self.cut()
            return False
        if kind:
            time.sleep(seconds)
        sink.sendall(data[sent:])
        return True

    def _close(self) -> None:
        for _ in self._sockets:
            self._pumping.acquire()
        for each in self._sockets:
            each.close()


@dataclass
class BadNetwork:
    """Where to connect, and what has happened so far."""

    address: Address
    target: Address
    fate: Fate
    links: list[Link] = field(default_factory=list)

    @property
    def happened(self) -> str:
        """What has happened, in words."""
        return ", ".join(f"{count} times {kind}" for kind, count in sorted(self.fate.happened.items()))

    @contextlib.contextmanager
    def trouble(self, **chances: float) -> Iterator[None]:
        """While this lasts, "cut", "delay" and "halve" befall a piece with these chances; else nothing does."""
        self.fate.chances = chances
        try:
            yield
        finally:
            self.fate.chances = {}

    def cut_all(self) -> None:
        """Cut every connection that there is."""
        for each in self.links:
            each.cut()

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener ends."""
        while True:
            try:
                client = listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(self.target)
            except OSError:
                client.close()
                continue
            self.links.append(Link(client, server, self.fate))
            self.links[-1].start()


@contextlib.contextmanager
def bad_network(target: Address, seed: int) -> Iterator[BadNetwork]:
    """A network to the target, in which nothing happens before it is told to."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        network = BadNetwork(listener.getsockname()[:2], target, Fate(seed))
        thread = threading.Thread(target=network.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield network
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            network.cut_all()
