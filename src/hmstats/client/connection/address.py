"""The addresses of a metastore: as `hive.metastore.uris` has them, or with `thrift+tls` for encrypted connections."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from hmstats.errors import SettingsError

DEFAULT_PORT = 9083
_PLAIN, _TLS = "thrift", "thrift+tls"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a metastore listens."""

    host: str
    port: int
    tls: bool = False
    """Whether connections are encrypted, and the server's certificate and name are checked."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_TLS if self.tls else _PLAIN}://{host}:{self.port}"


def addresses(uris: str) -> tuple[Address, ...]:
    """The addresses in a text `thrift://HOST:PORT` or `thrift+tls://HOST:PORT`, several separated by commas.

    The port is 9083 when left out.

    Raises SettingsError naming the part that is no address.
    """
    found = tuple(_address(part.strip()) for part in uris.split(",") if part.strip())
    if not found:
        raise SettingsError(f"a metastore's address must be thrift://HOST:PORT, found {uris!r}")
    return found


def _address(uri: str) -> Address:
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in (_PLAIN, _TLS) or parts.path.strip("/"):
        raise SettingsError(f"a metastore's address must be thrift://HOST:PORT, found {uri!r}")
    return Address(host, DEFAULT_PORT if port is None else port, tls=parts.scheme == _TLS)
