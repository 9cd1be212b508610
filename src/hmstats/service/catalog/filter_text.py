"""Hive's filter language for partitions, from text to tree.

    ship_year = 1994 and (region like "eu.*" or not day between '2024-01-01' and '2024-01-31')

Keys on either side, =, ==, !=, <>, <, <=, >, >=, like, between, in, and, or, not, brackets, around a key too; several
keys together as `(struct(a, b)) in (const struct(1, 2))`; texts in single or double quotes with backslash escapes;
whole numbers; dates bare, quoted or as `date '...'`. Words are case-insensitive, keys too.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from hmstats.errors import MetaError
from hmstats.model.partitions.partition_filter import (
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

MOST_CHARACTERS = 128 * 1024
"""Longest filter accepted; one that lists 1,000 values has about 20,000 characters."""
MOST_CONDITIONS = 2_000
"""Most conditions of a filter; a list of values is one condition, however long."""
MOST_DEPTH = 32
"""Deepest nesting of a filter's conditions; SQLite's parser refuses twice as much."""
MOST_BRACKETS = 5 * MOST_CONDITIONS
"""Most opening brackets of a filter; a bracket takes as long to parse as a key, even around nothing."""
_SAME_OPERATORS = {"<>": "!=", "==": "="}
_MOST_DIGITS = 40
_MOST_QUOTED = 1_000
_QUOTED = re.compile(
    r"""
    "[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\Z)
    |'[^'\\]*+(?:\\.[^'\\]*+)*(?:'|\Z)
    |`[^`]*+`?
    """,
    re.DOTALL | re.VERBOSE,
)
"""A quoted text or name; the last may lack its closing quote, since an invalid filter is measured too."""

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
OPERATOR: "<=" | ">=" | "!=" | "<>" | "==" | "=" | "<" | ">"
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
NAME: /\d*[A-Za-z_]\w*/
QUOTED_NAME: /`[^`]+`/
TEXT: /"[^"\\]*+(?:\\.[^"\\]*+)*"|'[^'\\]*+(?:\\.[^'\\]*+)*'/s
%import common.WS
%ignore WS
"""


def parse(text: str, keys: Sequence[str], unknown: str = "is not a partitioning key for the table") -> PartitionFilter:
    """Parse a filter over these keys. Raises MetaError, with the position of the error, if the text is invalid.

    `unknown` is the end of the error's sentence for any other key.
    """
    if len(text) > MOST_CHARACTERS:
        raise MetaError(f"a filter may have {MOST_CHARACTERS} characters, found {len(text)}; it begins {text[:40]!r}")
    if (brackets := _QUOTED.sub("", text).count("(")) > MOST_BRACKETS:
        raise MetaError(f"a filter may open {MOST_BRACKETS} brackets, found {brackets}")
    try:
        tree: PartitionFilter = _parser().parse(text)  # type: ignore[assignment]  # the transformer makes it
    except UnexpectedInput as error:
        position = error.pos_in_stream or 0
        raise MetaError(
            f"Error parsing partition filter at character {position}: {_excerpt(text, position)}"
        ) from error
    _check(tree, dict.fromkeys(key.lower() for key in keys), unknown)
    return tree


@cache
def _parser() -> Lark:
    """The filter parser. The transformer runs during the parse: no tree of tokens is built, and nothing recurses."""
    return Lark(_GRAMMAR, parser="lalr", transformer=_Tree(), maybe_placeholders=False)


def _excerpt(text: str, position: int) -> str:
    """The whole text if it is short, else its 80 characters around the position."""
    return text if len(text) <= _MOST_QUOTED else f"... {text[max(0, position - 40) : position + 40]} ..."


def _check(tree: PartitionFilter, keys: Collection[str], unknown: str) -> None:
    """Raise MetaError for a key that is none of these, for more than MOST_CONDITIONS, and beyond MOST_DEPTH."""
    stack, count = [(tree, 1)], 0
    while stack:
        condition, depth = stack.pop()
        _check_count(count := count + 1)
        if depth > MOST_DEPTH:
            raise MetaError(f"the conditions of a filter may be nested {MOST_DEPTH} deep, found more")
        match condition:
            case AllOf(parts) | AnyOf(parts):
                stack += [(part, depth + 1) for part in reversed(parts)]
            case Not(inner):
                stack.append((inner, depth + 1))
            case Comparison(key) | Like(key) | Among(key):
                if key not in keys:
                    raise MetaError(f"Invalid key name in filter: <{key}> {unknown}, expected one of {', '.join(keys)}")


class _Tree(Transformer[Token, Any]):
    """Converts the grammar's rules to the model's tree: each method converts the rule of its name, as Lark calls it."""

    def key(self, parts: list[Token]) -> str:
        return parts[0].strip("`").lower()

    def value(self, parts: list[Token]) -> Literal:
        token = parts[-1]
        if token.type == "NUMBER":
            return _int64(token)
        if token.type == "DATE":
            return str(token)
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)

    def pattern(self, parts: list[Token]) -> str:
        """A pattern's text; its backslashes stay, since each makes the next character literal."""
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
                raise MetaError(f"a struct of {len(keys)} keys must be compared with as many values, found {len(row)}")
        return AnyOf(tuple(AllOf(tuple(map(_equal, keys, row))) for row in rows))

    def not_together(self, parts: list[Any]) -> Not:
        return Not(self.together(parts))

    def negated(self, parts: list[Any]) -> PartitionFilter:
        inner = parts[0]
        return inner.inner if isinstance(inner, Not) else Not(inner)

    def all_of(self, parts: list[Any]) -> PartitionFilter:
        return parts[0] if len(parts) == 1 else AllOf(_flat(AllOf, parts))

    def any_of(self, parts: list[Any]) -> PartitionFilter:
        return parts[0] if len(parts) == 1 else AnyOf(_flat(AnyOf, parts))


def _flat(kind: type[AllOf] | type[AnyOf], parts: list[PartitionFilter]) -> tuple[PartitionFilter, ...]:
    """The parts; a first part of the same kind is replaced by its parts: Spark brackets every two conditions."""
    first, *others = parts
    flat = (*first.parts, *others) if isinstance(first, kind) else tuple(parts)
    _check_count(len(flat))
    return flat


def _check_count(conditions: int) -> None:
    if conditions > MOST_CONDITIONS:
        raise MetaError(f"a filter may have {MOST_CONDITIONS} conditions, found more; values of a key may be listed")


def _int64(token: str) -> int:
    """A whole number of 64 bits. Raises MetaError if the number is larger."""
    if len(token) <= _MOST_DIGITS and -(2**63) <= (number := int(token)) < 2**63:
        return number
    raise MetaError(f"a number in a filter must have 64 bits, found one of {len(token)} characters: {token[:40]}")


def _equal(key: str, value: Literal) -> Comparison:
    return Comparison(key, "=", value)


def _operator(text: str) -> str:
    return _SAME_OPERATORS.get(text, str(text))
