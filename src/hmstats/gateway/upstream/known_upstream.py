"""The upstream, once it is known to be the one whose statistics are here."""

from hmstats.errors import CallRefused
from hmstats.gateway.upstream.generation import Generation
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls, ask_upstream
from hmstats.server.rpc.caller import Session
from hmstats.service.mirrors.upstream_identity import UpstreamIdentity
from hmstats.store.database.store import Store


class KnownUpstream:
    """Has the upstream asked, of which the store holds statistics. Thread-safe.

    `address` identifies an upstream that has no UUID.
    """

    def __init__(self, relay: UpstreamRelay, store: Store, address: str) -> None:
        self._relay = relay
        self._identity = UpstreamIdentity(store)
        self._address = address
        self._generation: Generation | None = None
        self._itself = Session(connection_id=-1, peer="gateway")

    def calls(self, session: Session) -> UpstreamCalls:
        """Calls as the user of a session.

        Raises UpstreamUnavailable, UpstreamClosed; MetaError if the store has statistics of another one.
        """
        if self._generation is None:
            self._identity.check(self._uuid() or self._address)
            name = str(ask_upstream(self._relay, self._itself, "getName"))
            self._generation = Generation.of(name, str(ask_upstream(self._relay, self._itself, "getVersion")))
        return UpstreamCalls(self._relay, session, self._generation)

    def own_calls(self) -> UpstreamCalls:
        """Calls as the gateway itself. Raises as `calls`."""
        return self.calls(self._itself)

    def _uuid(self) -> str | None:
        """The UUID of the upstream's database; None before Hive 3, which has none."""
        try:
            return str(ask_upstream(self._relay, self._itself, "get_metastore_db_uuid"))
        except CallRefused:
            return None
