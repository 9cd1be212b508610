"""Patterns mean the same in every Python that hmstats runs on."""

import re
from pathlib import Path

import hmstats

_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
"""A group that is repeated and never given back, such as `(?:ab|c)*+`."""


def test_no_group_is_possessive() -> None:
    """Python 3.11.2, that of Debian 12, finds no match for some texts that such patterns match.

    A set of characters may be possessive: `[^"]*+`.
    """
    modules = sorted(Path(hmstats.__file__).parent.rglob("*.py"))
    assert modules
    found = {str(path): _POSSESSIVE_GROUP.findall(path.read_text()) for path in modules}
    assert {path: each for path, each in found.items() if each} == {}
