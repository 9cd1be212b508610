"""The port that a server listens on, and the listening sockets of its workers.

If the system spreads connections over sockets that share a port (SO_REUSEPORT on Linux), each worker has its own
listening socket. Elsewhere all workers share one, and the quickest accepts.
"""

import socket
import sys
from ipaddress import ip_address
from typing import Self

from hmstats.errors import SettingsError

Address = tuple[str, int]

_BACKLOG = 4096
"""Connections that the kernel holds until they are accepted; it lowers this to its own limit."""
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_SPREADS = sys.platform == "linux"


def address_of(bound: socket.socket) -> Address:
    """The host and port that a socket is bound to."""
    host, port = bound.getsockname()[:2]
    return str(host), int(port)


def address_from_here(address: Address) -> str:
    """HOST:PORT by which this machine reaches an address that is listened on."""
    return text_of((_EVERY_ADDRESS.get(address[0], address[0]), address[1]))


def text_of(address: Address) -> str:
    """HOST:PORT as it stands in a URI: an IPv6 address in brackets."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether a server that listens on the address is reachable from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Port:
    """A port that no other process can listen on while this object is open."""

    def __init__(self, address: Address, *, spreads: bool = _SPREADS) -> None:
        """Take a host and port; port 0 takes a free one. Raises SettingsError when another listens there."""
        self._spreads = spreads
        try:
            self._held = _bound(address) if spreads else _listening(address, shared=False)
        except OSError as error:
            raise SettingsError(f"cannot listen on {text_of(address)}: {error.strerror or error}") from error
        self.address = address_of(self._held)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def listen(self) -> socket.socket:
        """A listening socket, which gets connections from now on until all copies of it are closed."""
        return _listening(self.address, shared=True) if self._spreads else self._held.dup()

    def close(self) -> None:
        """Release the port; listening sockets stay open."""
        self._held.close()


def _bound(address: Address) -> socket.socket:
    """A socket that holds the port and does not listen. A port that is shared already is refused by the first bind."""
    if address[1]:
        _bind(address, socket.SO_REUSEADDR).close()
    return _bind(address, socket.SO_REUSEPORT)


def _bind(address: Address, option: int) -> socket.socket:
    bound = socket.socket(_family(address))
    try:
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
        if bound.family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


def _listening(address: Address, *, shared: bool) -> socket.socket:
    return socket.create_server(address, family=_family(address), backlog=_BACKLOG, reuse_port=shared)


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET
