"""Finds symbols in the text of Trino's conditions, and how they are used. Literals are ignored."""

import re
from collections.abc import Collection, Iterator

from hmstats.learning.conditions import conjuncts, uses_by_column
from hmstats.model.feedback.queries import Use

_LITERAL = re.compile(r"(?:\b[a-z][a-z ]{0,40}(?:\([^()]{0,100}\))? )?'(?:[^']|'')*'")
"""A literal with its type, such as `varchar(15) '1-URGENT'`."""
_SYMBOL = re.compile(r"[A-Za-z_][\w$]*")
_EQUAL = re.compile(r"(?<![<>!])=|\bIN \(")
_RANGE = re.compile(r"[<>]|\bBETWEEN\b")
_NULLS = re.compile(r"\bIS (?:NOT )?NULL\b")
_CALL = re.compile(r"(?<![\w$])(?!\$not\()[$A-Za-z_][\w$]*\(")
_NOT = "$not("


def symbols(text: str, known: Collection[str]) -> list[str]:
    """The known symbols in a text, each once."""
    return _known_names(_LITERAL.sub("?", text), known)


def used(condition: str, known: Collection[str]) -> Iterator[tuple[str, Use]]:
    """The known symbols in a condition, each with its use; a use for nulls counts only if there is no other."""
    parts = ((part, _known_names(part, known)) for part in conjuncts(_LITERAL.sub("?", condition)))
    return uses_by_column((found, _use(part, len(found))) for part, found in parts)


def _known_names(text: str, known: Collection[str]) -> list[str]:
    return list(dict.fromkeys(each for each in _SYMBOL.findall(text) if each in known))


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
