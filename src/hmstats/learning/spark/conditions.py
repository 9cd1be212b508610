"""Columns in the text of Spark's conditions, and how they are used.

An attribute is written as its name, # and an id, such as `price#12`; the id is unique in a plan, and a name may hold
any character.
"""

import re
from collections.abc import Iterator

from hmstats.learning.conditions import conjuncts, uses_by_column
from hmstats.model.feedback.queries import Use

ID = re.compile(r"#(0|[1-9]\d*)L?\b")
"""The id of an attribute."""
_NULLS = re.compile(r"^\(*(?:isnull|isnotnull)\(")
_EQUAL = re.compile(r"^\(*[^()]*#\d+L?\s*(?:=|<=>)\s*[^()]*\)*$|#\d+L?\s+(?:IN|INSET)\s*[( ]")
_RANGE = re.compile(r"^\(*[^()]*#\d+L?\s*(?:<|>|<=|>=)\s*[^()]*\)*$")


def ids(text: str) -> list[int]:
    """The ids of the attributes in a text, each once."""
    return list(dict.fromkeys(int(each) for each in ID.findall(text)))


def used(condition: str) -> Iterator[tuple[int, Use]]:
    """The attributes in a condition, each with its use; a use for nulls counts only if there is no other."""
    parts = ((part, ids(part)) for part in conjuncts(condition))
    return uses_by_column((found, _use(part, len(found))) for part, found in parts)


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
