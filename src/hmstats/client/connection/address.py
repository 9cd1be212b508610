"""The addresses of a metastore: as `hive.metastore.uris` has them, `thrift+tls` if encrypted, or over HTTP."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from hmstats.errors import SettingsError

DEFAULT_PORT = 9083
DEFAULT_PATH = "/metastore"
_SCHEMES = {"thrift": (False, False), "thrift+tls": (False, True), "http": (True, False), "https": (True, True)}
"""Scheme to whether it is HTTP, and whether it is encrypted."""
_FORMS = "thrift://HOST:PORT, thrift+tls://HOST:PORT, http://HOST:PORT/PATH or https://HOST:PORT/PATH"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a metastore."""

    host: str
    port: int
    tls: bool = False
    """Whether connections are encrypted, and the server's certificate and name are checked."""
    path: str | None = None
    """The path of HTTP requests; None if messages are sent without HTTP."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        kind = self.path is not None, self.tls
        scheme = next(name for name, of in _SCHEMES.items() if of == kind)
        return f"{scheme}://{host}:{self.port}{self.path or ''}"

    @property
    def is_loopback(self) -> bool:
        """Whether it is the client's own machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"


def addresses(uris: str) -> tuple[Address, ...]:
    """The addresses in a text, several separated by commas: thrift://, thrift+tls://, http:// or https://.

    The port is 9083 when left out, the path of HTTP /metastore.

    Raises SettingsError naming the part that is no address.
    """
    found = tuple(_address(part.strip()) for part in uris.split(",") if part.strip())
    if not found:
        raise SettingsError(f"a metastore's address must be {_FORMS}, found {uris!r}")
    return found


def _address(uri: str) -> Address:
    if "@" in uri:
        raise SettingsError("a metastore's address must have no user and password: HMSTATS__TOKEN is for a secret")
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise SettingsError(f"a metastore's address must be {_FORMS}, found {uri!r}") from None
    over_http, tls = _SCHEMES.get(parts.scheme, (False, False))
    more = parts.query or parts.fragment or (parts.path.strip("/") and not over_http)
    if not host or parts.scheme not in _SCHEMES or more:
        raise SettingsError(f"a metastore's address must be {_FORMS}, found {uri!r}")
    path = (parts.path if parts.path.strip("/") else DEFAULT_PATH) if over_http else None
    return Address(host, DEFAULT_PORT if port is None else port, tls, path)
