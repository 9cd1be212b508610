"""A way from a gateway to its upstream on which a call can be held up, before or after the upstream carries it out."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from enum import Enum, auto

from tests.gateway.gateways import Upstream, UpstreamSide
from tests.server.serving import PATIENCE_SECONDS

from hmstats.wire.messages.envelope import read_head


class Hold(Enum):
    """Where a call is held up."""

    BEFORE = auto()
    """The upstream does not get it."""
    AFTER = auto()
    """The upstream has carried it out, and its answer does not come."""


class Way:
    """A port that leads to another one, with calls by name held up until they are let go."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.about = ""
        """A text in what is held up: other calls of the name pass, such as those that an earlier test has left."""
        self.passed: list[str] = []
        """The names of the calls that came; empty ones of those without the text."""
        self._held: tuple[str, Hold] | None = None
        self._names: dict[int, str] = {}
        """The last call of each connection."""
        self._go = threading.Event()
        self._is_dropped = False
        self._held_side: UpstreamSide | None = None
        self.reached = threading.Event()
        """Set when a call is held up."""

    @contextlib.contextmanager
    def holding(self, name: str, hold: Hold) -> Iterator[None]:
        """Hold calls of a name up, until `let_go` or the end."""
        self._go.clear()
        self.reached.clear()
        self._held = (name, hold)
        try:
            yield
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Let what is held up go on, and what comes later pass."""
        self._held = None
        self._go.set()

    def drop_held(self) -> None:
        """Let what is held up before the upstream never come to it."""
        self._is_dropped = True
        self.let_go()

    def break_held(self) -> None:
        """End the connection of what is held up, which still comes to the upstream once it is let go."""
        self._held = None
        assert self._held_side is not None
        self._held_side.socket.shutdown(socket.SHUT_RDWR)

    def wait_held(self) -> None:
        """Return when a call is held up."""
        assert self.reached.wait(PATIENCE_SECONDS)

    def _wait(self, name: str, hold: Hold, side: UpstreamSide) -> bool:
        """Return when a call may go on; whether it was held up. A call about something else has no name."""
        if self._held != (name, hold):
            return False
        self._held_side = side
        self.reached.set()
        assert self._go.wait(PATIENCE_SECONDS)
        return True

    def serve(self, side: UpstreamSide) -> None:
        """Pass the calls of one connection on, one after the other."""
        with socket.create_connection(("127.0.0.1", self._port)) as there:
            back = threading.Thread(target=self._answers, args=(there, side), daemon=True)
            back.start()
            while (request := side.request()) is not None:
                head = read_head(request)
                assert head is not None
                name = head.name if self.about.encode() in request else ""
                self.passed.append(name)
                if self._wait(name, Hold.BEFORE, side) and self._is_dropped:
                    return
                self._names[id(side)] = name
                there.sendall(request)

    def _answers(self, there: socket.socket, side: UpstreamSide) -> None:
        with contextlib.suppress(OSError):
            while data := there.recv(65536):
                self._wait(self._names[id(side)], Hold.AFTER, side)
                side.send(data)
            side.socket.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def way_to(port: int) -> Iterator[tuple[Way, int]]:
    """A way to a port, and its own port."""
    way = Way(port)
    with Upstream(way.serve) as listening:
        yield way, listening.address[1]
