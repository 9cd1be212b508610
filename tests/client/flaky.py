"""A metastore that drops connections before it serves them, or never answers."""

import contextlib
import socket
import threading
from collections.abc import Iterator

from tests.server.serving import Address


@contextlib.contextmanager
def dropping(target: Address, drops: int) -> Iterator[Address]:
    """An address whose first `drops` connections are closed once a request comes; the others reach the target."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, target, drops), daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[:2]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextlib.contextmanager
def silent() -> Iterator[Address]:
    """An address that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[:2]


def closed_port() -> Address:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[:2]  # type: ignore[no-any-return]


def _serve(listener: socket.socket, target: Address, drops: int) -> None:
    number = 0
    with contextlib.ExitStack() as held:
        while True:
            try:
                client = held.enter_context(listener.accept()[0])
            except OSError:
                return
            number += 1
            if number <= drops:
                client.recv(1)
                client.close()
            else:
                server = held.enter_context(socket.create_connection(target))
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=_pump, args=pair, daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
