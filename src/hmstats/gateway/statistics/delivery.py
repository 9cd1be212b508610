"""When statistics that are written here go to the upstream: behind the writes, before these are answered, or never."""

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
    """When statistics that are written here go to the upstream."""

    BEHIND = "behind"
    THROUGH = "through"
    OFF = "off"


class Delivery:
    """Has statistics sent as `writes` says. Thread-safe."""

    def __init__(self, upstream: KnownUpstream, sending: Sending, writes: UpstreamWrites) -> None:
        self._upstream = upstream
        self._sending = sending
        self._writes = writes
        self._waits_for: str | None = None

    @property
    def is_off(self) -> bool:
        """Whether nothing is sent."""
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
        """Have `send_pending` end behind what it is sending, with no claim left."""
        self._sending.cut_short()

    def check_upstream(self) -> None:
        """Ask the upstream whether it is there. Raises as `send_everything`, and MetaError for another upstream."""
        self._upstream.own_calls()

    def unsent(self) -> list[TableName]:
        """The tables with statistics that the upstream has not got yet."""
        return self._sending.names()

    def send_everything(self) -> dict[TableName, str]:
        """Send all statistics that the upstream has not got, when no server runs. Returns why tables could not be sent.

        Raises UpstreamUnavailable and UpstreamClosed.
        """
        return self._sending.send_everything(self._upstream.own_calls())

    def send_database(self, name: DatabaseName) -> None:
        """Send statistics of a database's tables now, so that nothing of them is under way afterwards."""
        if not self.is_off:
            for table in [each for each in self.unsent() if each.parent == name]:
                self.send_before(table)

    def send_before(self, table: TableName) -> None:
        """Send statistics of a table before something that depends on the upstream's marks."""
        if self.is_off:
            return
        try:
            self._sending.send_before(self._upstream.own_calls(), table)
        except MetaError as error:  # it is sent later, if the upstream is there again
            _log.info("sending_waits", object=str(table), reason=str(error))

    def send_written(self, table: TableName, written: Sequence[StatisticsScope]) -> None:
        """Have the upstream get what was written of a table, and mark what it has already.

        Raises MetaError if it must have it now and does not take it.
        """
        if self.is_off:
            return
        for each in written:
            self._mark(each)
        self.send_through(table)

    def send_through(self, table: TableName) -> None:
        """Send statistics of a table now if writes go through. Raises MetaError if the upstream does not take them."""
        if self._writes is not UpstreamWrites.THROUGH:
            return
        failed = self._sending.send_table(self._upstream.own_calls(), table)
        if failed is not None:
            raise MetaError(f"statistics of table {table} are stored here, but not at the upstream: {failed}")

    def held_back(self, table: TableName) -> AbstractContextManager[None]:
        """Have nobody send statistics of a table meanwhile."""
        return nullcontext() if self.is_off else self._sending.held_back(table)

    def _mark(self, scope: StatisticsScope) -> None:
        """Have the upstream mark what was written and is there already; its marks are no part of the answer."""
        try:
            self._sending.send_again(self._upstream.own_calls(), scope)
        except (CallRefused, MetaError, UpstreamClosed) as error:
            _log.warning("not_marked", object=str(scope.table), reason=str(error))

    def _log_waiting(self, reason: str) -> None:
        """Say once why the upstream cannot be sent anything: it is asked again every few seconds."""
        if reason != self._waits_for:
            _log.info("sending_waits", reason=reason)
        self._waits_for = reason
