"""The structs of partial states in hmstats.thrift <-> model, both directions side by side."""

from collections.abc import Sequence
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.wire.idl import extension


def place_to_thrift(place: Place) -> Any:
    """The struct of a place."""
    return extension.PartialPlace(piece=place.piece, task=place.task, attempt=place.attempt, number=place.number)


def place_from_thrift(struct: Any) -> Place:
    """The place in a struct. Raises InvalidInput for missing and negative values."""
    if not isinstance(struct.piece, str):
        raise InvalidInput("a partial state must have a piece that is a text, found none")
    numbers = {"task": struct.task, "attempt": struct.attempt, "number": struct.number}
    for name, number in numbers.items():
        if number is None or number < 0:
            raise InvalidInput(f"{name} of a partial state must be 0 or more, found {number}")
    return Place(struct.piece, **numbers)


def states_to_thrift(states: Sequence[PartialState]) -> list[Any]:
    """The structs of states."""
    return [extension.PartialState(place=place_to_thrift(each.place), state=each.state) for each in states]


def states_from_thrift(structs: Sequence[Any]) -> list[PartialState]:
    """The states in structs. Raises InvalidInput for an incomplete state, and for two with the same number."""
    states = [_state(struct) for struct in structs]
    if len({state.place[1:] for state in states}) < len(states):
        raise InvalidInput("a task's attempt must count its states, found a number twice")
    return states


def _state(struct: Any) -> PartialState:
    if struct.place is None or not struct.state:
        raise InvalidInput("a partial state must have a place and bytes, found none")
    return PartialState(place_from_thrift(struct.place), struct.state)
