import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.statistics.provenance import Provenance, merge

ANY = st.builds(
    Provenance,
    exact=st.none() | st.booleans(),
    rows_seen=st.none() | st.integers(0, 10**12),
    sample_fraction=st.none() | st.floats(0.001, 1),
    writer=st.none() | st.text(max_size=5),
)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [(True, True, True), (True, False, False), (False, None, False), (True, None, None), (None, None, None)],
)
def test_what_is_merged_is_exact_when_both_sides_are(one: bool | None, other: bool | None, both: bool | None) -> None:
    for merged in (
        merge(Provenance(exact=one), Provenance(exact=other)),
        merge(Provenance(exact=other), Provenance(exact=one)),
    ):
        assert merged.exact is both


def test_rows_add_up_and_samples_weigh_by_their_tables() -> None:
    whole = Provenance(rows_seen=100, sample_fraction=1.0, ndv_standard_error=0.016)
    tenth = Provenance(rows_seen=100, sample_fraction=0.1, tool="b 2", writer="bea")
    assert merge(whole, tenth) == Provenance(rows_seen=200, sample_fraction=200 / 1_100, tool="b 2", writer="bea")
    assert merge(tenth, tenth).sample_fraction == 0.1
    assert merge(whole, Provenance(sample_fraction=0.1)).sample_fraction is None
    assert merge(whole, Provenance()) == Provenance()


@given(ANY, ANY)
def test_a_fraction_lies_between_those_of_the_sides(one: Provenance, other: Provenance) -> None:
    found = merge(one, other).sample_fraction
    sides = [each for each in (one.sample_fraction, other.sample_fraction) if each is not None]
    assert found is None or min(sides) * 0.999 <= found <= max(sides) * 1.001
