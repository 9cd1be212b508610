"""Each folder of the package says what is in it: its `__init__.py` names every file and folder beside it."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "hmstats"
MOST_FILES = 19


def folders() -> list[Path]:
    return [PACKAGE, *(each.parent for each in PACKAGE.rglob("*/__init__.py"))]


def shown(folder: Path) -> str:
    return folder.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("folder", folders(), ids=shown)
def test_a_folder_names_what_is_in_it(folder: Path) -> None:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    within = [each for each in folder.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()]
    assert {each.stem for each in within} - {"__init__"} - named(docstring) == set()


def named(docstring: str) -> set[str]:
    """The names that begin a line, before two spaces or a colon, and the first words of its text after a semicolon.

    A docstring of one line is a sentence, which may name what is there.
    """
    if len(docstring.splitlines()) == 1:
        return set(re.findall(r"\w+", docstring))
    names: list[str] = []
    for line in docstring.splitlines():
        head, *text = re.split(r" {2,}|: ", line.removeprefix("- "), maxsplit=1)
        if text:
            names += head.split(", ")
            names += [word for part in text[0].split("; ")[1:] for word in re.findall(r"\w+", part)[:3]]
    return {name.removesuffix("/").removesuffix(".py") for name in names}


@pytest.mark.parametrize(
    ("docstring", "names"),
    [
        ("Locks and transactions.", {"Locks", "and", "transactions"}),
        ("A room.\n\na.py    one\nb, c    two\n- e/: four", {"a", "b", "c", "e"}),
        ("A room.\n\na.py    one; b.py for two", {"a", "b", "py", "for"}),
        ("A room.\n\na/ one b/ two c.py three", set()),
    ],
)
def test_entries_of_a_map_that_share_a_line_are_not_found(docstring: str, names: set[str]) -> None:
    assert named(docstring) == names


@pytest.mark.parametrize("folder", folders(), ids=shown)
def test_no_folder_holds_too_many_files(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_FILES
