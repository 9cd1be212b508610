"""Symbols in the text of Trino's conditions, and how they are used. Literals are looked at by nobody."""

import re
from collections.abc import Collection, Iterator

from hmstats.model.feedback.queries import Use

_LITERAL = re.compile(r"(?:\b[a-z][a-z ]*(?:\([^()]*\))? )?'(?:[^']|'')*'")
"""A literal with its type, such as `varchar(15) '1-URGENT'`."""
_SYMBOL = re.compile(r"[A-Za-z_][\w$]*")
_EQUAL = re.compile(r"(?<![<>!])=|\bIN \(")
_RANGE = re.compile(r"[<>]|\bBETWEEN\b")
_NULLS = re.compile(r"\bIS (?:NOT )?NULL\b")
_CALL = re.compile(r"(?<![\w$])(?!\$not\()[$A-Za-z_][\w$]*\(")
_NOT = "$not("


def symbols(text: str, known: Collection[str]) -> list[str]:
    """The known symbols in a text, each once."""
    found = _SYMBOL.findall(_LITERAL.sub("?", text))
    return list(dict.fromkeys(each for each in found if each in known))


def used(condition: str, known: Collection[str]) -> Iterator[tuple[str, Use]]:
    """The known symbols in a condition with what it wants to know of them; a use beside others hides nulls."""
    uses: dict[str, set[Use]] = {}
    for part in _conjuncts(_LITERAL.sub("?", condition)):
        found = symbols(part, known)
        for each in found:
            uses.setdefault(each, set()).add(_use(part, len(found)))
    for each, wanted in uses.items():
        for use in sorted(wanted - {Use.NULLS} or wanted):
            yield each, use


def _conjuncts(text: str) -> list[str]:
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _closes(text) == len(text) - 1:
        text = text[1:-1].strip()
    parts, depth, start = list[str](), 0, 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and text.startswith(" AND ", place):
            parts.append(text[start:place])
            start = place + 5
    if not parts:
        return [text] if text else []
    return [each for part in (*parts, text[start:]) for each in _conjuncts(part)]


def _closes(text: str) -> int:
    """Where the first parenthesis of a text ends; -1 if nowhere."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return place
    return -1


def _use(part: str, columns: int) -> Use:
    if columns != 1 or " OR " in part or _CALL.search(part):
        return Use.FUNCTION
    if _NULLS.search(part):
        return Use.NULLS
    if part.startswith(_NOT):
        return Use.FUNCTION
    if _RANGE.search(part):
        return Use.RANGE
    return Use.EQUALITY if _EQUAL.search(part) else Use.FUNCTION
