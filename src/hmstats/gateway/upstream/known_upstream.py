"""Checks that the upstream is the one whose statistics are stored here.

The upstream's identity and release are asked again every minute, since another one may be started at its address.
"""

import time

from hmstats.errors import CallRefused, UpstreamClosed, UpstreamUnavailable
from hmstats.gateway.upstream.generation import Generation
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls, ask_upstream
from hmstats.server.rpc.caller import Session
from hmstats.service.mirrors.upstream_identity import UpstreamIdentity
from hmstats.store.database.store import Store

_ASKED_SECONDS = 60.0
"""How long an answer about the upstream's identity is used."""


class KnownUpstream:
    """Gives calls to the upstream, once it is known to be the one of the store. Thread-safe.

    `address` identifies an upstream that has no UUID.
    """

    def __init__(self, relay: UpstreamRelay, store: Store, address: str) -> None:
        self._relay = relay
        self._identity = UpstreamIdentity(store)
        self._address = address
        self._generation: Generation | None = None
        self._asked_at = 0.0
        self._itself = Session(connection_id=-1, peer="gateway")

    def calls(self, session: Session) -> UpstreamCalls:
        """Calls as the user of a session.

        Raises UpstreamUnavailable, UpstreamClosed; MetaError if the store has statistics of another upstream.
        """
        generation = self._generation
        if generation is None or time.monotonic() - self._asked_at > _ASKED_SECONDS:
            generation = self._ask(generation)
        return UpstreamCalls(self._relay, session, generation, self._itself)

    def own_calls(self) -> UpstreamCalls:
        """Calls as the gateway itself. Raises as `calls` does."""
        return self.calls(self._itself)

    def _ask(self, known: Generation | None) -> Generation:
        """The generation of the current upstream; `known` while the upstream is away. Raises as `calls` does."""
        self._asked_at = time.monotonic()  # meanwhile, other threads use the known one
        try:
            uuid = self._uuid()
            name = str(ask_upstream(self._relay, self._itself, "getName"))
            found = Generation.of(name, str(ask_upstream(self._relay, self._itself, "getVersion")))
        except (CallRefused, UpstreamClosed, UpstreamUnavailable):
            if known is None:
                raise
            return known
        if known is None or uuid is not None:  # otherwise its database may have failed for a moment
            self._generation = None
            self._identity.check(uuid, self._address)
        self._generation = found
        return found

    def _uuid(self) -> str | None:
        """The UUID of the upstream's database; None before Hive 3, which has none."""
        try:
            return str(ask_upstream(self._relay, self._itself, "get_metastore_db_uuid"))
        except CallRefused:
            return None
