"""Decides when statistics written here are sent to the upstream: after the write, before its answer, or never."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum

import structlog

from hmstats.errors import CallRefused, MetaError, UpstreamClosed, UpstreamUnavailable
from hmstats.gateway.statistics.sending import Sending
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.known_upstream import KnownUpstream
from hmstats.model.catalog.objects import DatabaseName, TableName

_log = structlog.get_logger("hmstats.gateway")


class UpstreamWrites(StrEnum):
    """The time at which statistics written here are sent to the upstream."""

    BEHIND = "behind"
    THROUGH = "through"
    OFF = "off"


class Delivery:
    """Sends statistics as `writes` says. Thread-safe."""

    def __init__(self, upstream: KnownUpstream, sending: Sending, writes: UpstreamWrites) -> None:
        self._upstream = upstream
        self._sending = sending
        self._writes = writes
        self._waits_for: str | None = None

    @property
    def is_off(self) -> bool:
        """Whether nothing is ever sent."""
        return self._writes is UpstreamWrites.OFF

    def send_pending(self) -> int:
        """Send statistics to the upstream. Returns the number of tables that could not be sent."""
        if self.is_off:
            return 0
        try:
            left = self._sending.run(self._upstream.own_calls())
        except (UpstreamUnavailable, UpstreamClosed) as error:
            self._log_waiting(str(error))
            return self._sending.count_unsent()
        self._waits_for = None
        return left

    def cut_short(self) -> None:
        """Make `send_pending` end after the current call, with no claim left."""
        self._sending.cut_short()

    def check_upstream(self) -> None:
        """Check that the upstream answers. Raises as `send_everything`, and MetaError for another upstream."""
        self._upstream.own_calls()

    def unsent(self) -> list[TableName]:
        """The tables with statistics that the upstream does not have yet."""
        return self._sending.names()

    def send_everything(self) -> dict[TableName, str]:
        """Send all statistics that the upstream lacks, when no server runs. Returns the reasons for tables that failed.

        Raises UpstreamUnavailable and UpstreamClosed.
        """
        return self._sending.send_everything(self._upstream.own_calls())

    def send_database(self, name: DatabaseName) -> None:
        """Send the statistics of a database's tables now, so that none are under way afterwards."""
        if not self.is_off:
            for table in [each for each in self.unsent() if each.parent == name]:
                self.send_before(table)

    def send_before(self, table: TableName) -> None:
        """Send statistics of a table before a call that depends on the upstream's marks of accuracy."""
        if self.is_off:
            return
        try:
            self._sending.send_before(self._upstream.own_calls(), table)
        except MetaError as error:  # it is sent later, when the upstream answers again
            _log.info("sending_waits", object=str(table), reason=str(error))

    def send_written(self, table: TableName, written: Sequence[StatisticsScope]) -> None:
        """Send the statistics of a table that were written, and have the upstream mark those that it has already.

        Raises MetaError if the upstream must have them now and does not accept them.
        """
        if self.is_off:
            return
        for each in written:
            self._mark(each)
        self.send_through(table)

    def send_through(self, table: TableName) -> None:
        """Send the statistics of a table now if writes go through. Raises MetaError if the upstream refuses them."""
        if self._writes is not UpstreamWrites.THROUGH:
            return
        failed = self._sending.send_table(self._upstream.own_calls(), table)
        if failed is not None:
            raise MetaError(f"statistics of table {table} are stored here, but not at the upstream: {failed}")

    def held_back(self, table: TableName) -> AbstractContextManager[None]:
        """Keep all servers from sending statistics of a table during the block."""
        return nullcontext() if self.is_off else self._sending.held_back(table)

    def _mark(self, scope: StatisticsScope) -> None:
        """Have the upstream mark written statistics that it has already; the answer does not depend on it."""
        try:
            self._sending.send_again(self._upstream.own_calls(), scope)
        except (CallRefused, MetaError, UpstreamClosed) as error:
            _log.warning("not_marked", object=str(scope.table), reason=str(error))

    def _log_waiting(self, reason: str) -> None:
        """Log once why nothing can be sent to the upstream, which is asked again every few seconds."""
        if reason != self._waits_for:
            _log.info("sending_waits", reason=reason)
        self._waits_for = reason
