"""Calls of jobs that gather statistics while they write. Only hmstats knows them."""

from collections.abc import Iterator, Sequence
from typing import Any

from hmstats.client.connection import Connection
from hmstats.errors import UnknownCall
from hmstats.model.running_writes import PartialState, Place
from hmstats.wire import running_writes as codec
from hmstats.wire.idl import extension


class RunningWrites:
    """Partial states of running writes, by the run's name.

    Every method raises ServiceUnavailable when the metastore is away, CallRefused when it says no, and UnknownCall when
    it is not hmstats.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, run: str, states: Sequence[PartialState]) -> None:
        """Keep states; the same task, attempt and number again replaces what is there."""
        request = extension.PutPartialStatesRequest(runId=run, states=codec.states_to_thrift(states))
        self._ask("put_partial_states", request)

    def states(self, run: str) -> Iterator[PartialState]:
        """All states of a run by piece, asked for as they are used."""
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
        """Forget a run; how many states it had."""
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
