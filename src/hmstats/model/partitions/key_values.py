"""Values of partition keys with a type: converted and compared as Hive does. A value that has no such form is null."""

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, TypeAlias

from hmstats.errors import UnknownExpression
from hmstats.model.statistics.column_types import base_type

_EPOCH = date(1970, 1, 1)
_NANOSECONDS = 1_000_000_000
_DAY_NANOSECONDS = 86_400 * _NANOSECONDS
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "integer": 32, "bigint": 64}
_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")
_FALSE = frozenset({"", "0", "false", "no", "off"})
_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A timestamp without a zone: nanoseconds since the start of 1970."""

    nanoseconds: int


Value: TypeAlias = "str | int | float | Decimal | bool | date | Moment | tuple[Value, ...] | None"


def as_type(value: Value, kind: str) -> Value:
    """The value as one of a type, None when it has no such form. Raises UnknownExpression for an unknown conversion."""
    if value is None:
        return None
    base = base_type(kind)
    convert = _CONVERSIONS.get(base)
    if convert is None:
        raise UnknownExpression(f"a conversion to type {kind} is not supported")
    return convert(value, kind)


def compare_values(one: Value, other: Value) -> int | None:
    """Negative, 0 or positive if the first value is less, equal or greater; None if one is null or not comparable."""
    if one is None or other is None:
        return None
    if type(one) is type(other) and type(one) in _OWN_ORDER:
        return int(one > other) - int(one < other)  # type: ignore[operator]
    if isinstance(one, tuple) and isinstance(other, tuple):
        return _ordered_rows(one, other)
    common = _common(one, other)
    left, right = as_type(one, common), as_type(other, common)
    if left is None or right is None:
        return None
    a, b = _sortable(left), _sortable(right)
    return int(a > b) - int(a < b)


def _ordered_rows(one: tuple[Value, ...], other: tuple[Value, ...]) -> int:
    """Compare rows by their first values that differ; null is less than any other value."""
    if len(one) != len(other):
        raise UnknownExpression(f"rows of {len(one)} and {len(other)} values cannot be compared")
    orders = (_ordered_with_nulls(a, b) for a, b in zip(one, other, strict=True))
    return next((each for each in orders if each), 0)


def _ordered_with_nulls(one: Value, other: Value) -> int:
    order = compare_values(one, other)
    return (one is not None) - (other is not None) if order is None else order


def _common(one: Value, other: Value) -> str:
    """The type as which two values are compared."""
    kinds = {_kind(one), _kind(other)}
    if len(kinds) == 1:
        return kinds.pop()
    if "timestamp" in kinds and kinds <= {"timestamp", "date", "string"}:
        return "timestamp"
    if kinds == {"date", "string"}:
        return "date"
    if kinds == {"bigint", "decimal"}:
        return "exact"
    if kinds <= {"bigint", "decimal", "double", "string", "boolean"}:
        return "double"
    raise UnknownExpression(f"values of types {' and '.join(sorted(kinds))} cannot be compared")


def _kind(value: Value) -> str:
    """The type of a value."""
    return next(kind for type_, kind in _KINDS.items() if isinstance(value, type_))


_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "bigint",
    float: "double",
    Decimal: "decimal",
    str: "string",
    date: "date",
    Moment: "timestamp",
    tuple: "struct",
}


_OWN_ORDER = frozenset({bool, int, Decimal, str, date, Moment})
"""Types whose own order is Hive's; that of doubles is not."""


def _sortable(value: Any) -> Any:
    """Java's order of doubles: NaN equals itself and is above all."""
    return (math.isnan(value), 0.0 if math.isnan(value) else value) if isinstance(value, float) else value


def _integer(value: Value, kind: str) -> int | None:
    bits = _BITS[base_type(kind)]
    number: int | None
    match value:
        case str() if _WHOLE.fullmatch(value):
            number = _fitting(int(value), max(bits, 32))
        case bool() | int():
            number = int(value)
        case float() if math.isfinite(value):
            number = _nearest(int(value), bits)
        case Decimal():
            number = _fitting(int(value), bits)
        case _:
            number = None
    return None if number is None else _wrap(number, bits)


def _fitting(number: int, bits: int) -> int | None:
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None


def _nearest(number: int, bits: int) -> int:
    return max(-(1 << (bits - 1)), min(number, (1 << (bits - 1)) - 1))


