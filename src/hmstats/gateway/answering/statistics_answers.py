"""Calls about statistics: reads are answered from here, writes and deletions go here and to the upstream."""

from collections.abc import Callable
from typing import Any

from hmstats.errors import MetaError
from hmstats.gateway.answering.call import Call
from hmstats.gateway.changes.following import Following
from hmstats.gateway.statistics.delivery import Delivery
from hmstats.gateway.statistics.merging import merges, nothing_merged, without_unmarked
from hmstats.gateway.statistics.mirroring import CHANGING, Mirroring, why_not_mirrored
from hmstats.gateway.statistics.parameters import Changes, put_parameters
from hmstats.gateway.statistics.presence import Presence
from hmstats.gateway.statistics.publishing import published_by
from hmstats.gateway.statistics.statistics_calls import CARE, AccessMode, StatisticsScope, database_of
from hmstats.gateway.upstream.known_upstream import KnownUpstream
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.objects import TableName
from hmstats.server.calls.relaying import Relayed
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.wire.statistics.extension import changes_from_thrift


class StatisticsAnswers:
    """Answers calls of STATISTICS. Thread-safe.

    Every method that answers raises UpstreamUnavailable, MetaError; UpstreamClosed and ClientGone, after which the
    connection ends.
    """

    def __init__(
        self,
        upstream: KnownUpstream,
        mirroring: Mirroring,
        presence: Presence,
        delivery: Delivery,
        following: Following,
        pending: PendingStatistics,
    ) -> None:
        self._upstream = upstream
        self._mirroring = mirroring
        self._presence = presence
        self._delivery = delivery
        self._following = following
        self._pending = pending

    def answer(self, call: Call, scope: StatisticsScope, arguments: dict[str, Any]) -> Relayed:
        """The answer to a call about statistics of a table."""
        if call.name == "publish_statistics":
            return self._publish(call, scope)
        if scope.mode is AccessMode.DELETE and not self._delivery.is_off:
            calls = self._upstream.calls(call.session)
            return self._following.deleted(calls, scope, call.request, call.relay, call.here)
        if scope.mode is not AccessMode.READ:
            return self._write(call, scope, arguments)
        if self._presence.may_answer(call.session, scope):
            return call.here()
        return self._leave_to_upstream(call, scope)

    def answer_of_database(self, call: Call, arguments: dict[str, Any]) -> Relayed:
        """The answer to a call about a whole database, or about everything."""
        database = database_of(arguments)
        if database is not None:
            self._mirroring.keep_database(self._upstream.calls(call.session), database)
        return call.here()

    def _leave_to_upstream(self, call: Call, scope: StatisticsScope) -> Relayed:
        """The upstream's answer about a table whose statistics are not here. Raises NoSuchObject and MetaError."""
        calls = self._upstream.calls(call.session)
        if call.name not in CARE or calls.generation.is_ours:
            return call.relay()
        reason = why_not_mirrored(calls.table(scope.table).table) or CHANGING
        raise MetaError(f"table {scope.table} is left to the upstream, which does not know {call.name}: {reason}")

    def _write(self, call: Call, scope: StatisticsScope, arguments: dict[str, Any]) -> Relayed:
        """The answer to a write; the upstream is sent the part of it that it can store."""
        calls, request = self._upstream.calls(call.session), call.request
        if not self._mirroring.sync(calls, scope):
            return call.relay()
        is_merge = merges(call.name, arguments, calls.generation.number)
        if is_merge:
            self._delivery.send_before(scope.table)
            self._mirroring.sync(calls, scope)
            changed = without_unmarked(request, arguments, scope, self._mirroring.tables)
            if changed is None:
                return Relayed((nothing_merged(request.head),))
            request = changed
        given = getattr(arguments.get("request"), "parameters", None)
        name, changes = changes_from_thrift(given) if given else (scope.table, {})
        answered = self._carry_out(calls, name, changes, lambda: call.here(request))
        if not answered.refused:
            marked = [] if is_merge else [scope]  # the upstream had marked the merged columns already
            self._delivery.send_written(scope.table, marked)
        return answered

    def _publish(self, call: Call, scope: StatisticsScope) -> Relayed:
        """The answer to a publish of pending statistics, which are then sent to the upstream like any write."""
        calls, name = self._upstream.calls(call.session), scope.table
        if not self._mirroring.sync(calls, scope):
            return self._leave_to_upstream(call, scope)
        waiting = self._pending.of_table(name)
        written = published_by(name, waiting)
        if not all(self._mirroring.sync(calls, each) for each in written):
            return self._leave_to_upstream(call, scope)
        answered = self._carry_out(calls, name, waiting.changes, call.here)
        if not answered.refused:
            self._delivery.send_written(name, written)
        return answered

    def _carry_out(
        self, calls: UpstreamCalls, name: TableName, changes: Changes, write: Callable[[], Relayed]
    ) -> Relayed:
        """The answer to a write, once the parameters that come with it are set at the upstream. Raises MetaError."""
        if not changes:
            return write()
        with self._delivery.held_back(name):
            answered = write()
            if not answered.refused:
                put_parameters(calls, self._mirroring.tables, name, changes)
            return answered
