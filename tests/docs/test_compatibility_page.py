"""docs/reference/compatibility.md names a test for each difference; the tests are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "reference" / "compatibility.md"
_NAMED = re.compile(r"`((?:[a-z]+/)*test_\w+|\w+(?:/\w+)*/test_\w+)(?:: (\w+))?`")


def _named() -> list[tuple[str, str]]:
    """File and test of each row whose last column names one."""
    rows = (line.rstrip().rstrip("|").rpartition("|")[2] for line in PAGE.read_text().splitlines() if line[:2] == "| ")
    return [(file, test) for row in rows for file, test in _NAMED.findall(row)]


def test_there_are_rows() -> None:
    assert len(_named()) > 40


@pytest.mark.parametrize(("file", "test"), _named())
def test_the_test_of_a_difference_is_there(file: str, test: str) -> None:
    found = next((path for folder in ("behaviour", ".") if (path := TESTS / folder / f"{file}.py").is_file()), None)
    assert found is not None, f"no file {file}.py in tests/behaviour or tests"
    assert not test or f"def test_{test}" in found.read_text(), f"{file}.py has no test_{test}"