def _wrap(number: int, bits: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _double(value: Value, _kind: str) -> float | None:
    match value:
        case bool() | int() | float() | Decimal():
            return float(value)
        case str():
            return _double_of_text(value.strip())
        case _:
            return None


def _double_of_text(text: str) -> float | None:
    if text.lstrip("+-") in ("NaN", "Infinity"):
        return float(text.replace("Infinity", "inf"))
    text = text.rstrip("dDfF") if text[-1:] in "dDfF" else text
    return float(text) if _NUMBER.fullmatch(text) else None


def _float(value: Value, kind: str) -> float | None:
    number = _double(value, kind)
    if number is None or not math.isfinite(number):
        return number
    try:
        rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return rounded


def _decimal(value: Value, kind: str) -> Decimal | None:
    number = _exact(value, kind)
    if number is None or "(" not in kind:
        return number
    precision, scale = (int(each) for each in kind.split("(")[1].rstrip(") ").split(","))
    if number.adjusted() >= _MOST_DIGITS:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    return rounded if rounded.is_zero() or rounded.adjusted() < precision - scale else None


def _exact(value: Value, _kind: str) -> Decimal | None:
    try:
        match value:
            case Decimal() | bool() | int():
                return Decimal(value)
            case float() if math.isfinite(value):
                return Decimal(repr(value))
            case str() if _NUMBER.fullmatch(value.strip()):
                return Decimal(value.strip())
            case _:
                return None
    except InvalidOperation:
        return None


def _boolean(value: Value, _kind: str) -> bool | None:
    match value:
        case bool() | int() | float() | Decimal():
            return value != 0
        case str():
            return value.lower() not in _FALSE
        case _:
            return None


def _string(value: Value, kind: str) -> str | None:
    text = _text(value)
    if text is None or "(" not in kind:
        return text
    return text[: int(kind.split("(")[1].rstrip(") "))]


def _char(value: Value, kind: str) -> str | None:
    text = _string(value, kind)
    return None if text is None else text.rstrip(" ")


def _text(value: Value) -> str | None:
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case date():
            return value.isoformat()
        case Moment(nanoseconds):
            return _moment_text(nanoseconds)
        case _:
            raise UnknownExpression(f"a conversion of type {_kind(value)} to text is not supported")


def _moment_text(nanoseconds: int) -> str | None:
    days, rest = divmod(nanoseconds, _DAY_NANOSECONDS)
    seconds, fraction = divmod(rest, _NANOSECONDS)
    day = (_EPOCH + timedelta(days=days)).isoformat()
    text = f"{day} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + (f".{fraction:09}".rstrip("0") if fraction else "")


def _date(value: Value, _kind: str) -> date | None:
    match value:
        case Moment(nanoseconds):
            return _EPOCH + timedelta(days=nanoseconds // _DAY_NANOSECONDS)
        case date():
            return value
        case str():
            return _day(re.split(r"[ T]", value.strip(), maxsplit=1)[0])
        case _:
            return None


def _day(text: str) -> date | None:
    found = _DATE.fullmatch(text)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _moment(value: Value, _kind: str) -> Moment | None:
    match value:
        case Moment():
            return value
        case date():
            return Moment((value - _EPOCH).days * _DAY_NANOSECONDS)
        case str():
            return _moment_of_text(value.strip())
        case _:
            raise UnknownExpression("a conversion of a number to a timestamp is not supported")


def _moment_of_text(text: str) -> Moment | None:
    day, *times = re.split(r"[ T]", text, maxsplit=1)
    start = _moment(_day(day), "") if _day(day) else None
    if start is None or not times:
        return start
    found = _TIME.fullmatch(times[0])
    if found is None:
        return None
    hour, minute, second = (int(each) for each in found.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int((found[4] or "0").ljust(9, "0"))
    return Moment(start.nanoseconds + (hour * 3600 + minute * 60 + second) * _NANOSECONDS + fraction)


_CONVERSIONS: dict[str, Callable[[Value, str], Value]] = {
    **dict.fromkeys(_BITS, _integer),
    "double": _double,
    "float": _float,
    "decimal": _decimal,
    "exact": _exact,
    "boolean": _boolean,
    "string": _string,
    "varchar": _string,
    "char": _char,
    "date": _date,
    "timestamp": _moment,
}
