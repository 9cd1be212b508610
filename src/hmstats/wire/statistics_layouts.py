"""Where the bytes of a ColumnStatisticsObj have its values: most objects of a request are the same but for these.

A layout is a struct.Struct that takes out the values and all bytes between them, which are compared: an object that was
seen before is read in a microsecond. Those of objects that follow one another again and again are one layout together
(Run). What is not quite as usual has no layout; that are sketches too.
Format: thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift; field ids as in hive_metastore.thrift.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import is_
from typing import Any, NamedTuple, TypeAlias

from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import Kind
from hmstats.model.statistics_by_field import KindOfColumn
from hmstats.wire.decimals import MAX_UNSCALED_BYTES

_STOP, _DOUBLE, _I16, _I64, _STRING, _STRUCT = 0, 4, 6, 10, 11, 12
_FORMATS = {_I64: "q", _DOUBLE: "d", _I16: "h"}
_NAME, _TYPE, _DATA = b"\x0b\x00\x01", b"\x0b\x00\x02", b"\x0c\x00\x03"
"""How the fields of an object begin: its name, its type and the union of its data."""
_END = b"\0\0\0"
"""How an object ends: its numbers, the union and the object."""
_LONGEST_HEAD, _HEADS, _LAYOUTS, _TABLES = 1_000, 4_000, 16, 200
"""What is kept: layouts of objects by their heads, no longer than so many bytes, and so many of each; tables."""

_LONGEST_RUN = 200
"""Objects: a run of so many takes 50 kB."""

_short = struct.Struct(">h").unpack_from
_size = struct.Struct(">I").unpack_from

_Grammar: TypeAlias = Mapping[int, tuple[int, Any]]
"""By field id its type and its name, or what a struct holds."""


class Unusual(Exception):
    """There is something that has no layout: the bytes are left to thriftpy2."""


def require(usual: bool) -> None:  # noqa: FBT001
    """Raises Unusual unless it is true."""
    if not usual:
        raise Unusual


class Layout(NamedTuple):
    """`unpack` takes out of a message at a place bytes and values in turn; the bytes are to be `constants`.

    The values are those of `fields`, with these `formats`; a decimal has two, "low unscaled" and "low scale". `size` is
    the object's.
    """

    column: KindOfColumn
    formats: tuple[str, ...]
    unpack: Callable[[bytes, int], tuple[Any, ...]]
    constants: tuple[bytes, ...]
    fields: tuple[str, ...]
    size: int


class Run(NamedTuple):
    """Layouts of objects that follow one another, as one; `bounds` are the places of each object's values among all."""

    layouts: tuple[Layout, ...]
    unpack: Callable[[bytes, int], tuple[Any, ...]]
    constants: tuple[bytes, ...]
    bounds: tuple[tuple[int, int], ...]
    size: int

    @classmethod
    def of(cls, layouts: Sequence[Layout]) -> "Run":
        """The layouts together."""
        constants = [b""]
        for layout in layouts:
            constants[-1] += layout.constants[0]  # no value stands between the end of one and the beginning of another
            constants += layout.constants[1:]
        formats = [each for layout in layouts for each in layout.formats]
        gaps = (f"{len(constant)}s{each}" for constant, each in zip(constants, [*formats, ""], strict=True))
        ends = [*accumulate(len(layout.formats) for layout in layouts)]
        made = struct.Struct(f">{''.join(gaps)}")
        bounds = tuple(zip([0, *ends], ends, strict=False))
        return cls(tuple(layouts), made.unpack_from, tuple(constants), bounds, made.size)

    def taken(self, message: bytes, at: int) -> list[tuple[Any, ...]] | None:
        """The values of each object, the first of which is at a place; None where they are others."""
        try:
            found = self.unpack(message, at)
        except struct.error:  # the message ends before
            return None
        if found[::2] != self.constants:
            return None
        values = found[1::2]
        return [values[start:end] for start, end in self.bounds]


class Repeated:
    """The objects of one table that came last; they become a run when the same come again. Used by many threads."""

    __slots__ = ("_last", "run")

    def __init__(self) -> None:
        self._last: list[Layout] = []
        self.run: Run | None = None

    def saw(self, layouts: Sequence[Layout]) -> None:
        """Take note of a set's objects."""
        if len(layouts) > _LONGEST_RUN:
            return
        last, self._last = self._last, [*layouts]
        if len(last) == len(layouts) and all(map(is_, last, layouts)):
            self.run = Run.of(layouts)


@lru_cache(maxsize=_TABLES)
def repeated(_table: TableName) -> Repeated:
    """Those of this table."""
    return Repeated()


