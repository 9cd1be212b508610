"""Partial states in the metastore service, which removes those of dead runs."""

from collections.abc import Iterator, Sequence

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.credentials import credentials
from hmstats.client.running_writes import RunningWriteCalls
from hmstats.collector.autogather.publishers.protocols import Run
from hmstats.model.statistics.running_writes import PartialState

_LOT_BYTES = 8 * 1024 * 1024
_TIMEOUT_SECONDS = 60.0
_RETRIES = 3


class _ServiceConnection:
    """A connection to the service for one run; `run.connection` has its addresses."""

    def init(self, run: Run) -> None:
        """Note where to connect. Nothing is sent."""
        self._run = run.id
        self._connection = Connection(
            addresses(run.connection),
            timeout_seconds=_TIMEOUT_SECONDS,
            retries=_RETRIES,
            shown=credentials(run.handed),
        )
        self._service = RunningWriteCalls(self._connection)


class ThriftPublisher(_ServiceConnection):
    """Sends states in messages of some MB."""

    def publish(self, states: Sequence[PartialState]) -> None:
        """Send the states in calls. Raises ServiceUnavailable and CallRefused."""
        for lot in _batches(states):
            self._service.put(self._run, lot)

    def terminate(self) -> None:
        """Close the connection."""
        self._connection.close()


class ThriftAggregator(_ServiceConnection):
    """Reads states in pages."""

    def init(self, run: Run) -> None:
        """Connect. Raises ServiceUnavailable, and UnknownCall for a metastore that is not hmstats."""
        super().init(run)
        self._service.put(run.id, [])

    def aggregate(self) -> Iterator[PartialState]:
        """Read the states in pages. Raises ServiceUnavailable and CallRefused."""
        return self._service.states(self._run)

    def terminate(self) -> None:
        """Remove the run's states and close the connection. Raises ServiceUnavailable and CallRefused."""
        try:
            self._service.remove(self._run)
        finally:
            self._connection.close()


def _batches(states: Sequence[PartialState]) -> Iterator[list[PartialState]]:
    """Lists of states, each of which fits in one message."""
    lot: list[PartialState] = []
    filled_bytes = 0
    for each in states:
        if lot and filled_bytes + len(each.state) > _LOT_BYTES:
            yield lot
            lot, filled_bytes = [], 0
        lot.append(each)
        filled_bytes += len(each.state)
    if lot:
        yield lot
