"""Calls that read tables and partitions with their statistics, and calls that create some with statistics."""

from collections.abc import Callable
from typing import Any

import structlog

from hmstats.errors import InvalidInput, MetaError, UpstreamClosed
from hmstats.gateway.answering.call import Call
from hmstats.gateway.statistics.brought import BroughtWriter, brought_by
from hmstats.gateway.statistics.delivery import Delivery
from hmstats.gateway.statistics.mirroring import Mirroring
from hmstats.gateway.statistics.objects_with_statistics import wanted_of, with_statistics, without_statistics
from hmstats.gateway.statistics.presence import Presence
from hmstats.gateway.upstream.known_upstream import KnownUpstream
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.rpc import subject
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.store.history.caller import Caller, caller

_log = structlog.get_logger("hmstats.gateway")


class ObjectAnswers:
    """Answers calls of WITH_STATISTICS and of BRINGING, using the upstream's answers. Thread-safe."""

    def __init__(
        self,
        upstream: KnownUpstream,
        mirroring: Mirroring,
        presence: Presence,
        delivery: Delivery,
        reader: StatisticsReader,
        brought_writer: BroughtWriter,
        pending: PendingStatistics,
    ) -> None:
        self._upstream = upstream
        self._mirroring = mirroring
        self._presence = presence
        self._delivery = delivery
        self._reader = reader
        self._brought_writer = brought_writer
        self._pending = pending

    def answer(self, call: Call, relay_whole: Callable[[Request], Relayed]) -> Relayed:
        """The answer to a call for objects, with their statistics from here if it asks for them.

        `relay_whole` passes a call to the upstream and returns the whole reply. Raises ProtocolError if the call cannot
        be read.
        """
        wanted = wanted_of(call.request, call.arguments)
        if wanted is None or not self._presence.is_here(call.session, wanted.scope):
            return call.relay()
        answer = relay_whole(without_statistics(call.request, wanted))
        mirror = self._mirroring.tables.find(wanted.scope.table)
        if answer.refused or mirror is None:
            return call.relay()
        keys, whole = [each.name for each in mirror.partition_keys], b"".join(answer.rest)

        def answer_with() -> bytes:
            return with_statistics(whole, call.name, wanted, keys, self._reader)

        is_canary = call.session.is_canary
        return Relayed((self._pending.read_as_published([mirror.name], answer_with) if is_canary else answer_with(),))

    def make(self, call: Call, arguments: dict[str, Any]) -> Relayed:
        """The answer to a call that creates objects, once the statistics that it brings are stored here."""
        try:
            brought = brought_by(call.name, arguments)
        except InvalidInput:
            brought = None
        answered = call.relay()
        if answered.refused or brought is None:
            return answered
        author = subject.author(call.session)
        caller.set(Caller(author, call.name))
        try:
            if self._brought_writer.keep(self._upstream.calls(call.session), brought, author):
                self._delivery.send_through(brought.table)
        except (MetaError, UpstreamClosed) as error:  # the call itself has been carried out
            _log.warning("not_kept", object=str(brought.table), reason=str(error))
        return answered
