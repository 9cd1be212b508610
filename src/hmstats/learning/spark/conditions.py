"""Columns in the text of Spark's conditions, and how they are used.

An attribute is written as its name, # and an id, such as `price#12`; the id is unique in a plan, and a name may hold
any character. Literals are looked at by nobody.
"""

import re
from collections.abc import Iterator

from hmstats.model.feedback.queries import Use

_ID = re.compile(r"#(\d+)L?\b")
_NULLS = re.compile(r"^\(*(?:isnull|isnotnull)\(")
_EQUAL = re.compile(r"^\(*[^()]*#\d+L?\s*(?:=|<=>)\s*[^()]*\)*$|#\d+L?\s+(?:IN|INSET)\s*[( ]")
_RANGE = re.compile(r"^\(*[^()]*#\d+L?\s*(?:<|>|<=|>=)\s*[^()]*\)*$")


def ids(text: str) -> list[int]:
    """The ids of the attributes in a text, each once."""
    return list(dict.fromkeys(int(each) for each in _ID.findall(text)))


def used(condition: str) -> Iterator[tuple[int, Use]]:
    """The attributes in a condition with what it wants to know of them; a use beside others hides nulls."""
    uses: dict[int, set[Use]] = {}
    for part in conjuncts(condition):
        found = ids(part)
        use = _use(part, len(found))
        for each in found:
            uses.setdefault(each, set()).add(use)
    for each, wanted in uses.items():
        for use in sorted(wanted - {Use.NULLS} or wanted):
            yield each, use


def conjuncts(condition: str) -> list[str]:
    """The parts of a condition that AND puts together."""
    text = condition.strip()
    while _is_wrapped(text):
        text = text[1:-1].strip()
    parts, depth, start = list[str](), 0, 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and text.startswith(" AND ", place):
            parts.append(text[start:place])
            start = place + 5
    if not parts:
        return [text] if text else []
    return [each for part in (*parts, text[start:]) for each in conjuncts(part)]


def _is_wrapped(text: str) -> bool:
    """Whether the first parenthesis ends with the text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _use(part: str, columns: int) -> Use:
    if columns != 1 or " OR " in part:
        return Use.FUNCTION
    if _NULLS.search(part):
        return Use.NULLS
    if part.startswith("NOT "):
        return Use.FUNCTION
    if _EQUAL.search(part):
        return Use.EQUALITY
    return Use.RANGE if _RANGE.search(part) else Use.FUNCTION
