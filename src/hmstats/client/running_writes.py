"""Calls for jobs that gather statistics while they write. Only hmstats has them."""

from collections.abc import Iterator, Sequence
from typing import Any

from hmstats.client.connection.connection import Connection
from hmstats.errors import UnknownCall
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.wire.idl import extension
from hmstats.wire.statistics import running_writes as codec


class RunningWriteCalls:
    """Partial states of running writes, by the run's name.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, run: str, states: Sequence[PartialState]) -> None:
        """Store states; a state with the same task, attempt and number is replaced."""
        request = extension.PutPartialStatesRequest(runId=run, states=codec.states_to_thrift(states))
        self._ask("put_partial_states", request)

    def states(self, run: str) -> Iterator[PartialState]:
        """All states of a run by piece, read lazily."""
        after: Place | None = None
        while True:
            place = None if after is None else codec.place_to_thrift(after)
            request = extension.PartialStatesRequest(runId=run, after=place)
            found = codec.states_from_thrift(self._ask("get_partial_states", request).states)
            if not found:
                return
            yield from found
            after = found[-1].place

    def remove(self, run: str) -> int:
        """Delete a run's states; returns how many there were."""
        return int(self._ask("remove_partial_states", extension.PartialStatesRequest(runId=run)))

    def _ask(self, method: str, request: Any) -> Any:
        try:
            return self._connection.call(method, request)
        except UnknownCall as error:
            sentence = (
                f"the metastore at {self._connection.address} is not hmstats, which alone keeps partial states of "
                "running writes: set hive.stats.dbclass to fs or to jdbc:<kind>"
            )
            raise UnknownCall(method, error.kind, sentence) from error
