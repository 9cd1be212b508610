"""Hive's filter language for partitions, from text to tree.

    ship_year = 1994 and (region like "eu.*" or not day between '2024-01-01' and '2024-01-31')

Keys on either side, =, !=, <>, <, <=, >, >=, like, between, in, and, or, not, brackets, around a key too; several keys
together as `(struct(a, b)) in (const struct(1, 2))`; texts in single or double quotes with backslash escapes; whole
numbers; dates bare, quoted or as `date '...'`. Words are case-insensitive, keys too.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

from hmstats.errors import MetaError
from hmstats.model.partition_filter import (
    OPPOSITE,
    AllOf,
    Among,
    AnyOf,
    Comparison,
    Like,
    Literal,
    Not,
    PartitionFilter,
)

_GRAMMAR = r"""
?start: either
?either: both (_OR both)*          -> any_of
?both: one (_AND one)*             -> all_of
?one: _NOT one                     -> negated
    | "(" either ")"
    | _key OPERATOR value          -> compared
    | value OPERATOR _key          -> compared_backwards
    | _key _LIKE pattern           -> like
    | _key _NOT _LIKE pattern      -> not_like
    | _key _BETWEEN value _AND value       -> between
    | _key _NOT _BETWEEN value _AND value  -> not_between
    | _key _IN "(" value ("," value)* ")"      -> among
    | _key _NOT _IN "(" value ("," value)* ")" -> not_among
    | "(" keys ")" _IN "(" values ("," values)* ")"      -> together
    | "(" keys ")" _NOT _IN "(" values ("," values)* ")" -> not_together
keys: _STRUCT "(" key ("," key)* ")"
values: _CONST? _STRUCT "(" value ("," value)* ")"
_key: key | "(" key ")"
key: NAME | QUOTED_NAME
pattern: NUMBER | TEXT
value: NUMBER | TEXT | DATE | _DATE_WORD TEXT | _TIMESTAMP_WORD TEXT
OPERATOR: "<=" | ">=" | "!=" | "<>" | "=" | "<" | ">"
_AND.3: /and\b/i
_OR.3: /or\b/i
_NOT.3: /not\b/i
_LIKE.3: /like\b/i
_BETWEEN.3: /between\b/i
_IN.3: /in\b/i
_CONST.3: /const\b/i
_STRUCT.3: /struct\b(?=\s*\()/i
_DATE_WORD.3: /date(?=\s*['"])/i
_TIMESTAMP_WORD.3: /timestamp(?=\s*['"])/i
DATE.4: /\d{4}-\d{2}-\d{2}/
NUMBER.2: /-?\d+(?![\w-])/
NAME: /[A-Za-z_]\w*/
QUOTED_NAME: /`[^`]+`/
TEXT: /"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/s
%import common.WS
%ignore WS
"""


def parse(text: str, keys: Sequence[str], unknown: str = "is not a partitioning key for the table") -> PartitionFilter:
    """The tree of a filter over these keys. Raises MetaError saying where the text stops making sense.

    `unknown` is what is said of another key.
    """
    try:
        tree: PartitionFilter = _Tree(keys, unknown).transform(_parser().parse(text))
    except UnexpectedInput as error:
        raise MetaError(f"Error parsing partition filter at character {error.pos_in_stream}: {text}") from error
    except VisitError as error:
        raise error.orig_exc from error
    return tree


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=False)


class _Tree(Transformer[Token, Any]):
    """Makes the model's tree of the grammar's."""

    def __init__(self, keys: Sequence[str], unknown: str) -> None:
        super().__init__()
        self._unknown = unknown
        self._keys = {key.lower(): key for key in keys}

    def key(self, parts: list[Token]) -> str:
        name = parts[0].strip("`").lower()
        if name not in self._keys:
            raise MetaError(
                f"Invalid key name in filter: <{name}> {self._unknown}, expected one of {', '.join(self._keys)}"
            )
        return name

    def value(self, parts: list[Token]) -> Literal:
        token = parts[-1]
        if token.type == "NUMBER":
            return int(token)
        if token.type == "DATE":
            return str(token)
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)

    def pattern(self, parts: list[Token]) -> str:
        """A pattern keeps its backslashes, which say that the character behind means itself."""
        token = parts[0]
        return str(token) if token.type == "NUMBER" else re.sub(r"\\(['\"])", r"\1", token[1:-1])

    def compared(self, parts: list[Any]) -> Comparison:
        key, operator, value = parts
        return Comparison(key, _operator(operator), value)

    def compared_backwards(self, parts: list[Any]) -> Comparison:
        value, operator, key = parts
        return Comparison(key, OPPOSITE[_operator(operator)], value)

    def like(self, parts: list[Any]) -> Like:
        return Like(parts[0], parts[1])

    def not_like(self, parts: list[Any]) -> Not:
        return Not(self.like(parts))

    def between(self, parts: list[Any]) -> AllOf:
        key, low, high = parts
        return AllOf((Comparison(key, ">=", low), Comparison(key, "<=", high)))

    def not_between(self, parts: list[Any]) -> Not:
        return Not(self.between(parts))

    def among(self, parts: list[Any]) -> Among:
        return Among(parts[0], tuple(parts[1:]))

    def not_among(self, parts: list[Any]) -> Not:
        return Not(self.among(parts))

    def keys(self, parts: list[str]) -> list[str]:
        return parts

    def values(self, parts: list[Literal]) -> list[Literal]:
        return parts

    def together(self, parts: list[Any]) -> AnyOf:
        keys, *rows = parts
        for row in rows:
            if len(row) != len(keys):
                raise MetaError(f"as many values as keys must be together: {len(keys)} keys, found {len(row)} values")
        return AnyOf(tuple(AllOf(tuple(map(_equal, keys, row))) for row in rows))

    def not_together(self, parts: list[Any]) -> Not:
        return Not(self.together(parts))

    def negated(self, parts: list[Any]) -> Not:
        return Not(parts[0])

    def all_of(self, parts: list[Any]) -> PartitionFilter:
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def any_of(self, parts: list[Any]) -> PartitionFilter:
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _equal(key: str, value: Literal) -> Comparison:
    return Comparison(key, "=", value)


def _operator(text: str) -> str:
    return "!=" if text == "<>" else str(text)
