"""The gateway as the server's dispatcher sees it: it answers calls about statistics and relays all others."""

from collections.abc import Sequence
from typing import Any

from hmstats.errors import MetaError, ProtocolError
from hmstats.gateway.answering.call import Call, arguments_of
from hmstats.gateway.answering.object_answers import ObjectAnswers
from hmstats.gateway.answering.statistics_answers import StatisticsAnswers
from hmstats.gateway.catalog.joined_reads import JoinedReads
from hmstats.gateway.catalog.kept_answers import KEPT, KeptAnswers
from hmstats.gateway.catalog.prompt_answers import PromptAnswers
from hmstats.gateway.changes.followed_calls import ALTERING, FOLLOWED, altered_by, changes_of
from hmstats.gateway.changes.following import Following
from hmstats.gateway.statistics.adopting import Adopting
from hmstats.gateway.statistics.brought import BRINGING, BroughtWriter, may_bring
from hmstats.gateway.statistics.delivery import Delivery, UpstreamWrites
from hmstats.gateway.statistics.looking import LOOK_SECONDS, Looking
from hmstats.gateway.statistics.mirroring import Mirroring
from hmstats.gateway.statistics.objects_with_statistics import WITH_STATISTICS, may_want, wanted_of
from hmstats.gateway.statistics.presence import Presence
from hmstats.gateway.statistics.sending import Sending
from hmstats.gateway.statistics.statistics_calls import OF_OBJECTS, OURS_ALONE, RECORDS, STATISTICS, scope_of
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.calls import ANSWERED_HERE, SENT_TWICE
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.known_upstream import KnownUpstream
from hmstats.gateway.upstream.notification_log import NotificationLog
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.gateway.upstream.sent_call import SentCall
from hmstats.server.calls.relaying import Here, Relayed, Stream
from hmstats.server.chores import Chore
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import CANARY, Session
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store

_LOST_SECONDS = 30.0
"""The time between two searches for lost calls; half of the gateway's patience if that is less."""
_HEALTH = frozenset({"get_statistics_health", "get_partition_health"})
_CONNECTION_SETTINGS = frozenset({"getMetaConf", "setMetaConf"})
_LOOKED_AT = STATISTICS | FOLLOWED | WITH_STATISTICS | BRINGING | ALTERING | _CONNECTION_SETTINGS
"""The calls whose arguments may be decoded; all others are relayed as bytes."""
_MAY_BE_UPSTREAMS_ALONE = SENT_TWICE - (_LOOKED_AT - WITH_STATISTICS) - RECORDS - OURS_ALONE
"""Reads that the upstream alone answers, unless they ask for statistics."""


