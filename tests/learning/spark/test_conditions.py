"""How Spark's conditions use columns, by their text."""

import pytest

from hmstats.learning.spark.conditions import used
from hmstats.model.feedback.queries import Use


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(isnotnull(status#12) AND (status#12 = suspended))", {(12, Use.EQUALITY)}),
        ("(status#12 = a AND b)", {(12, Use.EQUALITY)}),
        ("isnotnull(customer#1L)", {(1, Use.NULLS)}),
        ("isnull(note#4)", {(4, Use.NULLS)}),
        ("((price#3 > 3.0) AND (price#3 <= 9.0))", {(3, Use.RANGE)}),
        ("nation#5L IN (1,2,3)", {(5, Use.EQUALITY)}),
        ("EndsWith(name#7, 7)", {(7, Use.FUNCTION)}),
        ("NOT (status#12 = done)", {(12, Use.FUNCTION)}),
        ("((a#1 = 1) OR (b#2 = 2))", {(1, Use.FUNCTION), (2, Use.FUNCTION)}),
        ("(a#1 = b#2)", {(1, Use.FUNCTION), (2, Use.FUNCTION)}),
        ("(upper(a#1) = X)", {(1, Use.FUNCTION)}),
        ("", set()),
    ],
)
def test_uses(text: str, expected: set[tuple[int, Use]]) -> None:
    assert set(used(text)) == expected
