"""Reads the parts of an ORC file's footer that Arrow does not expose: stripes, types and bounds of columns (protobuf).

Bounds are read for types whose values may differ between Arrow and Spark: see orc.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

KINDS = {
    0: "boolean",
    1: "tinyint",
    2: "smallint",
    3: "int",
    4: "bigint",
    5: "float",
    6: "double",
    7: "string",
    8: "binary",
    9: "timestamp",
    14: "decimal",
    15: "date",
    16: "varchar",
    17: "char",
}
"""The names in Hive of primitive types, by their numbers in the format."""
_FOOTER, _STRIPES, _TYPES, _STATISTICS, _ENCRYPTION = 2, 3, 4, 7, 10
_STRIPE_INDEX, _STRIPE_DATA, _STRIPE_FOOTER, _STRIPE_ROWS = 2, 3, 4, 5
_KIND, _CHILDREN, _NAMES, _PRECISION, _SCALE = 1, 2, 3, 5, 6
_VALUES, _HAS_NULL, _DATES, _INSTANTS = 1, 10, 7, 9
_LEAST, _GREATEST, _LEAST_UTC, _GREATEST_UTC = 1, 2, 3, 4
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Stripe:
    """The number of bytes and of rows of a stripe."""

    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class OrcColumn:
    """A column: its type as Hive writes it, None for other kinds, the number of its values, and its bounds.

    Bounds are of dates in days, of timestamps in milliseconds, from 1970; None for other types, and where unknown.
    """

    type: str | None
    values: int
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class OrcFooter:
    """The stripes and the columns by name; `is_encrypted`: without a key some columns are read as other values."""

    stripes: tuple[Stripe, ...]
    columns: tuple[tuple[str, OrcColumn], ...]
    is_encrypted: bool


def read_footer(tail: bytes) -> OrcFooter:
    """The footer in a serialized file tail. Raises ValueError if there is none."""
    footer = _message(_last(_message(tail), _FOOTER))
    types = [_message(each) for each in footer.get(_TYPES, [])]
    statistics = [_message(each) for each in footer.get(_STATISTICS, [])]
    if not types:
        raise ValueError("the footer has no types")
    children = list(_packed_numbers(types[0].get(_CHILDREN, [])))
    names = [bytes(each).decode() for each in types[0].get(_NAMES, []) if isinstance(each, bytes)]
    columns = (_column(types[child], statistics[child] if child < len(statistics) else {}) for child in children)
    return OrcFooter(
        stripes=tuple(_stripe(_message(each)) for each in footer.get(_STRIPES, [])),
        columns=tuple(zip(names, columns, strict=True)),
        is_encrypted=_ENCRYPTION in footer,
    )


_Fields = dict[int, list[int | bytes]]


def _stripe(fields: _Fields) -> Stripe:
    sizes = (_number(fields, each) for each in (_STRIPE_INDEX, _STRIPE_DATA, _STRIPE_FOOTER))
    return Stripe(sum(sizes), _number(fields, _STRIPE_ROWS))


def _column(fields: _Fields, statistics: _Fields) -> OrcColumn:
    kind = KINDS.get(_number(fields, _KIND))
    if kind == "decimal":
        kind = f"decimal({_number(fields, _PRECISION)},{_number(fields, _SCALE)})"
    values = _number(statistics, _VALUES)
    if kind == "date" and _DATES in statistics:
        found = _message(_last(statistics, _DATES))
        return OrcColumn(kind, values, _signed_number(found, _LEAST), _signed_number(found, _GREATEST))
    if kind == "timestamp" and _INSTANTS in statistics:
        found = _message(_last(statistics, _INSTANTS))
        low, high = _signed_number(found, _LEAST_UTC), _signed_number(found, _GREATEST_UTC)
        return OrcColumn(kind, values, low, high)
    return OrcColumn(kind, values)


def _message(data: int | bytes) -> _Fields:
    """The fields of a message by their numbers, each with all of its values."""
    if not isinstance(data, bytes):
        raise ValueError("a message was expected, found a number")  # noqa: TRY004 - the file is wrong, not a type
    found: _Fields = {}
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        value: int | bytes
        kind = key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
        elif kind == _BYTES:
            size, place = _varint(data, place)
            value, place = data[place : place + size], place + size
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
            value, place = data[place : place + size], place + size
        else:
            raise ValueError(f"a field has the unknown kind {kind}")
        found.setdefault(key >> 3, []).append(value)
    return found


def _packed_numbers(values: list[int | bytes]) -> Iterator[int]:
    """Numbers, packed or not."""
    for each in values:
        if isinstance(each, int):
            yield each
            continue
        place = 0
        while place < len(each):
            number, place = _varint(each, place)
            yield number


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = 0
    for shift, byte in enumerate(islice(data, place, place + 10)):
        number |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return number, place + shift + 1
    raise ValueError("a number does not end")


def _last(fields: _Fields, number: int) -> int | bytes:
    if number not in fields:
        raise ValueError(f"the field {number} is missing")
    return fields[number][-1]


def _number(fields: _Fields, number: int) -> int:
    found = fields[number][-1] if number in fields else 0
    return found if isinstance(found, int) else 0


def _signed_number(fields: _Fields, number: int) -> int | None:
    """A number in zigzag form; None if it is absent."""
    if number not in fields:
        return None
    found = _number(fields, number)
    return (found >> 1) ^ -(found & 1)
