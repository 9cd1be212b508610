"""Pages that name files name those that exist, and each of the thirty lookups takes as many steps as its page says."""

import re

import pytest
from tests.fixtures.hive import CHECKOUT

PAGE = (CHECKOUT / "docs" / "inside" / "finding.md").read_text("utf-8")
LOOKUPS = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def test_there_are_thirty() -> None:
    assert [int(number) for number, *_ in LOOKUPS] == list(range(1, 31))


@pytest.mark.parametrize(("number", "wanted", "ways", "steps"), LOOKUPS)
def test_each_way_is_there_and_has_its_steps(number: str, wanted: str, ways: str, steps: str) -> None:
    found = [[part.strip() for part in way.split("/")] for way in re.sub(r"\(.*?\)", "", ways).split(";")]
    for way in found:
        start = CHECKOUT if way[0] == "tests" else CHECKOUT / "src" / "hmstats"
        assert start.joinpath(*way).is_file(), f"{number}, {wanted}: {'/'.join(way)}"
    lengths = [len(way) - (way[0] == "tests") for way in found]
    assert lengths == [int(each) for each in re.findall(r"\d+", steps)], wanted


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/inside/flow.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    text = (CHECKOUT / page).read_text("utf-8")
    named = [each for each in re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.toml)`", text) if "/A/B/" not in each]
    assert len(named) > 30
    assert [each for each in named if not exists(each)] == []


def exists(name: str) -> bool:
    """Whether a name stands for a file or a folder, from the top or from a folder that the page names."""
    roots = ["", "tests", "src/hmstats", "src/hmstats/cli", "src/hmstats/server", "src/hmstats/outlets"]
    return any((CHECKOUT / root / name).exists() for root in roots)
