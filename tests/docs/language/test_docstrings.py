"""A docstring stands alone: it never begins by pointing at its neighbour, or at nothing."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hmstats.settings.fields import Settings

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


QUOTED = re.compile(r"`([a-z_]\w*)`")
VALUES = {"all", "none", "hive", "public", "default", "base", "variant", "thrift", "migrations", "ifPurge"}
"""What docstrings quote that is no name of the code: values, a type, folders, a property that Hive's clients send."""
FILES = sorted(SOURCE.rglob("*.py"))
_WITH_PARAMETERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def split_docstrings(source: str) -> tuple[list[str], str]:
    """The docstrings of functions and classes, and the code without any docstring."""
    tree = ast.parse(source)
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, (*_WITH_PARAMETERS, ast.Module)) and (text := ast.get_docstring(node)) is not None:
            texts += [] if isinstance(node, ast.Module) else [text]
            node.body = node.body[1:] or [ast.Pass()]
    return texts, ast.unparse(tree)


def names_of_elsewhere() -> set[str]:
    """Names of functions, settings and RPCs, which every docstring may quote."""
    trees = [ast.parse(file.read_text("utf-8")) for file in FILES]
    functions = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    idl = (SOURCE.parents[1] / "thrift" / "hive_metastore.thrift").read_text("utf-8")
    return functions | set(Settings.model_fields) | set(re.findall(r"\w+", idl)) | VALUES


def unknown_names(source: str, elsewhere: set[str]) -> set[str]:
    """The names that docstrings quote, and neither the code nor anything else has."""
    texts, code = split_docstrings(source)
    quoted = {name for text in texts for name in QUOTED.findall(text)}
    return quoted - elsewhere - set(re.findall(r"\w+", code))


def test_docstrings_quote_names_that_exist() -> None:
    """A parameter that got another name has it in its docstring too."""
    elsewhere = names_of_elsewhere()
    found = {str(file.relative_to(SOURCE)): unknown_names(file.read_text("utf-8"), elsewhere) for file in FILES}
    assert {file: names for file, names in found.items() if names} == {}


def test_a_name_that_is_gone_is_found() -> None:
    source = 'def f(new: int) -> None:\n    """Takes `old` and `new`, as `g`."""\n    return new'
    assert unknown_names(source, {"g"}) == {"old"}
