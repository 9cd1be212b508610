"""A number and a unit is a duration; every other text is none."""

import pytest

from hmstats.model.durations import parse_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1_800), (" 12 h ", 43_200), ("7d", 604_800), ("4w", 2_419_200), ("0s", 0)],
)
def test_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "m", "-1m", "1.5h", "1000000s", "1 h 2 m", "1M", "1y", "१s1", "1s\n2"])
def test_other_texts_are_none(text: str) -> None:
    assert parse_seconds(text) is None


def test_only_the_units_that_are_taken() -> None:
    assert parse_seconds("30s", "mhdw") is None
    assert parse_seconds("30m", "mhdw") == 1_800
