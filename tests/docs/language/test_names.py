"""A function's name is a verb and its object, or the noun that it returns; a participle alone tells neither."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src" / "hmstats"
ROOMS = [
    "cli",
    "client",
    "collector",
    "feeds",
    "files",
    "gateway",
    "learning",
    "model",
    "outlets",
    "server",
    "service",
    "sketch",
    "store",
    "web",
    "wire",
]
VAGUE = re.compile(
    "accumulated|analysed|applied|asked|authorised|checked|chosen|collected|combined|conformed|connected|counted|decoded|"
    "drained|encoded|explained|filled|fitted|forked|found|given|handed|inserted|joined|judged|kept|known|left|made|marked|"
    "merged|named|opened|ordered|packed|padded|parsed|placed|planned|prepared|proven|published|quoted|reaped|received|said|"
    "sampled|seen|selected|sent|shared|signed|skipped|sorted|stored|taken|timed|told|translated|tried|wanted|widened|wrapped"
)


def vague_functions(source: str) -> Iterator[str]:
    """The functions of a module, and the methods that are no properties, with a participle alone as their name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and VAGUE.fullmatch(node.name.strip("_")):
            decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if not decorators & {"property", "cached_property"}:
                yield node.name


@pytest.mark.parametrize("room", ROOMS)
def test_every_function_says_what_it_does(room: str) -> None:
    files = {str(each.relative_to(SOURCE)): each for each in (SOURCE / room).rglob("*.py")}
    assert files
    found = {name: [*vague_functions(each.read_text("utf-8"))] for name, each in files.items()}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_a_vague_name_is_found_wherever_it_stands() -> None:
    assert list(vague_functions("def _found(): ...")) == ["_found"]
    assert list(vague_functions("class C:\n    def told(self): ...")) == ["told"]
    assert list(vague_functions("class C:\n    @property\n    def kept(self): ...")) == []
    assert list(vague_functions("def find_table(): ...")) == []