def layout_of(message: bytes, at: int) -> tuple[Layout, tuple[Any, ...]]:
    """The layout of the object at a place, and what it takes out there.

    Raises Unusual, or struct.error, IndexError or UnicodeDecodeError where there is no usual object.
    """
    require(message.startswith(_NAME, at))
    type_at = at + 7 + _size(message, at + 3)[0]
    require(message.startswith(_TYPE, type_at))
    data_at = type_at + 7 + _size(message, type_at + 3)[0]
    end = data_at + 6
    require(message.startswith(_DATA, data_at) and end - at <= _LONGEST_HEAD)
    known = _known_layouts(message[at:end])
    for layout in known[:]:
        found = taken(layout, message, at)
        if found is not None:
            return layout, found
    layout = _layout(message, at, type_at, data_at)
    known.append(layout)
    if len(known) > _LAYOUTS:
        del known[0]
    return layout, layout.unpack(message, at)


def taken(layout: Layout, message: bytes, at: int) -> tuple[Any, ...] | None:
    """What the layout takes out at a place, bytes and values in turn; None where the object is another."""
    try:
        found = layout.unpack(message, at)
    except struct.error:  # the message ends before
        return None
    return found if found[::2] == layout.constants else None


@lru_cache(maxsize=_HEADS)
def _known_layouts(_head: bytes) -> list[Layout]:
    """The layouts of objects with this head that were seen last."""
    return []


def _layout(message: bytes, at: int, type_at: int, data_at: int) -> Layout:
    member = _short(message, data_at + 4)[0]
    require(message[data_at + 3] == _STRUCT and member in _MEMBERS)
    kind, grammar = _MEMBERS[member]
    values: list[_Value] = []
    end, _ = _find_values(message, data_at + 6, grammar, values)
    require(message.startswith(_END, end - 1))
    gaps, since = [">"], at
    for value in values:
        gaps.append(f"{value.begin - since}s{value.format}")
        since = value.end
    made = struct.Struct("".join([*gaps, f"{end + 2 - since}s"]))
    name, column_type = message[at + 7 : type_at].decode(), message[type_at + 7 : data_at].decode()
    column = KindOfColumn(name.lower(), column_type.lower(), kind)
    fields, formats = tuple(value.field for value in values), tuple(value.format for value in values)
    return Layout(column, formats, made.unpack_from, made.unpack_from(message, at)[::2], fields, made.size)


class _Value(NamedTuple):
    begin: int
    end: int
    format: str
    field: str


def _find_values(message: bytes, at: int, grammar: _Grammar, values: list[_Value]) -> tuple[int, int]:
    """Adds the values of the struct at a place. The place behind it, and how many of its fields are not there."""
    expected = dict(grammar)
    while message[at] != _STOP:
        kind, field = expected.pop(_short(message, at + 1)[0], (_STOP, ""))
        require(kind == message[at])
        at += 3
        if isinstance(field, str):
            begin, code = _place(message, kind, at)
            at = begin + struct.calcsize(f">{code}")
            values.append(_Value(begin, at, code, field))
        else:
            at, absent = _find_values(message, at, field, values)
            require(not absent)
    return at + 1, len(expected)


def _place(message: bytes, kind: int, at: int) -> tuple[int, str]:
    """Where a value begins, and its format."""
    if kind != _STRING:
        return at, _FORMATS[kind]
    (size,) = _size(message, at)
    require(0 < size <= MAX_UNSCALED_BYTES)
    return at + 4, f"{size}s"


def _bounded(low: tuple[int, Any], high: tuple[int, Any]) -> _Grammar:
    return {1: low, 2: high, 3: (_I64, "nulls"), 4: (_I64, "ndv")}


def _decimal(bound: str) -> _Grammar:
    return {1: (_STRING, f"{bound} unscaled"), 3: (_I16, f"{bound} scale")}


_TIMES: _Grammar = _bounded((_STRUCT, {1: (_I64, "low")}), (_STRUCT, {1: (_I64, "high")}))
_LENGTHS: _Grammar = {1: (_I64, "max_length"), 2: (_DOUBLE, "average_length"), 3: (_I64, "nulls")}
_MEMBERS: dict[int, tuple[Kind, _Grammar]] = {
    1: (Kind.BOOLEAN, {1: (_I64, "trues"), 2: (_I64, "falses"), 3: (_I64, "nulls")}),
    2: (Kind.LONG, _bounded((_I64, "low"), (_I64, "high"))),
    3: (Kind.DOUBLE, _bounded((_DOUBLE, "low"), (_DOUBLE, "high"))),
    4: (Kind.STRING, {**_LENGTHS, 4: (_I64, "ndv")}),
    5: (Kind.BINARY, _LENGTHS),
    6: (Kind.DECIMAL, _bounded((_STRUCT, _decimal("low")), (_STRUCT, _decimal("high")))),
    7: (Kind.DATE, _TIMES),
    8: (Kind.TIMESTAMP, _TIMES),
}
"""By its id in the union ColumnStatisticsData: a member's kind, and its fields but for sketches."""
