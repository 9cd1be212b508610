"""A connection to an LDAP directory over TLS, which ends when its time is over.

OpenLDAP's limits of time do not hold for its handshakes, and its connections stay in one thread. So the socket is ours,
and is shut down when the time is over. OpenLDAP takes a socket of ours for ldap:// only: it begins TLS there by
StartTLS. For ldaps:// TLS is ours too, and OpenLDAP speaks through it.
"""

import contextlib
import os
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import ldap

from hmstats.errors import SettingsError

_PORTS = {"ldap": 389, "ldaps": 636}
_PIECE_BYTES = 1 << 14


@dataclass(frozen=True, slots=True)
class Ldap:
    """The address of a directory, and the authorities of its certificate.

    `seconds` bounds the connection, and then TLS and all answers together.
    """

    url: str
    ca: str | None
    seconds: float

    def __post_init__(self) -> None:
        """Raises SettingsError if the URL is none of LDAP, or if the file of authorities cannot be used."""
        _address_of(self.url)
        self._context()

    @contextlib.contextmanager
    def connect(self) -> Iterator[Any]:
        """A connection of OpenLDAP over TLS, before a bind. Raises ldap.LDAPError, OSError."""
        scheme, address = _address_of(self.url)
        with socket.create_connection(address, self.seconds) as shared, _within(shared, self.seconds):
            shared.settimeout(None)
            if scheme == "ldaps":
                with self._tunnel(shared, address[0]) as near, _bound(self._open(near)) as connection:
                    yield connection
            else:
                with _bound(self._open(shared)) as connection:
                    connection.start_tls_s()
                    yield connection

    def _open(self, shared: socket.socket) -> Any:
        """A connection over a socket that the caller closes too. It follows no referral with the password."""
        connection = ldap.initialize(self.url.replace("ldaps:", "ldap:"), fileno=os.dup(shared.fileno()))
        options = [
            (ldap.OPT_PROTOCOL_VERSION, ldap.VERSION3),
            (ldap.OPT_REFERRALS, ldap.OPT_OFF),
            (ldap.OPT_X_TLS, ldap.OPT_X_TLS_HARD),  # if OpenLDAP ever connects by itself, then not in plain
            (ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_DEMAND),
        ]
        if self.ca is not None:
            options.append((ldap.OPT_X_TLS_CACERTFILE, self.ca))
        for option, value in [*options, (ldap.OPT_X_TLS_NEWCTX, 0)]:  # the last one puts those of TLS in force
            connection.set_option(option, value)
        return connection

    @contextlib.contextmanager
    def _tunnel(self, shared: socket.socket, host: str) -> Iterator[socket.socket]:
        """A socket whose bytes go to the directory over TLS, by a thread that ends when either side does."""
        duplicate = shared.dup()  # `shared` stays as it is, so that it can be shut down at any moment
        with self._context().wrap_socket(duplicate, server_hostname=host, do_handshake_on_connect=False) as far:
            far.do_handshake()
            near, carried = socket.socketpair()
            carrying = threading.Thread(target=_carry, args=(carried, far), name="ldaps", daemon=True)
            carrying.start()
            try:
                yield near
            finally:
                near.shutdown(socket.SHUT_RDWR)
                near.close()
                carrying.join()

    def _context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca)
        except OSError as error:  # as an SSLError is
            said = f"ldap_ca must be a PEM file of authorities, found {self.ca}: {error.strerror}"
            raise SettingsError(said) from error


@contextlib.contextmanager
def _bound(connection: Any) -> Iterator[Any]:
    try:
        yield connection
    finally:
        connection.unbind_s()


def _carry(near: socket.socket, far: ssl.SSLSocket) -> None:
    """Carry bytes both ways until a side ends; the socket behind `far` is shut down when the time is over."""
    with near, contextlib.suppress(OSError):
        waiting = select.poll()
        for each in (near, far):
            waiting.register(each, select.POLLIN)
        while True:
            ready = {file for file, _ in waiting.poll()}
            if near.fileno() in ready:
                data = near.recv(_PIECE_BYTES)
                if not data:
                    return
                far.setblocking(True)
                far.sendall(data)
            if far.fileno() in ready and not _pass_on(far, near):
                return


def _pass_on(far: ssl.SSLSocket, near: socket.socket) -> bool:
    """Pass on what the directory has sent. Returns False if it has closed the connection.

    Never waits: a record without content for OpenLDAP, such as a ticket of TLS 1.3, may be all that has arrived.
    """
    far.setblocking(False)
    with contextlib.suppress(ssl.SSLWantReadError):
        while data := far.recv(_PIECE_BYTES):
            near.sendall(data)
        return False
    return True


@contextlib.contextmanager
def _within(shared: socket.socket, seconds: float) -> Iterator[None]:
    """Shut a socket down when the time is over, so that a thread that waits for it goes on."""

    def shut_down() -> None:
        with contextlib.suppress(OSError):
            shared.shutdown(socket.SHUT_RDWR)

    limit = threading.Timer(seconds, shut_down)
    limit.daemon = True
    limit.start()
    try:
        yield
    finally:
        limit.cancel()
        limit.join()


def _address_of(url: str) -> tuple[str, tuple[str, int]]:
    """The scheme, host and port of a directory's URL."""
    try:
        parts = urlsplit(url)
        if parts.scheme in _PORTS and parts.hostname and url == f"{parts.scheme}://{parts.netloc}" and "@" not in url:
            return parts.scheme, (parts.hostname, parts.port or _PORTS[parts.scheme])
    except ValueError:  # of the port
        pass
    raise SettingsError(f"ldap_url must be ldap://HOST[:PORT], with StartTLS, or ldaps://HOST[:PORT], found {url}")
