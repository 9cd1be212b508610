"""Splits the text of a condition at AND, and collects how its parts use columns."""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from hmstats.model.feedback.queries import Use

_AND = " AND "
_TOKEN = re.compile(r"[()]| AND ")
_OUTSIDE = -1
Column = TypeVar("Column", bound=Hashable)


def conjuncts(condition: str) -> list[str]:
    """The parts of a condition that AND joins, in order; in linear time, however deep the condition is nested."""
    closing, conjunctions = _structure(condition)
    parts: list[str] = []
    waiting = [(0, len(condition), conjunctions.get(_OUTSIDE, []))]
    while waiting:
        start, end, cuts = waiting.pop()
        start, end = _strip(condition, start, end)
        if cuts:
            starts, ends = [start, *(cut + len(_AND) for cut in cuts)], [*cuts, end]
            waiting += [(*bounds, []) for bounds in zip(reversed(starts), reversed(ends), strict=True)]
        elif closing.get(start) == end - 1:
            waiting.append((start + 1, end - 1, conjunctions.get(start, [])))
        elif start < end:
            parts.append(condition[start:end])
    return parts


def _structure(text: str) -> tuple[dict[int, int], dict[int, list[int]]]:
    """The end of each parenthesis, and by the innermost parenthesis around them the starts of conjunctions."""
    closing: dict[int, int] = {}
    conjunctions: dict[int, list[int]] = {}
    opened: list[int] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "(":
            opened.append(token.start())
        elif token[0] == _AND:
            conjunctions.setdefault(opened[-1] if opened else _OUTSIDE, []).append(token.start())
        elif opened:
            closing[opened.pop()] = token.start()
    return closing, conjunctions


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def uses_by_column(parts: Iterable[tuple[Sequence[Column], Use]]) -> Iterator[tuple[Column, Use]]:
    """The uses of each column in the parts of a condition; a use for nulls counts only if there is no other."""
    uses: dict[Column, set[Use]] = {}
    for columns, use in parts:
        for column in columns:
            uses.setdefault(column, set()).add(use)
    for column, wanted in uses.items():
        for use in sorted(wanted - {Use.NULLS} or wanted):
            yield column, use
