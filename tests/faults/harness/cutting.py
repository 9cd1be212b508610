"""A proxy before a metastore that loses replies: the call was done, and its client never hears of it."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.server.serving import Address


@dataclass
class Cutting:
    """Where clients connect; and the replies to `method` that were lost, of which there may be `most`."""

    address: Address
    method: str
    most: int
    lost: list[bytes] = field(default_factory=list)

    def loses(self, reply: bytes) -> bool:
        """Whether the connection ends instead of this reply."""
        if len(self.lost) >= self.most or self.method.encode() not in reply[:100]:
            return False
        self.lost.append(reply)
        return True


@contextlib.contextmanager
def cutting(target: Address, method: str, most: int = 1) -> Iterator[Cutting]:
    """Connections to the target that break once the target begins to answer a call of the method."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Cutting(listener.getsockname()[:2], method, most)
        thread = threading.Thread(target=_serve, args=(listener, target, proxy), daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, target: Address, proxy: Cutting) -> None:
    with contextlib.ExitStack() as held:
        while True:
            try:
                client = held.enter_context(listener.accept()[0])
            except OSError:
                return
            server = held.enter_context(socket.create_connection(target))
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            threading.Thread(target=_answer, args=(server, client, proxy), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


def _answer(server: socket.socket, client: socket.socket, proxy: Cutting) -> None:
    with contextlib.suppress(OSError):
        while data := server.recv(1 << 16):
            if proxy.loses(data):
                break
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)
