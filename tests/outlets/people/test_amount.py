"""Counts with their nouns, one in the singular."""

import pytest

from hmstats.outlets.people.cells import amount, headline


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 queries"), (1, "1 query"), (2, "2 queries"), (1_234_567, "1,234,567 queries")]
)
def test_one_is_singular(count: int, text: str) -> None:
    assert amount(count, "query", "queries") == text


def test_most_plurals_have_an_s() -> None:
    assert (amount(1, "table"), amount(3, "table")) == ("1 table", "3 tables")
    assert headline("d.t", {"numRows": "1", "numFiles": "2"}) == "d.t: 1 row, 2 files"
