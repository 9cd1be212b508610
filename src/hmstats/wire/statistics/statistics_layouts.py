"""Layouts: the positions of the values in the bytes of a ColumnStatisticsObj.

Most objects of a request differ only in their values. A layout extracts the values and compares the bytes between them,
so that an object with a known layout is read in a microsecond. Layouts of objects that repeatedly follow each other
become one layout (Run). Sketches differ in length, so the bytes between two of them are a part of their own. An unusual
object has no layout. Format: thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift; field ids as in
hive_metastore.thrift.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, zip_longest
from operator import is_
from typing import Any, NamedTuple, TypeAlias

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.statistics_by_field import SKETCHES, KindOfColumn
from hmstats.wire.statistics.decimals import MAX_UNSCALED_BYTES

_STOP, _DOUBLE, _I16, _I64, _STRING, _STRUCT = 0, 4, 6, 10, 11, 12
_FORMATS = {_I64: "q", _DOUBLE: "d", _I16: "h"}
_SKETCH, _SIZE_BEFORE = "sketch", "I"
"""The format of a value of variable length, and that of the length before it."""
_NAME, _TYPE, _DATA = b"\x0b\x00\x01", b"\x0b\x00\x02", b"\x0c\x00\x03"
"""The heads of an object's fields: its name, its type and the union of its data."""
_END = b"\0\0\0"
"""The stop bytes at the end of an object: of its numbers, of the union and of the object."""
_LONGEST_HEAD, _HEADS, _LAYOUTS, _TABLES = 1_000, 4_000, 16, 200
"""Limits of the caches: bytes of a head, number of heads, layouts for each head, tables."""

_LONGEST_RUN = 200
"""The most objects in a run, which then takes 50 kB."""

_short = struct.Struct(">h").unpack_from
_size = struct.Struct(">I").unpack_from

_Grammar: TypeAlias = Mapping[int, tuple[int, Any]]
"""Field id to the field's type and its name, or a struct's inner fields."""


class Unusual(Exception):
    """Raised for bytes without a layout, which thriftpy2 must decode."""


def require(usual: bool) -> None:  # noqa: FBT001
    """Raise Unusual unless `usual` is true."""
    if not usual:
        raise Unusual


class _Part(NamedTuple):
    """A part of a layout: `unpack` reads bytes and values in turn at a position; the bytes must equal `constants`."""

    unpack: Callable[[bytes, int], tuple[Any, ...]]
    constants: tuple[bytes, ...]
    size: int


class _Parts(NamedTuple):
    """The parts before each sketch, whose last value is the sketch's length, and the part after the last sketch."""

    before: tuple[_Part, ...]
    last: _Part

    @classmethod
    def of(cls, constants: Sequence[bytes], formats: Sequence[str]) -> "_Parts":
        """The parts of an object whose values have these formats and stand between these constant bytes."""
        before, start = [], 0
        for index, each in enumerate(formats):
            if each == _SKETCH:
                before.append(_part(constants[start : index + 1], [*formats[start:index], _SIZE_BEFORE]))
                start = index + 1
        return cls(tuple(before), _part(constants[start:], formats[start:]))

    def read(self, message: bytes, at: int) -> tuple[list[Any], int] | None:
        """The values at a position, and the position after them; None if the bytes do not fit."""
        values: list[Any] = []
        try:
            for unpack, constants, size in self.before:
                fields = unpack(message, at)
                if fields[::2] != constants:
                    return None
                *numbers, length = fields[1::2]
                begin = at + size
                at = begin + length
                values += (*numbers, message[begin:at])
            fields = self.last.unpack(message, at)
        except struct.error:  # the message ends too early
            return None
        if fields[::2] != self.last.constants:
            return None
        values += fields[1::2]
        return values, at + self.last.size


def _part(constants: Sequence[bytes], formats: Sequence[str]) -> _Part:
    gaps = (f"{len(constant)}s{each}" for constant, each in zip_longest(constants, formats, fillvalue=""))
    packed = struct.Struct(f">{''.join(gaps)}")
    return _Part(packed.unpack_from, tuple(constants), packed.size)


class Layout(NamedTuple):
    """The layout of one object with values of `fields`; a decimal has two, "low unscaled" and "low scale".

    The values have these `formats` and stand between `constants`.
    """

    column: KindOfColumn
    fields: tuple[str, ...]
    formats: tuple[str, ...]
    constants: tuple[bytes, ...]
    parts: _Parts


class Run(NamedTuple):
    """Layouts of consecutive objects as one; `bounds` are the ranges of each object's values among all values."""

    layouts: tuple[Layout, ...]
    parts: _Parts
    bounds: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, layouts: Sequence[Layout]) -> "Run":
        """Join the layouts."""
        constants = [b""]
        for layout in layouts:
            constants[-1] += layout.constants[0]  # no value stands between the end of one and the beginning of another
            constants += layout.constants[1:]
        formats = [each for layout in layouts for each in layout.formats]
        ends = [*accumulate(len(layout.formats) for layout in layouts)]
        bounds = tuple(zip([0, *ends], ends, strict=False))
        return cls(tuple(layouts), _Parts.of(constants, formats), bounds)

    def read(self, message: bytes, at: int) -> tuple[list[Sequence[Any]], int] | None:
        """The values of each object from a position on, and the position after them; None if the bytes do not fit."""
        values_and_end = self.parts.read(message, at)
        if values_and_end is None:
            return None
        values, end = values_and_end
        return [values[first:behind] for first, behind in self.bounds], end


