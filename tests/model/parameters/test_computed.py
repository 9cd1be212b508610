"""What was computed for an answer is not stored when the answer is written back."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.parameters.computed import MARKER, marker, without_answered, without_marked, without_marker

PARAMETERS = st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4)
COMPUTED = st.dictionaries(st.sampled_from(["numRows", "totalSize", "numFiles"]), st.integers(0).map(str), max_size=3)


@given(PARAMETERS, COMPUTED)
def test_what_is_written_back_with_its_marker_is_as_it_was_stored(
    own: dict[str, str], computed: dict[str, str]
) -> None:
    stored = {key: value for key, value in own.items() if key not in computed and key != MARKER}
    of_storage = {"a": "b", **marker(computed)}
    assert without_marked({**stored, **computed}, of_storage) == stored
    assert without_marker(of_storage) == {"a": "b"}


@given(PARAMETERS, COMPUTED, st.lists(COMPUTED, max_size=3))
def test_what_is_written_back_without_a_marker_is_known_by_its_values(
    own: dict[str, str], computed: dict[str, str], later: list[dict[str, str]]
) -> None:
    told = [{key: value for key, value in computed.items() if key not in own}, *later]
    assert without_answered({**computed, **own}, own, told) == own


def test_a_value_that_the_client_changed_is_the_clients() -> None:
    answer = {"totalSize": "9", "numRows": "7"}
    changed = {"a": "b", "totalSize": "9", "numRows": "8"}
    assert without_marked(changed, marker(answer)) == {"a": "b", "numRows": "8"}
    assert without_answered(changed, {"a": "b"}, [answer]) == {"a": "b", "numRows": "8"}


def test_what_a_client_names_as_its_own_is_the_clients() -> None:
    assert without_answered({"numRows": "7"}, {}, [{"numRows": "7"}], own=["numRows"]) == {"numRows": "7"}


def test_what_is_stored_is_the_tables_own() -> None:
    assert without_answered({"numRows": "7"}, {"numRows": "5"}, [{"numRows": "7"}]) == {"numRows": "7"}


def test_without_a_marker_everything_is_the_clients() -> None:
    assert without_marked({"numRows": "7"}, {}) == {"numRows": "7"}
    assert marker({}) == {}


def test_a_table_that_was_read_from_an_earlier_release_is_recognised() -> None:
    read = {"a": "b", "totalSize": "9", "numRows": "8", "hmstats.computed": "numRows=7,totalSize=9"}
    assert without_marked(read, {}) == {"a": "b", "numRows": "8"}
