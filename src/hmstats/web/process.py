"""The process of the page: one event loop, whose requests ask the metastore in threads.

`hmstats web` listens on a port of its own; beside a server's health and metrics, connections are handed over.
"""

import base64
import binascii
import gc
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import uvicorn

from hmstats import tracing
from hmstats.client import Metastore, connect
from hmstats.client.connection.address import addresses
from hmstats.client.connection.credentials import CERTIFICATE, PRINCIPAL, Credentials, credentials
from hmstats.errors import SettingsError
from hmstats.web.application import application
from hmstats.web.handed_connections import HandedConnections
from hmstats.web.metastores import Metastores
from hmstats.web.renewed_certificate import RenewingServer, check_pair
from hmstats.web.slow_clients import ImpatientProtocol

_NOBODY = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The settings of the page: its address, its metastore, and the requests that it takes.

    `names` are those of the host by which browsers reach it. `certificate` and `key` are PEM files: with them it is
    reached by https. `writes`: it takes changes. `unencrypted`: it takes passwords and tokens over plain HTTP from
    other machines.
    """

    host: str
    port: int
    names: Iterable[str]
    metastore: str
    answer_seconds: float
    certificate: str | None = None
    key: str | None = None
    writes: bool = False
    unencrypted: bool = False


def run(site: Site, listening: Callable[[str], None]) -> None:
    """Serve the page until SIGTERM or SIGINT; `listening` gets its address once it can be opened.

    Raises SettingsError when the address cannot be listened on, the metastore's is invalid, or the certificate cannot
    be used.
    """
    config = configure(site)
    with _listening(site.host, site.port) as found:
        own = found.getsockname()[1]
        scheme = "https" if site.certificate else "http"
        listening(f"{scheme}://{f'[{site.host}]' if ':' in site.host else site.host}:{own}")
        _freeze_modules()
        RenewingServer(config).run(sockets=[found])


def run_mounted(site: Site, channel: socket.socket, server_health: str) -> None:
    """Serve the connections that come by the channel, until that is closed.

    Requests for health and metrics of the server are passed on to `server_health`, the address where it answers them.
    Raises SettingsError like `run`.
    """
    connections = HandedConnections(configure(site, server_health), channel)
    _freeze_modules()
    connections.run(sockets=[])


def configure(site: Site, server_health: str | None = None) -> uvicorn.Config:
    """The page as Uvicorn serves it. Raises SettingsError if the metastore's address or the certificate is wrong."""
    if site.certificate is not None:
        check_pair(site.certificate, site.key)
    tracing.start("hmstats web")
    app = application(
        metastores(site.metastore, site.answer_seconds),
        [site.host, *site.names],
        writes=site.writes,
        unencrypted=site.unencrypted,
        server_health=server_health,
    )
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        http=ImpatientProtocol,
        ssl_certfile=site.certificate,
        ssl_keyfile=site.key,
    )
    config.load()
    return config


def _freeze_modules() -> None:
    """Leave what is loaded out of garbage collections, which would look at all of it while a request waits."""
    gc.collect()
    gc.freeze()


def metastores(uris: str, answer_seconds: float) -> Metastores:
    """Connections to the metastore, each as the user whose proof it is opened with; the process has no identity.

    Raises SettingsError for a text that is no address, and when the environment has a Kerberos principal, by whose
    ticket every caller would be the user of the process.
    """
    own = credentials()
    if own.principal is not None:
        raise SettingsError(f"the page asks as its callers, which a ticket cannot prove: unset {PRINCIPAL}")
    over_http = all(each.path is not None for each in addresses(uris))

    def open_metastore(proof: str | None) -> Metastore:
        shown = Credentials(
            certificate=own.certificate, key=own.key, header=proof, user=_claimed_user(proof) or _NOBODY
        )
        return connect(uris, timeout_seconds=answer_seconds, retries=1, credentials=shown)

    if own.certificate is not None and not over_http:
        raise SettingsError(
            f"a metastore at thrift:// would take every caller for the owner of {CERTIFICATE}: use https://"
        )
    return Metastores(open_metastore, takes_proofs=over_http, needs_proofs=own.certificate is not None)


def _claimed_user(proof: str | None) -> str | None:
    """The user that a Basic proof names, who counts where a metastore asks for no proof."""
    scheme, _, rest = (proof or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(rest.strip(), validate=True).decode().partition(":")[0] or None
    except (binascii.Error, ValueError):
        return None


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise SettingsError(f"the page cannot listen on {host}:{port}: {error.strerror or error}") from error
    # Connections inherit it. Without it, a body waits up to 40 ms for the acknowledgement of its headers; asyncio sets
    # it for sockets that name their protocol, and those of create_server do not.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found
