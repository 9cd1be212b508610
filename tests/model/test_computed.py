"""What was computed for an answer is not stored when the answer is written back."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.computed import MARKER, with_computed, without_computed

PARAMETERS = st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4)
COMPUTED = st.dictionaries(st.sampled_from(["numRows", "totalSize", "numFiles"]), st.integers(0).map(str), max_size=3)


@given(PARAMETERS, COMPUTED)
def test_what_is_written_back_as_it_was_read_is_as_it_was_stored(own: dict[str, str], computed: dict[str, str]) -> None:
    stored = {key: value for key, value in own.items() if key not in computed and key != MARKER}
    assert without_computed(with_computed(stored, computed)) == stored


def test_an_answer_names_what_was_computed() -> None:
    found = with_computed({"a": "b"}, {"totalSize": "9", "numRows": "7"})
    assert found == {"a": "b", "totalSize": "9", "numRows": "7", "hmstats.computed": "numRows=7,totalSize=9"}
    assert with_computed({"a": "b"}, {}) == {"a": "b"}


def test_a_value_that_the_client_changed_is_the_clients() -> None:
    read = with_computed({"a": "b"}, {"totalSize": "9", "numRows": "7"})
    assert without_computed({**read, "numRows": "8"}) == {"a": "b", "numRows": "8"}


def test_without_a_marker_everything_is_the_clients() -> None:
    assert without_computed({"numRows": "7"}) == {"numRows": "7"}
