"""The pinned versions can be installed by every Python that hmstats says it runs on."""

from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

_CHECKOUT = Path(__file__).resolve().parents[2]
_PYTHONS = ("3.11.2", "3.12.0", "3.13.0")
"""The oldest of each release, or of 3.11 the one of Debian 12: some packages refuse the first patches of a release."""


def _needed_pythons() -> dict[str, str]:
    """What the pinned packages that are installed here say of Python."""
    found = dict[str, str]()
    for line in (_CHECKOUT / "constraints.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        try:
            said = metadata(Requirement(line).name).json
        except PackageNotFoundError:  # one of an extra that is not installed here
            continue
        found[line] = str(said.get("requires_python", ""))
    return found


@pytest.mark.parametrize("python", _PYTHONS)
def test_every_pinned_package_takes_this_python(python: str) -> None:
    needed = _needed_pythons()
    assert len(needed) > 100
    assert {name: each for name, each in needed.items() if python not in SpecifierSet(each)} == {}
