"""The gateway as the server's dispatcher sees it: statistics are answered here, everything else by the upstream."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import StrEnum
from typing import Any

import structlog

from hmstats.errors import CallRefused, InvalidInput, MetaError, ProtocolError, UpstreamClosed, UpstreamUnavailable
from hmstats.gateway.catalog.joined_reads import JoinedReads
from hmstats.gateway.catalog.kept_answers import KEPT, KeptAnswers
from hmstats.gateway.catalog.prompt_answers import PromptAnswers
from hmstats.gateway.changes.followed_calls import ALTERING, FOLLOWED, altered_by, changes_of
from hmstats.gateway.changes.following import Following
from hmstats.gateway.statistics.adopting import Adopting
from hmstats.gateway.statistics.brought import BRINGING, Keeping, brought_by, may_bring
from hmstats.gateway.statistics.looking import LOOK_SECONDS, Looking
from hmstats.gateway.statistics.merging import merges, nothing_merged, without_unmarked
from hmstats.gateway.statistics.mirroring import Mirroring, why_not_mirrored
from hmstats.gateway.statistics.objects_with_statistics import (
    WITH_STATISTICS,
    may_want,
    wanted_of,
    with_statistics,
    without_statistics,
)
from hmstats.gateway.statistics.parameters import Changes, put_parameters
from hmstats.gateway.statistics.proven import Comparison, Proven
from hmstats.gateway.statistics.publishing import published_by
from hmstats.gateway.statistics.questions import (
    CARE,
    OF_OBJECTS,
    OURS_ALONE,
    RECORDS,
    STATISTICS,
    Deed,
    Question,
    database_of,
    question_of,
)
from hmstats.gateway.statistics.sending import Sending
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.calls import ANSWERED_HERE, SENT_TWICE
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.generation import Generation
from hmstats.gateway.upstream.metrics import PROVEN
from hmstats.gateway.upstream.notification_log import NotificationLog
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.gateway.upstream.sent_call import SentCall
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls, ask_upstream
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.server.calls.relaying import Here, Relayed, Stream
from hmstats.server.chores import Chore
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import CANARY, Session
from hmstats.service.mirrors.upstream_identity import UpstreamIdentity
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store
from hmstats.store.history.caller import Caller, caller
from hmstats.wire.idl import methods
from hmstats.wire.statistics.extension import changes_from_thrift

_log = structlog.get_logger("hmstats.gateway")

_LOST_SECONDS = 30.0
"""Between two looks for lost calls; half of a gateway's patience if that is less."""
_HEALTH = frozenset({"get_statistics_health", "get_partition_health"})
_CONNECTION_SETTINGS = frozenset({"getMetaConf", "setMetaConf"})
_LOOKED_AT = STATISTICS | FOLLOWED | WITH_STATISTICS | BRINGING | ALTERING | _CONNECTION_SETTINGS
"""The calls whose arguments may be decoded; all others pass as bytes."""
_MAY_BE_UPSTREAMS_ALONE = SENT_TWICE - (_LOOKED_AT - WITH_STATISTICS) - RECORDS - OURS_ALONE
"""The reads of which nothing may be here."""


class UpstreamWrites(StrEnum):
    """When statistics that are written here go to the upstream."""

    BEHIND = "behind"
    THROUGH = "through"
    OFF = "off"