class RecentLayouts:
    """The layouts of a table's latest set; if the next set has the same, they become a run. Thread-safe."""

    __slots__ = ("_last", "run")

    def __init__(self) -> None:
        self._last: list[Layout] = []
        self.run: Run | None = None

    def record(self, layouts: Sequence[Layout]) -> None:
        """Record the layouts of a set's objects."""
        if len(layouts) > _LONGEST_RUN:
            return
        last, self._last = self._last, [*layouts]
        if len(last) == len(layouts) and all(map(is_, last, layouts)):
            self.run = Run.of(layouts)


@lru_cache(maxsize=_TABLES)
def recent_layouts(_table: TableName) -> RecentLayouts:
    """The layouts of recent requests for this table, empty at first."""
    return RecentLayouts()


def layout_of(message: bytes, at: int) -> tuple[Layout, Sequence[Any], int]:
    """The layout of the object at a position, its values, and the position after it.

    Raises Unusual, struct.error, IndexError or UnicodeDecodeError if there is no usual object.
    """
    require(message.startswith(_NAME, at))
    type_at = at + 7 + _size(message, at + 3)[0]
    require(message.startswith(_TYPE, type_at))
    data_at = type_at + 7 + _size(message, type_at + 3)[0]
    end = data_at + 6
    require(message.startswith(_DATA, data_at) and end - at <= _LONGEST_HEAD)
    cached = _layouts_of_head(message[at:end])
    for layout in cached[:]:
        values_and_end = layout.parts.read(message, at)
        if values_and_end is not None:
            return layout, *values_and_end
    layout = _layout(message, at, type_at, data_at)
    cached.append(layout)
    if len(cached) > _LAYOUTS:
        del cached[0]
    values_and_end = layout.parts.read(message, at)
    if values_and_end is None:
        raise Unusual
    return layout, *values_and_end


@lru_cache(maxsize=_HEADS)
def _layouts_of_head(_head: bytes) -> list[Layout]:
    """The recent layouts of objects with this head."""
    return []


def _layout(message: bytes, at: int, type_at: int, data_at: int) -> Layout:
    member = _short(message, data_at + 4)[0]
    require(message[data_at + 3] == _STRUCT and member in _MEMBERS)
    kind, grammar = _MEMBERS[member]
    values: list[_Value] = []
    end, _ = _find_values(message, data_at + 6, grammar, values)
    require(message.startswith(_END, end - 1))
    begins, ends = [value.begin for value in values], [value.end for value in values]
    constants = tuple(message[since:until] for since, until in zip([at, *ends], [*begins, end + 2], strict=True))
    name, column_type = message[at + 7 : type_at].decode(), message[type_at + 7 : data_at].decode()
    column = KindOfColumn(name.lower(), column_type.lower(), kind)
    fields, formats = tuple(value.field for value in values), tuple(value.format for value in values)
    return Layout(column, fields, formats, constants, _Parts.of(constants, formats))


class _Value(NamedTuple):
    """A value in the bytes of an object: its place, its format for struct, and the field that it is of."""

    begin: int
    end: int
    format: str
    field: str


def _find_values(message: bytes, at: int, grammar: _Grammar, values: list[_Value]) -> tuple[int, int]:
    """Add the values of the struct at a position; returns its end, and how many fields are unset."""
    expected = dict(grammar)
    while message[at] != _STOP:
        kind, field = expected.pop(_short(message, at + 1)[0], (_STOP, ""))
        require(kind == message[at])
        at += 3
        if isinstance(field, str):
            value = _value(message, kind, at, field)
            values.append(value)
            at = value.end
        else:
            at, absent = _find_values(message, at, field, values)
            require(not absent)
    return at + 1, len(expected)


def _value(message: bytes, kind: int, at: int, field: str) -> _Value:
    """The value at a position, with the length before it if it is a sketch."""
    if kind != _STRING:
        code = _FORMATS[kind]
        return _Value(at, at + struct.calcsize(f">{code}"), code, field)
    (size,) = _size(message, at)
    end = at + 4 + size
    if field in SKETCHES:
        return _Value(at, end, _SKETCH, field)
    require(0 < size <= MAX_UNSCALED_BYTES)
    return _Value(at + 4, end, f"{size}s", field)


def _bounded(low: tuple[int, Any], high: tuple[int, Any]) -> _Grammar:
    counts = {3: (_I64, "nulls"), 4: (_I64, "ndv")}
    return {1: low, 2: high, **counts, 5: (_STRING, "bit_vector"), 6: (_STRING, "histogram")}


def _decimal(bound: str) -> _Grammar:
    return {1: (_STRING, f"{bound} unscaled"), 3: (_I16, f"{bound} scale")}


_TIMES: _Grammar = _bounded((_STRUCT, {1: (_I64, "low")}), (_STRUCT, {1: (_I64, "high")}))
_LENGTHS: _Grammar = {1: (_I64, "max_length"), 2: (_DOUBLE, "average_length"), 3: (_I64, "nulls")}
_MEMBERS: dict[int, tuple[Kind, _Grammar]] = {
    1: (Kind.BOOLEAN, {1: (_I64, "trues"), 2: (_I64, "falses"), 3: (_I64, "nulls")}),
    2: (Kind.LONG, _bounded((_I64, "low"), (_I64, "high"))),
    3: (Kind.DOUBLE, _bounded((_DOUBLE, "low"), (_DOUBLE, "high"))),
    4: (Kind.STRING, {**_LENGTHS, 4: (_I64, "ndv"), 5: (_STRING, "bit_vector")}),
    5: (Kind.BINARY, _LENGTHS),
    6: (Kind.DECIMAL, _bounded((_STRUCT, _decimal("low")), (_STRUCT, _decimal("high")))),
    7: (Kind.DATE, _TIMES),
    8: (Kind.TIMESTAMP, _TIMES),
}
"""Id in the union ColumnStatisticsData to the member's kind and its fields."""
