"""Parses the text of a DESCRIBE statement."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from hmstats.errors import HmstatsError, StatementError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, table_name
from hmstats.model.catalog.objects import DEFAULT_DATABASE, TableName

FORM = "DESCRIBE [FORMATTED | EXTENDED] [db.]t [PARTITION (k=v, ...)] [column]"
_GRAMMAR = r"""
start: _DESCRIBE LAYOUT? table (name | partition | name partition | partition name)?
table: name ("." name)~0..2
partition: _PARTITION "(" pair ("," pair)* ")"
pair: name "=" value
name: WORD | QUOTED
value: TEXT | NUMBER | WORD
_DESCRIBE.3: /desc(ribe)?\b/i
LAYOUT.3: /(formatted|extended)\b(?!\s*$)/i
_PARTITION.3: /partition\b/i
NUMBER.2: /-?\d+(\.\d+)?(?!\w)/
WORD: /(?!\d+(\.\d+)?(?!\w))\w+/
QUOTED: /`([^`]|``)+`/
TEXT: /'([^'\\]|\\.)*'|"([^"\\]|\\.)*"/
%ignore /\s+/
"""
_VERB = re.compile(r"\s*desc(ribe)?\s", re.IGNORECASE)
_LAYOUT = re.compile(r"\s*(formatted|extended)\s+\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Describe:
    """A statement as it is written, with the names of the table in lower case. `column` is as the writer spells it."""

    table: TableName
    column: str | None = None
    partition: Mapping[str, str] | None = None
    formatted: bool = False
    extended: bool = False


def complete_statement(text: str) -> str:
    """The statement with DESCRIBE FORMATTED added, if a user has left DESCRIBE out."""
    if not text.strip() or _VERB.match(text):
        return text
    return f"DESCRIBE {text}" if _LAYOUT.match(text) else f"DESCRIBE FORMATTED {text}"


def parse(text: str) -> Describe:
    """The statement in a text. Raises StatementError with the place where it cannot be read."""
    statement = text.rstrip().removesuffix(";")
    try:
        return _Reader().transform(_parser().parse(statement))
    except UnexpectedInput as error:
        raise StatementError(
            f"the statement cannot be read at {_position(error, statement)}; the form is {FORM}"
        ) from error
    except VisitError as error:
        if isinstance(error.orig_exc, HmstatsError):
            raise error.orig_exc from error
        raise


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr")


def _position(error: UnexpectedInput, statement: str) -> str:
    if isinstance(error, UnexpectedCharacters):
        return repr(statement[error.pos_in_stream :][:20])
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        return str(error.token) if error.token.type == "TEXT" else repr(str(error.token))
    return "its end"


class _Reader(Transformer[Token, Describe]):
    """Makes a statement from its tree: each method converts the grammar's rule of its name, as Lark calls it."""

    def start(self, parts: list[Any]) -> Describe:
        """The whole statement."""
        layout = parts.pop(0).lower() if isinstance(parts[0], Token) else ""
        table, *rest = parts
        column = next((each for each in rest if isinstance(each, str)), None)
        partition = next((each for each in rest if isinstance(each, dict)), None)
        return Describe(table, column, partition, layout == "formatted", layout == "extended")

    def table(self, names: list[str]) -> TableName:
        *outer, table = names
        return table_name(outer[-1] if outer else DEFAULT_DATABASE, table, outer[0] if outer[1:] else None)

    def partition(self, pairs: list[tuple[str, str]]) -> dict[str, str]:
        return dict(pairs)

    def pair(self, parts: list[str]) -> tuple[str, str]:
        key, value = parts
        return key.lower(), value

    def name(self, parts: list[Token]) -> str:
        (token,) = parts
        return token[1:-1].replace("``", "`") if token.type == "QUOTED" else str(token)

    def value(self, parts: list[Token]) -> str:
        (token,) = parts
        if token.type == "TEXT":
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        return NULL_PARTITION_VALUE if token.lower() == "null" else str(token)
