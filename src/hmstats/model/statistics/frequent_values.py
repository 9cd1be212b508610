"""A column's frequent values, and the one text form that each value has as an item of a sketch.

boolean            true or false
long               digits
double             the shortest decimal that reads back the same; 0.0 stands for -0.0; nan, inf and -inf
decimal            plain digits, no exponent, no zeros at the end
date, timestamp    days, whole seconds since 1970-01-01, as digits: what the bounds and the distinct count have
string             itself; a longer one than MOST_CHARACTERS counts under its beginning
binary             hexadecimal digits, two a byte; cut in the same way
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from hmstats.errors import SketchError
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.python_values import PythonValue

MOST_CHARACTERS = 256

Value: TypeAlias = bool | int | float | Decimal | str | bytes


@dataclass(frozen=True, slots=True)
class FrequentValue:
    """A value that occurs at least `low` and at most `high` times; `high` is also the best estimate."""

    value: PythonValue
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class FrequentValues:
    """The most frequent values, the most frequent first. `count` is how many values there are in all, nulls left out.

    A value that is not among them occurs at most `unlisted` times. `exact`: every number here is.
    """

    values: tuple[FrequentValue, ...]
    count: int
    unlisted: int
    exact: bool


def items(kind: Kind, values: Iterable[Any]) -> list[str]:
    """The text form of each value of this kind; a string may be given as its bytes."""
    form = _ITEMS[kind]
    return [form(each) for each in values]


def value(kind: Kind, text: str) -> Value:
    """The value that has this text form. Raises SketchError when none of this kind has it."""
    try:
        return _VALUES[kind](text)
    except (ValueError, KeyError, InvalidOperation) as error:
        raise SketchError(f"a frequent value of kind {kind.name} is invalid: {text[:40]!r}") from error


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text[:MOST_CHARACTERS]


_ITEMS: dict[Kind, Callable[[Any], str]] = {
    Kind.BOOLEAN: lambda flag: "true" if flag else "false",
    Kind.LONG: lambda number: str(int(number)),
    Kind.DOUBLE: lambda number: repr(float(number) + 0.0),
    Kind.DECIMAL: _plain,
    Kind.DATE: lambda days: str(int(days)),
    Kind.TIMESTAMP: lambda seconds: str(int(seconds)),
    Kind.STRING: _text,
    Kind.BINARY: lambda content: content[: MOST_CHARACTERS // 2].hex(),
}
_VALUES: dict[Kind, Callable[[str], Value]] = {
    Kind.BOOLEAN: lambda text: {"true": True, "false": False}[text],
    Kind.LONG: int,
    Kind.DOUBLE: float,
    Kind.DECIMAL: Decimal,
    Kind.DATE: int,
    Kind.TIMESTAMP: int,
    Kind.STRING: str,
    Kind.BINARY: bytes.fromhex,
}
