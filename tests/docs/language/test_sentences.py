"""No sentence of a user's page has a clause as its subject ("What is ...", "Who may ..."), or begins with its verb."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
OF_ANOTHER_KIND = {"performance-log.md", "testing.md", "autogather.md", "learning.md"}
"""Logs, and pages that are not written so yet."""
USERS = {each for each in DOCS.rglob("*.md") if each.parent.name != "adr"} | {DOCS.parent / "README.md"}
PAGES = [each for each in sorted(USERS) if each.name not in OF_ANOTHER_KIND]
OPENING = re.compile(r"(?:What|Who|Whoever|Is|Are) ")


def clauses(text: str) -> Iterator[str]:
    """The sentences of a page's paragraphs, outside of code, tables and headings, that begin so; questions may."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", prose):
        if paragraph.lstrip().startswith(("#", "|")):
            continue
        for sentence in re.split(r"(?<=[.;:!?])\s+", " ".join(paragraph.split())):
            if OPENING.match(sentence) and not sentence.endswith("?"):
                yield sentence


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_begin_with_a_subject(page: Path) -> None:
    assert list(clauses(page.read_text("utf-8"))) == []


def test_such_a_sentence_is_found_in_the_middle_of_a_paragraph() -> None:
    assert list(clauses("Fine.\n\nIt works. What is old goes. Who reads?\n\n## What is here\n")) == [
        "What is old goes."
    ]
