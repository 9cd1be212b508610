"""The relay of a gateway, from the settings."""

import ssl

from hmstats.client.connection.address import addresses
from hmstats.errors import SettingsError
from hmstats.gateway.gateway import Gateway
from hmstats.gateway.statistics.delivery import UpstreamWrites
from hmstats.gateway.upstream.connection import Times
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.service.mirrors.upstream_identity import check_mirrors
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.settings import Settings
from hmstats.store.database.store import Store

UPSTREAM = "upstream"
"""The name of an upstream that is the only one."""


def relay_of(settings: Settings, store: Store) -> Gateway | None:
    """The relay to the upstream, which keeps the upstream's statistics in a store; None unless an upstream is set.

    Raises SettingsError for an address that cannot be an upstream's, for settings that would not hold for relayed
    calls, and for a store that has tables of its own, or without an upstream has tables of another metastore.
    """
    check_mirrors(store, are_wanted=settings.upstream is not None)
    return None if settings.upstream is None else gateway_to(settings.upstream, settings, store, UPSTREAM)


def gateway_to(uris: str, settings: Settings, store: Store, name: str) -> Gateway:
    """A gateway to the metastore at these addresses, which keeps its statistics in a store. Raises as `relay_of`."""
    for unreached in ("rules", "read_only", "hive_site"):
        if getattr(settings, unreached):
            raise SettingsError(
                f"{unreached} does not reach calls that the upstream answers: unset {unreached} or {UPSTREAM}"
            )
    found = addresses(uris)
    for each in found:
        if each.path is not None:
            raise SettingsError(f"an upstream's address must be thrift://HOST:PORT or thrift+tls://, found {each}")
    times = Times(
        settings.upstream_connect_seconds,
        settings.upstream_seconds,
        settings.upstream_idle_seconds,
        settings.upstream_hanging_seconds,
    )
    tls = _context(settings.upstream_ca) if any(each.tls for each in found) else None
    relay = UpstreamRelay(
        found,
        settings.upstream_connections,
        times,
        tls,
        settings.upstream_answer_bytes,
        principal=_principal(settings),
    )
    return Gateway(
        relay,
        store,
        StatisticsReader(store, any_engine=settings.any_engine, sketches=False),
        UpstreamWrites(settings.upstream_writes),
        name=name,
        address=",".join(sorted(map(str, found))),
        patience_seconds=settings.upstream_seconds + settings.upstream_connect_seconds,
        sending_seconds=settings.upstream_write_seconds,
        cache_bytes=settings.upstream_cache_bytes,
    )


def upstream_addresses(settings: Settings) -> dict[str, list[str]]:
    """The addresses of each upstream, as metrics have them, by its name in sentences."""
    named = {f"upstream {each.name}": each.uris for each in settings.upstreams}
    if settings.upstream is not None:
        named["the upstream"] = settings.upstream
    return {name: [str(each) for each in addresses(uris)] for name, uris in named.items()}


def _principal(settings: Settings) -> str | None:
    """The upstream's principal in Kerberos. Raises SettingsError if clients need not prove who they are."""
    if settings.upstream_principal is not None and not settings.authentication:
        raise SettingsError(
            "upstream_principal needs authentication: the gateway acts at the upstream as each of its users, so these "
            "must prove who they are"
        )
    return settings.upstream_principal


def _context(authorities: str | None) -> ssl.SSLContext:
    """The TLS context that checks the upstream's certificate and its name."""
    try:
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise SettingsError(f"upstream_ca {authorities} cannot be read: {error.strerror or error}") from error
