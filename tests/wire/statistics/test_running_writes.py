"""Partial states and their structs: what goes one way comes back the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.wire.idl import extension
from hmstats.wire.statistics import running_writes as codec

NUMBERS = st.integers(0, 2**63 - 1)
PLACES = st.builds(Place, st.text(), NUMBERS, NUMBERS, NUMBERS)
STATES = st.builds(PartialState, PLACES, st.binary(min_size=1))


@given(PLACES)
def test_places(place: Place) -> None:
    assert codec.place_from_thrift(codec.place_to_thrift(place)) == place


@given(st.lists(STATES, unique_by=lambda state: state.place[1:]))
def test_states(states: list[PartialState]) -> None:
    assert codec.states_from_thrift(codec.states_to_thrift(states)) == states


@given(STATES)
def test_a_state_that_comes_twice_is_refused(state: PartialState) -> None:
    with pytest.raises(InvalidInput, match="a number twice"):
        codec.states_from_thrift(codec.states_to_thrift([state, state]))


@pytest.mark.parametrize("missing", ["piece", "task", "attempt", "number"])
def test_a_place_that_is_not_whole_is_refused(missing: str) -> None:
    whole = {"piece": "k=1", "task": 1, "attempt": 2, "number": 3}
    with pytest.raises(InvalidInput, match=missing):
        codec.place_from_thrift(extension.PartialPlace(**{**whole, missing: None}))
