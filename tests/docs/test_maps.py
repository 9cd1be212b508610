"""Each folder of the package says what is in it: its `__init__.py` names every file and folder beside it."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "hmstats"
LISTED_ELSEWHERE = {"cli/commands"}
"""Its commands stand in cli/main.py, in the order of the help."""
MOST_FILES = 19


def folders() -> list[Path]:
    return [PACKAGE, *(each.parent for each in PACKAGE.rglob("*/__init__.py"))]


def shown(folder: Path) -> str:
    return folder.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("folder", folders(), ids=shown)
def test_a_folder_names_what_is_in_it(folder: Path) -> None:
    if shown(folder) in LISTED_ELSEWHERE:
        return
    text = (folder / "__init__.py").read_text()
    comments = " ".join(line for line in text.splitlines() if line.startswith("#"))
    words = set(re.findall(r"\w+", f"{ast.get_docstring(ast.parse(text))} {comments}"))
    within = [each for each in folder.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()]
    assert {each.stem for each in within} - {"__init__"} - words == set()


@pytest.mark.parametrize("folder", folders(), ids=shown)
def test_no_folder_holds_too_many_files(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_FILES
