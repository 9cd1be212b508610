"""Parameters of operations: what a request gives is checked here, once, by the same words that describe it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from hmstats.errors import StatementError
from hmstats.outlets.people.times import past_ms
from hmstats.web.reading.selections import Selection

MOST_CHARACTERS = 4_000
TIMES = (
    r"^([0-9]{1,6} ?[wdhms]( ago)?|[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?Z)$"
)
"""Times as ISO 8601 in UTC, or so long ago: what descriptions of the API say; offsets are taken too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter in the path or the query.

    `least` and `most` bound an integer; a text has at least one character, and is one of `choices` if there are any.
    """

    name: str
    place: Literal["path", "query"] = "query"
    description: str
    kind: Literal["string", "integer", "time"] = "string"
    least: int | None = None
    most: int | None = None
    default: int | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    """Whether one in the query must be given; one in the path always is."""

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its value."""
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        if self.kind == "string":
            return {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS}
        if self.kind == "time":
            return {"type": "string", "pattern": TIMES}
        bounds = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return bounds if self.default is None else bounds | {"default": self.default}

    def read(self, text: str) -> str | int:
        """The value in a request. Raises StatementError, naming the parameter, for one that it cannot have."""
        if self.kind == "time":
            past_ms(self.name, text, time.time())
            return text
        if self.choices and text not in self.choices:
            raise StatementError(f"{self.name} must be one of {', '.join(self.choices)}, found {text[:60]!r}")
        if self.kind == "string":
            if not 1 <= len(text) <= MOST_CHARACTERS:
                raise StatementError(f"{self.name} must have 1 to {MOST_CHARACTERS:,} characters, found {len(text):,}")
            if "\x00" in text:
                raise StatementError(f"{self.name} must be text, found the character NUL")
            return text
        number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None
        if number is None or not (self.least or 0) <= number <= (self.most or 0):
            raise StatementError(
                f"{self.name} must be a whole number from {self.least} to {self.most}, found {text[:60]!r}"
            )
        return number


class Arguments:
    """The values of a request's parameters."""

    def __init__(self, values: Mapping[str, str | int]) -> None:
        self._values = values

    def text(self, name: str) -> str | None:
        """The text of a parameter, None when it was not given."""
        value = self._values.get(name)
        return None if value is None else str(value)

    def required(self, name: str) -> str:
        """The text of a parameter that must be given."""
        return str(self._values[name])

    def number(self, name: str) -> int:
        """The number of a parameter that has a default."""
        return int(self._values[name])

    def optional_number(self, name: str) -> int | None:
        """The number of a parameter, None when it was not given."""
        value = self._values.get(name)
        return None if value is None else int(value)

    @property
    def selection(self) -> Selection:
        """The partitions that the request is about."""
        return Selection(self.text("from"), self.text("to"), self.text("where"), self.text("as_of"))


def parse_arguments(
    parameters: Sequence[Parameter], path: Mapping[str, str], query: Sequence[tuple[str, str]]
) -> Arguments:
    """The values of all parameters, of which those in the path are still encoded.

    Raises StatementError for a parameter that is unknown, given twice, or has a value that it cannot have.
    """
    known = {each.name: each for each in parameters if each.place == "query"}
    values: dict[str, str | int] = {each.name: each.default for each in parameters if each.default is not None}
    seen = set[str]()
    for name, text in query:
        if name not in known:
            raise StatementError(f"there is no parameter {name[:60]!r}, only {', '.join(known) or 'none'}")
        if name in seen:
            raise StatementError(f"parameter {name} must be given once")
        seen.add(name)
        values[name] = known[name].read(text)
    missing = [each.name for each in parameters if each.required and each.name not in seen]
    if missing:
        raise StatementError(f"parameter {missing[0]} must be given")
    values |= {each.name: each.read(unquote(path[each.name])) for each in parameters if each.place == "path"}
    return Arguments(values)
