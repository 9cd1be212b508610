"""Calls for jobs that gather statistics while they write: their tasks' partial states (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.errors import InvalidInput
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.running_writes import RunningWrites
from hmstats.wire.idl import extension
from hmstats.wire.statistics import running_writes as codec


class RunningWriteCalls:
    """Partial states of running writes."""

    def __init__(self, writes: RunningWrites) -> None:
        self._writes = writes

    def put_partial_states(self, session: Session, request: Any) -> bool:
        """Store the partial states of an attempt of a task of a running write."""
        self._writes.put(_run(request), codec.states_from_thrift(request.states or []))
        return True

    def get_partial_states(self, session: Session, request: Any) -> Any:
        """The next of a running write's partial states, by piece."""
        after = None if request.after is None else codec.place_from_thrift(request.after)
        found = self._writes.page(_run(request), after)
        return extension.PartialStatesResult(states=codec.states_to_thrift(found))

    def remove_partial_states(self, session: Session, request: Any) -> int:
        """Delete a running write's partial states; returns how many there were."""
        return self._writes.remove(_run(request))


def _run(request: Any) -> str:
    if not isinstance(request.runId, str):
        raise InvalidInput("a running write must have a runId that is a text, found none")
    return request.runId
