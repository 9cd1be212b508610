"""Parses the text of a DESCRIBE statement."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hmstats.errors import StatementError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, table_name
from hmstats.model.catalog.objects import DEFAULT_DATABASE, TableName

FORM = "DESCRIBE [FORMATTED | EXTENDED] [db.]t [PARTITION (k=v, ...)] [column]"
_TOKEN = re.compile(
    r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<number>-?\d+(?:\.\d+)?(?![\w]))|(?P<word>[^\W]+)|(?P<sign>[.(),=]))\s*"
)
_VERB = re.compile(r"\s*desc(ribe)?\s", re.IGNORECASE)
_LAYOUT = re.compile(r"\s*(formatted|extended)\s+\S", re.IGNORECASE)
_END = ("end", "")
Token = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Describe:
    """A statement as it is written, with the names of the table in lower case. `column` is as the writer spells it."""

    table: TableName
    column: str | None = None
    partition: Mapping[str, str] | None = None
    formatted: bool = False
    extended: bool = False


def completed(text: str) -> str:
    """The statement with DESCRIBE FORMATTED added, if a user has left DESCRIBE out."""
    if not text.strip() or _VERB.match(text):
        return text
    return f"DESCRIBE {text}" if _LAYOUT.match(text) else f"DESCRIBE FORMATTED {text}"


def parse(text: str) -> Describe:
    """The statement in a text. Raises StatementError with the place where it cannot be read."""
    return _Reader(text).statement()


class _Reader:
    """Reads a statement from the left to the right."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._place = 0

    def statement(self) -> Describe:
        if not (self._word("describe") or self._word("desc")):
            raise self._error()
        several = self._tokens[self._place + 1 :][:1] not in ([], [_END])
        formatted = several and self._word("formatted")
        extended = several and not formatted and self._word("extended")
        *outer, table = self._names()
        column = self._column()
        partition = self._partition()
        column = column or self._column()
        if self._token != _END:
            raise self._error()
        name = table_name(outer[-1] if outer else DEFAULT_DATABASE, table, outer[0] if outer[1:] else None)
        return Describe(name, column, partition, formatted, extended)

    @property
    def _token(self) -> Token:
        return self._tokens[self._place]

    def _names(self) -> list[str]:
        names = [self._name()]
        while len(names) < 3 and self._sign("."):
            names.append(self._name())
        return names

    def _column(self) -> str | None:
        kind, text = self._token
        if kind == "end" or (kind == "word" and text.lower() == "partition"):
            return None
        return self._name()

    def _partition(self) -> dict[str, str] | None:
        if not self._word("partition"):
            return None
        self._expect("(")
        spec = dict([self._pair()])
        while self._sign(","):
            spec.update([self._pair()])
        self._expect(")")
        return spec

    def _pair(self) -> tuple[str, str]:
        key = self._name()
        self._expect("=")
        kind, value = self._token
        if kind in ("end", "sign", "quoted"):
            raise self._error()
        self._place += 1
        null = kind == "word" and value.lower() == "null"
        return key.lower(), NULL_PARTITION_VALUE if null else value

    def _name(self) -> str:
        kind, text = self._token
        if kind not in ("word", "quoted"):
            raise self._error()
        self._place += 1
        return text

    def _word(self, word: str) -> bool:
        kind, text = self._token
        found = kind == "word" and text.lower() == word
        self._place += found
        return found

    def _sign(self, sign: str) -> bool:
        found = self._token == ("sign", sign)
        self._place += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._sign(sign):
            raise self._error()

    def _error(self) -> StatementError:
        kind, text = self._token
        found = "its end" if kind == "end" else repr(text)
        return StatementError(f"the statement cannot be read at {found}; the form is {FORM}")


def _tokens(text: str) -> Iterator[Token]:
    """The parts of a text, and its end. Raises StatementError at what is no part."""
    place, stop = 0, text.rstrip().removesuffix(";")
    while place < len(stop):
        part = _TOKEN.match(stop, place)
        if part is None:
            raise StatementError(f"the statement cannot be read at {stop[place:][:20]!r}; the form is {FORM}")
        place = part.end()
        yield str(part.lastgroup), _value(part)
    yield _END


def _value(part: re.Match[str]) -> str:
    if part["quoted"]:
        return part["quoted"].replace("``", "`")
    if part["text"]:
        return re.sub(r"\\(.)", r"\1", part["text"][1:-1])
    return part[part.lastgroup or 0]
