"""Conditions come apart where AND joins them, however deep and however long they are."""

import pytest

from hmstats.learning.conditions import conjuncts
from hmstats.learning.spark import conditions
from hmstats.learning.trino import predicates
from hmstats.model.feedback.queries import Use

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(((a#1 = 1) AND (b#2 = 2)) AND (c#3 = 3))", ["a#1 = 1", "b#2 = 2", "c#3 = 3"]),
        ("a AND (b AND (c OR (d AND e))) AND f(g AND h)", ["a", "b", "c OR (d AND e)", "f(g AND h)"]),
        ("(a) AND  ( (b) )", ["a", "b"]),
        ("(a) OR (b)", ["(a) OR (b)"]),
        ("a) AND (b", ["a)", "(b"]),
        ("((a AND b)", ["((a AND b)"]),
        (" AND ()", []),
        ("", []),
    ],
)
def test_parts(text: str, parts: list[str]) -> None:
    assert conjuncts(text) == parts


@pytest.mark.slow
def test_a_deep_condition_comes_to_an_end() -> None:
    wrapped = "(" * DEEP + "a#1 = 1" + ")" * DEEP
    assert list(conditions.used(wrapped)) == [(1, Use.EQUALITY)]
    assert list(predicates.used(wrapped.replace("#1", ""), {"a"})) == [("a", Use.EQUALITY)]
    within = "(a = 1 AND " * DEEP + "b > 1" + ")" * DEEP
    assert list(predicates.used(within, {"a", "b"})) == [("a", Use.EQUALITY), ("b", Use.RANGE)]


def test_many_words_come_to_an_end() -> None:
    assert list(predicates.used("a " * DEEP, {"a"})) == [("a", Use.FUNCTION)]
