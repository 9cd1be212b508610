"""Clients' patterns: they fit what a model that tries everything fits, in time that is bounded by both lengths."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.bounded import run_bounded

from hmstats.errors import MetaError
from hmstats.model.catalog.wildcards import MOST_CHARACTERS, compile_pattern

TEXT = st.text("ab", max_size=12)
PATTERN = st.text("ab*.", max_size=10)


@given(TEXT, PATTERN)
def test_a_pattern_fits_what_an_expression_that_backtracks_fits(text: str, pattern: str) -> None:
    model = re.escape(pattern).replace(r"\*", ".*").replace(r"\.", ".")
    found = compile_pattern(pattern, any_text="*", any_character=".").fullmatch(text)
    assert bool(found) == bool(re.fullmatch(model, text))


def test_many_wildcards_over_a_long_text_come_to_an_end() -> None:
    run_bounded(
        "from hmstats.model.catalog.wildcards import compile_pattern\n"
        "for one in ('a*' * 1_000 + 'b', '*a.' * 1_000 + 'b', '*' * 4_000):\n"
        "    compile_pattern(one, any_text='*', any_character='.').fullmatch('a' * 2_000)\n"
    )


def test_a_pattern_that_is_too_long_is_refused_with_both_lengths() -> None:
    with pytest.raises(MetaError, match=f"may have {MOST_CHARACTERS} characters, found {MOST_CHARACTERS + 1}"):
        compile_pattern("a" * (MOST_CHARACTERS + 1), any_text="*", any_character=".")