class Gateway:
    """A relay that answers statistics from a store of its own. Thread-safe.

    A call that began `patience_seconds` ago is not answered any more. Statistics are sent every `sending_seconds`.
    `cache_bytes` of answers about tables are kept where the upstream's log proves them.
    `name` is the upstream's in metrics; `address` identifies an upstream that has no UUID.
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
        self._reader = reader
        self._counted_proven = PROVEN.labels(name)
        self._address = address
        self._sending_seconds = sending_seconds
        self._identity = UpstreamIdentity(store)
        self.connections, self.threads = relay.connections, relay.threads
        self._relay = relay
        self._writes = writes
        self._mirroring = Mirroring(store)
        self._following = Following(store, self._mirroring.tables, self._mirroring.claims, patience_seconds)
        self._lost_seconds = min(_LOST_SECONDS, patience_seconds / 2)
        self._sending = Sending(store, self._mirroring, name)
        writer = StatisticsWriter(store, keep_accuracy=False)
        self._keeping = Keeping(self._mirroring, writer)
        self._pending = PendingStatistics(store, writer)
        self._looking = Looking(self._mirroring)
        self._log = NotificationLog()
        self._proven = Proven(self._log)
        self._joined = JoinedReads(name)
        self._kept = KeptAnswers(self._log, cache_bytes, name, _asks_upstream_alone)
        self.prompt = PromptAnswers(self._kept, relay)
        self._generation: Generation | None = None
        self._itself = Session(connection_id=-1, peer="gateway")

    def takes(self, name: str) -> bool:
        """Whether a call may need the upstream: all but those of the connection, and a few of our own."""
        return name not in ANSWERED_HERE and name not in OURS_ALONE

    def answer(self, request: Request, session: Session, stream: Stream, here: Here) -> Relayed:
        """The answer to a call, which the upstream gives, or `here` does.

        Raises UpstreamUnavailable, MetaError; UpstreamClosed and ClientGone, after which the connection ends.
        """
        name = request.head.name

        def relayed() -> Relayed:
            return self._passed(request, session, stream)

        if name in RECORDS and self._calls(self._itself).generation.is_ours:
            return relayed()
        if name in _HEALTH:
            self._looking.note_asked()
        if name in RECORDS - STATISTICS:
            return here()
        if request.head.oneway or name not in _LOOKED_AT or (name in BRINGING and not may_bring(request)):
            return relayed()
        try:
            if name in WITH_STATISTICS:
                return self._with_statistics(request, session, relayed)
            arguments = _arguments(request)
        except ProtocolError:
            return relayed()
        return self._looked_at(request, session, arguments, relayed, here)

    def _looked_at(
        self,
        request: Request,
        session: Session,
        arguments: dict[str, Any],
        relayed: Callable[[], Relayed],
        here: Here,
    ) -> Relayed:
        """The answer to a call of which the gateway must know the arguments. Raises as `answer`."""
        name = request.head.name
        if name in _CONNECTION_SETTINGS:
            return here() if arguments["key"] == CANARY else relayed()
        if name in BRINGING:
            return self._bringing(request, session, arguments, relayed)
        if name in ALTERING:
            self._send_before(altered_by(name, arguments))
        if name in FOLLOWED or name in ALTERING:
            changes = changes_of(name, arguments) if name in FOLLOWED else []
            return self._following.passed(self._calls(session), changes, relayed) if changes else relayed()
        question = question_of(name, arguments)
        if question is None:
            return self._of_database(arguments, session, here) if name in OF_OBJECTS else relayed()
        if name == "publish_statistics":
            return self._publish(request, question, session, relayed, here)
        if question.deed is Deed.DELETE:
            return self._deleted(question, request, session, relayed, here)
        return self._answered(question, request, session, relayed, here, arguments)

    def _passed(self, request: Request, session: Session, stream: Stream) -> Relayed:
        """The upstream's answer to a call, which may have been kept."""

        user = User(session.user, session.groups)

        def ask(way: Stream) -> Relayed:
            return self._relay.answer(request, session, way)

        def relayed(way: Stream) -> Relayed:
            return self._joined.answer(user, request, way, ask)

        if self._relay.is_bound(session):
            return ask(stream)
        if request.head.name not in KEPT or request.head.oneway:
            return relayed(stream)
        try:
            calls = self._calls(self._itself)
        except MetaError:
            return relayed(stream)
        return self._kept.answer(calls, user, request, stream, relayed)

    def send_at_once(self, request: Request, session: Session) -> SentCall | None:
        """A small read of which nothing is here, sent to the upstream without waiting; None if it was not sent."""
        name = request.head.name
        if name not in _MAY_BE_UPSTREAMS_ALONE or may_want(request) or (name in KEPT and not self._kept.keeps_none):
            return None
        user = User(session.user, session.groups)
        return self._joined.send(user, request, lambda: self._relay.send_at_once(request, session))

    @property
    def is_hanging(self) -> bool:
        """Whether the upstream takes connections and answers nothing, so that calls are refused at once."""
        return self._relay.is_hanging

    def leave(self, session: Session) -> None:
        """Forget a client whose connection has ended."""
        self._relay.leave(session)

    @property
    def chores(self) -> Sequence[Chore]:
        """What is to be done from time to time."""
        sending = Chore("upstream_writes", self.send_pending, self._sending_seconds)
        lost = Chore("lost_calls", self._following.end_lost_calls, self._lost_seconds)
        looking = Chore("mirrors", lambda: self._looking.run(lambda: self._calls(self._itself)), LOOK_SECONDS)
        return [*self._relay.chores, sending, lost, looking]

    def close(self) -> None:
        """Close all connections."""
        self._relay.close()

    def send_pending(self) -> int:
        """Send statistics to the upstream. Returns the number of tables that could not be sent."""
        if self._writes is UpstreamWrites.OFF:
            return 0
        try:
            return self._sending.run(self._calls(self._itself))
        except (UpstreamUnavailable, UpstreamClosed) as error:
            _log.info("sending_waits", reason=str(error))
            return self._sending.count

    def unsent(self) -> list[TableName]:
        """The tables with statistics that the upstream has not got yet."""
        return self._sending.names()

    def send_everything(self) -> dict[TableName, str]:
        """Send all statistics that the upstream has not got, when no server runs. Returns why tables could not be sent.

        Raises UpstreamUnavailable and UpstreamClosed.
        """
        return self._sending.send_everything(self._calls(self._itself))

    def send_database(self, name: DatabaseName) -> None:
        """Send statistics of a database's tables now, so that nothing of them is under way afterwards."""
        if self._writes is not UpstreamWrites.OFF:
            for table in [each for each in self.unsent() if each.parent == name]:
                self._send_before(table)

    def adopting(self, patterns: Sequence[str] = ()) -> Adopting:
        """What takes old statistics of the upstream over, of the tables that match a pattern (none: of all).

        Raises UpstreamUnavailable, UpstreamClosed, MetaError.
        """
        return Adopting(self._calls(self._itself), self._mirroring, patterns)

    def _answered(
        self,
        question: Question,
        request: Request,
        session: Session,
        relayed: Callable[[], Relayed],
        here: Here,
        arguments: dict[str, Any],
    ) -> Relayed:
        if question.deed is not Deed.READ:
            return self._written(question, request, session, relayed, here, arguments)
        if self._may_answer(session, question):
            return here()
        return self._leave_to_upstream(request, question, session, relayed)

    def _leave_to_upstream(
        self, request: Request, question: Question, session: Session, relayed: Callable[[], Relayed]
    ) -> Relayed:
        """The upstream's answer about a table whose statistics are not here. Raises NoSuchObject and MetaError."""
        name, calls = request.head.name, self._calls(session)
        if name not in CARE or calls.generation.is_ours:
            return relayed()
        reason = why_not_mirrored(calls.table(question.table).table) or "it is being changed"
        raise MetaError(f"table {question.table} is left to the upstream, which does not know {name}: {reason}")

    def _may_answer(self, session: Session, question: Question) -> bool:
        """Whether the statistics are here: as new as the upstream's, or as last seen while it is away."""
        try:
            return self._is_here(session, question)
        except (UpstreamUnavailable, UpstreamClosed):
            if self._mirroring.tables.find(question.table) is None:
                raise
            return True

    def _written(
        self,
        question: Question,
        request: Request,
        session: Session,
        relayed: Callable[[], Relayed],
        here: Here,
        arguments: dict[str, Any],
    ) -> Relayed:
        """The answer to a write, of which the upstream gets what it can store."""
        calls = self._calls(session)
        if not self._mirroring.sync(calls, question):
            return relayed()
        is_merge = merges(request.head.name, arguments, calls.generation.number)
        if is_merge:
            self._send_before(question.table)
            self._mirroring.sync(calls, question)
            changed = without_unmarked(request, arguments, question, self._mirroring.tables)
            if changed is None:
                return Relayed((nothing_merged(request.head),))
            request = changed
        given = getattr(arguments.get("request"), "parameters", None)
        name, changes = changes_from_thrift(given) if given else (question.table, {})
        answered = self._carried_out(calls, name, changes, lambda: here(request))
        if answered.refused:
            return answered
        self._send(question.table, [] if is_merge else [question])  # what is merged was marked before
        return answered

    def _carried_out(
        self, calls: UpstreamCalls, name: TableName, changes: Changes, write: Callable[[], Relayed]
    ) -> Relayed:
        """The answer to a write, after parameters that come with it were changed at the upstream. Raises MetaError."""
        if not changes:
            return write()
        with nullcontext() if self._writes is UpstreamWrites.OFF else self._sending.held_back(name):
            answered = write()
            if not answered.refused:
                put_parameters(calls, self._mirroring.tables, name, changes)
            return answered

    def _send(self, table: TableName, written: Sequence[Question]) -> None:
        """Have the upstream get statistics of a table as `writes` says, and mark those that it has already."""
        if self._writes is UpstreamWrites.OFF:
            return
        for each in written:
            self._send_again(each)
        if self._writes is UpstreamWrites.THROUGH:
            self._send_through(table)

    def _of_database(self, arguments: dict[str, Any], session: Session, here: Here) -> Relayed:
        """The answer to a call about a whole database, or about everything."""
        database = database_of(arguments)
        if database is not None:
            self._mirroring.keep_database(self._calls(session), database)
        return here()

    def _publish(
        self, request: Request, question: Question, session: Session, relayed: Callable[[], Relayed], here: Here
    ) -> Relayed:
        """The answer to a publish of what waits, which goes to the upstream afterwards like any write."""
        calls, name = self._calls(session), question.table
        if not self._mirroring.sync(calls, question):
            return self._leave_to_upstream(request, question, session, relayed)
        waiting = self._pending.of_table(name)
        written = published_by(name, waiting)
        if not all(self._mirroring.sync(calls, each) for each in written):
            return self._leave_to_upstream(request, question, session, relayed)
        answered = self._carried_out(calls, name, waiting.changes, here)
        if not answered.refused:
            self._send(name, written)
        return answered

    def _is_here(self, session: Session, question: Question) -> bool:
        """Whether the statistics are here now, as new as the upstream's. Raises UpstreamUnavailable, UpstreamClosed."""
        user = User(session.user, session.groups)
        number = self._log.number(self._calls(self._itself))
        if number is None:
            return self._mirroring.sync(self._calls(session), question)
        mirror = self._mirroring.tables.find(question.table)
        if mirror is not None and self._proven.holds(user, question, Comparison(number, mirror.id)):
            self._counted_proven.inc()
            return True
        is_here = self._mirroring.sync(self._calls(session), question)
        mirror = self._mirroring.tables.find(question.table) if is_here else None
        if mirror is not None:
            self._proven.note(user, question, Comparison(number, mirror.id))
        return is_here

    def _with_statistics(self, request: Request, session: Session, relayed: Callable[[], Relayed]) -> Relayed:
        """The answer to a call for objects, with their statistics from here if it asks for them."""
        wanted = wanted_of(request, lambda: _arguments(request))
        if wanted is None or not self._is_here(session, wanted.question):
            return relayed()
        answer = self._passed(without_statistics(request, wanted), session, WholeAnswer())
        mirror = self._mirroring.tables.find(wanted.question.table)
        if answer.refused or mirror is None:
            return relayed()
        keys, whole = [each.name for each in mirror.partition_keys], b"".join(answer.rest)

        def answer_with() -> bytes:
            return with_statistics(whole, request.head.name, wanted, keys, self._reader)

        return Relayed((self._pending.tried([mirror.name], answer_with) if session.is_canary else answer_with(),))

    def _bringing(
        self, request: Request, session: Session, arguments: dict[str, Any], relayed: Callable[[], Relayed]
    ) -> Relayed:
        """The answer to a call that makes objects, after the statistics that they bring are here."""
        try:
            brought = brought_by(request.head.name, arguments)
        except InvalidInput:
            brought = None
        answered = relayed()
        if answered.refused or brought is None:
            return answered
        caller.set(Caller(subject.author(session), request.head.name))
        try:
            kept = self._keeping.keep(self._calls(session), brought, subject.author(session))
        except (UpstreamUnavailable, UpstreamClosed) as error:  # the call itself has been carried out
            _log.warning("not_kept", object=str(brought.table), reason=str(error))
            return answered
        if kept and self._writes is UpstreamWrites.THROUGH:
            self._send_through(brought.table)
        return answered

    def _deleted(
        self, question: Question, request: Request, session: Session, relayed: Callable[[], Relayed], here: Here
    ) -> Relayed:
        """The answer to a call that deletes statistics, which the upstream deletes before they are deleted here."""
        if self._writes is UpstreamWrites.OFF:
            return self._answered(question, request, session, relayed, here, {})
        return self._following.deleted(self._calls(session), question, request, relayed, here)

    def _send_before(self, table: TableName | None) -> None:
        """Send statistics of a table before something that depends on the upstream's marks."""
        if table is not None and self._writes is not UpstreamWrites.OFF:
            try:
                self._sending.send_before(self._calls(self._itself), table)
            except MetaError as error:  # it is sent later, if the upstream is there again
                _log.info("sending_waits", object=str(table), reason=str(error))

    def _send_again(self, question: Question) -> None:
        """Have the upstream mark what was written and is there already; its marks are no part of the answer."""
        try:
            self._sending.send_again(self._calls(self._itself), question)
        except (CallRefused, MetaError, UpstreamClosed) as error:
            _log.warning("not_marked", object=str(question.table), reason=str(error))

    def _send_through(self, table: TableName) -> None:
        failed = self._sending.send_table(self._calls(self._itself), table)
        if failed is not None:
            raise MetaError(f"statistics of table {table} are stored here, but not at the upstream: {failed}")

    def _uuid(self) -> str | None:
        """The UUID of the upstream's database; None before Hive 3, which has none."""
        try:
            return str(ask_upstream(self._relay, self._itself, "get_metastore_db_uuid"))
        except CallRefused:
            return None

    def _calls(self, session: Session) -> UpstreamCalls:
        if self._generation is None:
            self._identity.check(self._uuid() or self._address)
            name = str(ask_upstream(self._relay, self._itself, "getName"))
            self._generation = Generation.of(name, str(ask_upstream(self._relay, self._itself, "getVersion")))
        return UpstreamCalls(self._relay, session, self._generation)


def _asks_upstream_alone(request: Request) -> bool:
    """Whether a call of KEPT asks for no statistics, which may be here."""
    return request.head.name not in WITH_STATISTICS or wanted_of(request, lambda: _arguments(request)) is None


def _arguments(request: Request) -> dict[str, Any]:
    """The arguments of a call. Raises ProtocolError."""
    return decode_arguments(methods()[request.head.name], request.message, request.head.body_at)
