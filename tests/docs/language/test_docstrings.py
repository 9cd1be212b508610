"""A docstring stands alone: it never begins by pointing at its neighbour, or at nothing."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src" / "hmstats"
ROOMS = ["", *sorted(each.name for each in SOURCE.iterdir() if (each / "__init__.py").is_file())]
LEANING = re.compile(r"(The same|Those|It|See|That of)\b")


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring: of a module, a class, a function, or behind an assignment."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text.strip()


def leaning(source: str) -> list[tuple[int, str]]:
    """The docstrings that do not stand alone, each by its line and its first line of text."""
    return [(line, text.splitlines()[0]) for line, text in docstrings(source) if LEANING.match(text)]


@pytest.mark.parametrize("room", ROOMS)
def test_every_docstring_stands_alone(room: str) -> None:
    files = sorted((SOURCE / room).rglob("*.py") if room else SOURCE.glob("*.py"))
    assert files
    found = {str(file.relative_to(SOURCE)): leaning(file.read_text("utf-8")) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize("text", ["The same in bytes.", "Those that end.", "It ends.", "See Encoding.", "That of one."])
@pytest.mark.parametrize(
    "source", ['"""{}"""', 'def f():\n    """{}"""', 'class C:\n    """{}"""', 'class C:\n    x: int\n    """{}"""']
)
def test_a_leaning_docstring_is_found_wherever_it_stands(source: str, text: str) -> None:
    assert [first for _, first in leaning(source.format(text))] == [text]


@pytest.mark.parametrize("text", ["Items of a set.", "Itself, in bytes.", "Seeds of the hash.", "The sameness."])
def test_other_first_words_stand_alone(text: str) -> None:
    assert leaning(f'"""{text}"""') == []
