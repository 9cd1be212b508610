"""The texts of preferences: what they mean, and that the stored form means the same."""

import pytest

from hmstats.errors import InvalidInput
from hmstats.model.preferences.values import KINDS, Level, Made, check_value, parse_value

STORED = [
    ("histogram", "Off", "false"),
    ("every", "48h", "2d"),
    ("every", "90 m", "90m"),
    ("every", "1w", "7d"),
    ("every", "NONE", "none"),
    ("sample", "0.10", "0.1"),
    ("precision", " 14", "14"),
    ("sample", "0.12345678", "0.12345678"),
    ("sample", "0.99999999", "0.99999999"),
    ("guard_factor", "2.50", "2.5"),
    ("guard_factor", "1.0000001", "1.0000001"),
    ("guard_factor", "1e6", "1000000"),
    ("window", "mon-fri 1:00-5:00", "Mon-Fri 01:00-05:00"),
    ("window", "none", "none"),
    ("puffin_columns", "A, b,a", "a,b"),
    ("puffin_columns", "none", "none"),
    ("puffin_columns", "*", "all"),
    ("puffin_columns", "Text", "text"),
    ("statistics", "rows", "rows"),
    ("guard", "all", "all"),
]


@pytest.mark.parametrize(("name", "text", "stored"), STORED)
def test_the_stored_form_means_what_was_given(name: str, text: str, stored: str) -> None:
    assert check_value(name, text, Level.TABLE) == stored
    assert parse_value(name, stored) == parse_value(name, text)


@pytest.mark.parametrize("name", KINDS)
def test_every_default_is_in_its_stored_form(name: str) -> None:
    assert check_value(name, KINDS[name].default, Level.EVERYTHING) == KINDS[name].default
    assert Level.TABLE in KINDS[name].levels


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sample", "0"),
        ("sample", "nan"),
        ("precision", "9"),
        ("precision", "12.5"),
        ("guard_factor", "1"),
        ("guard_factor", "inf"),
        ("every", "0d"),
        ("every", "1y"),
        ("histogram", "maybe"),
        ("guard", "cautious"),
        ("puffin_columns", "a,,b"),
    ],
)
def test_what_is_no_value(name: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=f"the preference {name} must be .*, found"):
        parse_value(name, text)


def test_what_may_be_said_of_columns_alone() -> None:
    assert check_value("statistics", "none", Level.COLUMN) == Made.NONE
    with pytest.raises(InvalidInput):
        check_value("statistics", "none", Level.TABLE)
    with pytest.raises(InvalidInput):
        check_value("statistics", "rows", Level.COLUMN)
