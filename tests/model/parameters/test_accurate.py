"""COLUMN_STATS_ACCURATE, in Hive's form."""

import pytest

from hmstats.model.parameters.accurate import Accurate

BOTH = '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true","b":"true"}}'


def test_the_text_is_hives_byte_for_byte() -> None:
    assert Accurate(basic=True, columns=frozenset({"b", "a"})).text() == BOTH
    assert Accurate(columns=frozenset({"a"})).text() == '{"COLUMN_STATS":{"a":"true"}}'
    assert Accurate(basic=True).text() == '{"BASIC_STATS":"true"}'
    assert Accurate().text() == "{}"


@pytest.mark.parametrize("text", [BOTH, "{}", '{"BASIC_STATS":"true"}', '{"COLUMN_STATS":{"a":"true"}}'])
def test_what_hive_wrote_comes_back_the_same(text: str) -> None:
    assert Accurate.parse(text).text() == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, Accurate()),
        ("TRUE", Accurate(basic=True)),
        ("true", Accurate(basic=True)),
        ("FALSE", Accurate()),
        ("nonsense", Accurate()),
        ("[1]", Accurate()),
        ('{"BASIC_STATS":"false","COLUMN_STATS":{"a":"false","b":"true"}}', Accurate(columns=frozenset({"b"}))),
        ('{"BASIC_STATS":true,"COLUMN_STATS":7}', Accurate(basic=True)),
    ],
)
def test_older_and_broken_texts_are_read(text: str | None, expected: Accurate) -> None:
    assert Accurate.parse(text) == expected


def test_columns_are_added_and_taken_away() -> None:
    both = Accurate.parse(BOTH)
    assert both.with_columns(["c"]).columns == {"a", "b", "c"}
    assert both.without_columns(["a"]).text() == '{"BASIC_STATS":"true","COLUMN_STATS":{"b":"true"}}'
    assert both.without_columns().text() == '{"BASIC_STATS":"true"}'