class Gateway:
    """A relay that answers calls about statistics from a store of its own. Thread-safe.

    A call that began `patience_seconds` ago will not be answered any more. Statistics are sent to the upstream every
    `sending_seconds`. At most `cache_bytes` of answers about tables are kept, as long as the upstream's log proves
    them. `name` is the upstream's in metrics; `address` identifies an upstream that has no UUID.
    """

    has_own_tables = False

    def __init__(
        self,
        relay: UpstreamRelay,
        store: Store,
        reader: StatisticsReader,
        writes: UpstreamWrites,
        *,
        name: str,
        address: str,
        patience_seconds: float,
        sending_seconds: float,
        cache_bytes: int = 0,
    ) -> None:
        self._sending_seconds = sending_seconds
        self.connections, self.threads = relay.connections, relay.threads
        self._relay = relay
        self._upstream = KnownUpstream(relay, store, address)
        self._mirroring = mirroring = Mirroring(store)
        self._following = Following(store, mirroring.tables, mirroring.claims, patience_seconds)
        self._lost_seconds = min(_LOST_SECONDS, patience_seconds / 2)
        self.delivery = Delivery(self._upstream, Sending(store, mirroring, name), writes)
        log = NotificationLog()
        presence = Presence(self._upstream, mirroring, log, name)
        writer = StatisticsWriter(store, keep_accuracy=False)
        self.pending = pending = PendingStatistics(store, writer)
        """Statistics that are stored here, but neither in force nor sent to the upstream until they are published."""
        self._statistics = StatisticsAnswers(
            self._upstream, mirroring, presence, self.delivery, self._following, pending
        )
        brought_writer = BroughtWriter(mirroring, writer)
        self._objects = ObjectAnswers(
            self._upstream, mirroring, presence, self.delivery, reader, brought_writer, pending
        )
        self._looking = Looking(mirroring)
        self._joined = JoinedReads(name)
        self._kept = KeptAnswers(log, cache_bytes, name, _asks_upstream_alone)
        self.prompt = PromptAnswers(self._kept, relay)

    def takes(self, name: str) -> bool:
        """Whether a call may need the upstream: false for those about the connection, and for a few of our own."""
        return name not in ANSWERED_HERE and name not in OURS_ALONE

    def answer(self, request: Request, session: Session, stream: Stream, here: Here) -> Relayed:
        """The answer to a call, from the upstream or from `here`.

        Raises UpstreamUnavailable, MetaError; UpstreamClosed and ClientGone, after which the connection ends.
        """
        name = request.head.name
        call = Call(request, session, lambda: self._pass_on(request, session, stream), here)
        if name in RECORDS and self._upstream.own_calls().generation.is_ours:
            return call.relay()
        if name in _HEALTH:
            self._looking.note_asked()
        if name in RECORDS - STATISTICS:
            return here()
        if request.head.oneway or name not in _LOOKED_AT or (name in BRINGING and not may_bring(request)):
            return call.relay()
        try:
            if name in WITH_STATISTICS:
                return self._objects.answer(call, lambda changed: self._pass_on(changed, session, WholeAnswer()))
            arguments = call.arguments()
        except ProtocolError:
            return call.relay()
        return self._answer_decoded(call, arguments)

    def _answer_decoded(self, call: Call, arguments: dict[str, Any]) -> Relayed:
        """The answer to a call whose arguments the gateway must decode. Raises as `answer` does."""
        name = call.name
        if name in _CONNECTION_SETTINGS:
            return call.here() if arguments["key"] == CANARY else call.relay()
        if name in BRINGING:
            return self._objects.make(call, arguments)
        if name in ALTERING and (altered := altered_by(name, arguments)) is not None:
            self.delivery.send_before(altered)
        if name in FOLLOWED or name in ALTERING:
            changes = changes_of(name, arguments) if name in FOLLOWED else []
            calls = self._upstream.calls(call.session)
            return self._following.passed(calls, changes, call.relay) if changes else call.relay()
        scope = scope_of(name, arguments)
        if scope is None:
            return self._statistics.answer_of_database(call, arguments) if name in OF_OBJECTS else call.relay()
        return self._statistics.answer(call, scope, arguments)

    def _pass_on(self, request: Request, session: Session, stream: Stream) -> Relayed:
        """The upstream's answer to a call, possibly a kept one."""
        user = User(session.user, session.groups)

        def ask(way: Stream) -> Relayed:
            return self._relay.answer(request, session, way)

        def ask_joined(way: Stream) -> Relayed:
            return self._joined.answer(user, request, way, ask)

        if self._relay.is_bound(session):
            return ask(stream)
        if request.head.name not in KEPT or request.head.oneway:
            return ask_joined(stream)
        try:
            calls = self._upstream.own_calls()
        except MetaError:
            return ask_joined(stream)
        return self._kept.answer(calls, user, request, stream, ask_joined)

    def send_at_once(self, request: Request, session: Session) -> SentCall | None:
        """Send a small read that the upstream alone answers, without waiting; None if it was not sent."""
        name = request.head.name
        if name not in _MAY_BE_UPSTREAMS_ALONE or may_want(request) or (name in KEPT and not self._kept.keeps_none):
            return None
        user = User(session.user, session.groups)
        return self._joined.send(user, request, lambda: self._relay.send_at_once(request, session))

    @property
    def is_hanging(self) -> bool:
        """Whether the upstream accepts connections but does not answer, so that calls are refused at once."""
        return self._relay.is_hanging

    def probe(self) -> None:
        """Find out which addresses answer, so that no command waits for one that hangs; servers do so by a chore."""
        self._relay.probe()

    def leave(self, session: Session) -> None:
        """Forget a client whose connection has ended."""
        self._relay.leave(session)

    @property
    def chores(self) -> Sequence[Chore]:
        """The functions to be run from time to time."""
        delivery = self.delivery
        sending = Chore("upstream_writes", delivery.send_pending, self._sending_seconds, cut_short=delivery.cut_short)
        lost = Chore("lost_calls", self._following.end_lost_calls, self._lost_seconds)
        looking = Chore("mirrors", lambda: self._looking.run(self._upstream.own_calls), LOOK_SECONDS)
        return [*self._relay.chores, sending, lost, looking]

    def close(self) -> None:
        """Close all connections."""
        self._relay.close()

    def adopting(self, patterns: Sequence[str] = ()) -> Adopting:
        """The adoption of the upstream's old statistics, of the tables that match a pattern (no patterns: of all).

        Raises UpstreamUnavailable, UpstreamClosed, MetaError.
        """
        return Adopting(self._upstream.own_calls(), self._mirroring, patterns)


def _asks_upstream_alone(request: Request) -> bool:
    """Whether a call of KEPT does not ask for statistics, which might be stored here."""
    return request.head.name not in WITH_STATISTICS or wanted_of(request, lambda: arguments_of(request)) is None
