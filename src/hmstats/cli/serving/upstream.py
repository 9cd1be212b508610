"""The relay of a gateway, from the settings."""

import ssl

from hmstats.client.connection.address import addresses
from hmstats.errors import SettingsError
from hmstats.gateway.connection import Times
from hmstats.gateway.relay import UpstreamRelay
from hmstats.settings import Settings


def relay_of(settings: Settings) -> UpstreamRelay | None:
    """What relays calls to the upstream; None unless one is set.

    Raises SettingsError for an address that cannot be an upstream's, and for settings that would not hold for relayed
    calls.
    """
    if settings.upstream is None:
        return None
    for name in ("rules", "read_only", "hive_site"):
        if getattr(settings, name):
            raise SettingsError(f"{name} does not reach calls that the upstream answers: unset {name} or upstream")
    found = addresses(settings.upstream)
    for each in found:
        if each.path is not None:
            raise SettingsError(f"an upstream's address must be thrift://HOST:PORT or thrift+tls://, found {each}")
    times = Times(settings.upstream_connect_seconds, settings.upstream_seconds, settings.upstream_idle_seconds)
    tls = _context(settings.upstream_ca) if any(each.tls for each in found) else None
    return UpstreamRelay(found, settings.upstream_connections, times, tls)


def _context(authorities: str | None) -> ssl.SSLContext:
    """What checks the upstream's certificate and its name."""
    try:
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise SettingsError(f"upstream_ca {authorities} cannot be read: {error.strerror or error}") from error
