"""Hive's name patterns."""

import pytest
from tests.fixtures.bounded import run_bounded

from hmstats.errors import MetaError
from hmstats.service.catalog.patterns import matching

NAMES = ["orders", "orders_old", "o", "lineitem", "a.b"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (None, NAMES),
        ("", NAMES),
        ("*", NAMES),
        (".*", NAMES),
        ("ORDERS", ["orders"]),
        ("o*", ["orders", "orders_old", "o"]),
        ("order.*", ["orders", "orders_old"]),
        ("order.", ["orders"]),
        ("o|l*|nothing", ["o", "lineitem"]),
        ("a.b", ["a.b"]),
        ("*e*e*", ["lineitem"]),
        ("(o)", []),
        ("|o", ["o"]),
    ],
)
def test_a_pattern_finds(pattern: str | None, expected: list[str]) -> None:
    assert matching(NAMES, pattern) == expected


@pytest.mark.slow
def test_six_stars_over_a_long_name_come_to_an_end() -> None:
    run_bounded(
        "from hmstats.service.catalog.patterns import matching\n"
        "assert matching(['a' * 128, 'a' * 4000], 'a*' * 6 + 'b') == []\n"
    )


def test_any_number_of_plain_names_is_looked_up() -> None:
    many = "|".join(f"t{number}" for number in range(100_000))
    assert matching(["t99999", "t100000"], many) == ["t99999"]


def test_too_many_wildcards_are_refused() -> None:
    with pytest.raises(MetaError, match="a pattern may have"):
        matching(NAMES, "|".join(f"t{number}*" for number in range(10_000)))
