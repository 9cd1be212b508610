"""Object graphs in Kryo's bytes, as Hive writes them: read into plain values, never into objects of a named class.

Kryo writes a class as its registered number; an unregistered class as its name at the first use, and as a number after
that. An object is new, null, or the number of an earlier one. The bytes of a new object depend on the class's
serializer: nearly always the class's fields in order of their names. The bytes do not tell which fields a class has, so
only classes of a given table can be read. Two formats are in use: Kryo 3 (Hive 2.3 and 3.1) and Kryo 5 (Hive 4).
Source: Kryo's serializers.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmstats.errors import ProtocolError

MOST_OBJECTS = 200_000
DEEPEST = 150
"""The deepest nesting of objects; each nested condition takes two levels."""

_KRYO_5 = 5
_NULL, _NEW = 0, 1
_BY_NAME = 1
_FIRST_NUMBER = 2
_LAST_SHIFT = 56
"""The shift of the ninth and last byte of a number, of which all eight bits count."""
_TEXT, _TEXTS = "java.lang.String", "texts"

Fields: TypeAlias = Sequence[tuple[str, str]]
"""The fields of a class in order, each with its kind: a primitive or final class, `texts` for a list of texts, or `*`
for a value after its class."""


@dataclass(frozen=True, slots=True)
class Format:
    """A serialization format: Kryo's version, its registered classes, and the fields of readable classes."""

    version: int
    registered: Mapping[int, str]
    fields: Mapping[str, Fields]
    enums: frozenset[str]
    names_only: frozenset[str]
    """Classes that may be named, but whose objects are not read."""


@dataclass(slots=True)
class Object:
    """An object of a class that has fields."""

    kind: str
    fields: dict[str, Any]


def read_object(data: bytes, form: Format, kind: str | None) -> Any:
    """Deserialize one object; if `kind` is None, the bytes begin with its class. Raises ProtocolError."""
    reader = _Reader(data, form)
    found = reader.any_value() if kind is None else reader.value(kind, may_be_null=False)
    if reader.at != len(data):
        raise ProtocolError(f"a serialised object must end with its bytes, found {len(data) - reader.at} behind it")
    return found


class _Reader:
    """Reads values from the bytes, starting at a position."""

    def __init__(self, data: bytes, form: Format) -> None:
        self.data, self.at = data, 0
        self._form = form
        self._names: list[str] = []
        self._objects: list[Any] = []
        self._depth = self._count = 0

    def any_value(self) -> Any:
        """A class, then a value of it; None for null."""
        kind = self._class()
        return None if kind is None else self.value(kind, may_be_null=False)

    def value(self, kind: str, *, may_be_null: bool = True) -> Any:
        """A value of a class. A field of a final class may be null; a value after its class is not."""
        if kind in _WRAPPERS:
            present = not may_be_null or self.number() != _NULL
            return _WRAPPERS[kind](self) if present else None
        if self._form.version >= _KRYO_5 and kind in self._form.enums:
            present = not may_be_null or self.number() != _NULL
            return self.number() if present else None
        reference = self.number()
        if reference == _NULL:
            return None
        if reference != _NEW:
            return self._referenced(reference - _FIRST_NUMBER)
        return self._read_new(kind)

    def _referenced(self, index: int) -> Any:
        if not 0 <= index < len(self._objects):
            raise ProtocolError(f"a reference must be to one of {len(self._objects)} objects, found {index}")
        return self._objects[index]

    def _read_new(self, kind: str) -> Any:
        self._count += 1
        self._depth += 1
        if self._count > MOST_OBJECTS or self._depth > DEEPEST:
            raise ProtocolError(f"a serialised object has at most {MOST_OBJECTS} parts, {DEEPEST} inside each other")
        number = len(self._objects)
        self._objects.append(None)
        content = self._objects[number] = self._content(kind, number)
        self._depth -= 1
        return content

    def _content(self, kind: str, number: int) -> Any:
        if kind in self._form.fields:
            return self._fields(kind, number)
        if kind in self._form.enums:
            return self.number()
        read = _SERIALIZERS.get(kind)
        if read is None:
            raise ProtocolError(f"objects of class {kind!r} are not supported")
        return read(self)

    def _fields(self, kind: str, number: int) -> Object:
        content = self._objects[number] = Object(kind, {})
        for name, declared in self._form.fields[kind]:
            content.fields[name] = self._field(declared)
        return content

    def _field(self, declared: str) -> Any:
        read = _PRIMITIVES.get(declared)
        if read is not None:
            return read(self)
        if declared == "*":
            return self.any_value()
        if declared != _TEXTS:
            return self.value(declared)
        return None if self._class() is None else self.value(declared)

    def _class(self) -> str | None:
        number = self.number()
        if number == _NULL:
            return None
        if number != _BY_NAME:
            kind = self._form.registered.get(number - _FIRST_NUMBER)
            if kind is None:
                raise ProtocolError(f"no class is registered as {number - _FIRST_NUMBER}")
            return kind
        number = self.number()
        if number == len(self._names):
            self._names.append(self._name())
        if number >= len(self._names):
            raise ProtocolError(f"a class must be one of {len(self._names)} that were named, found {number}")
        return self._names[number]

    def _name(self) -> str:
        kind = self.text() or ""
        form = self._form
        if not any(kind in known for known in (form.fields, form.enums, form.names_only, _SERIALIZERS)):
            raise ProtocolError(f"class {kind[:200]!r} is not supported")
        return kind

    def read_bytes(self, size: int) -> bytes:
        """The next bytes."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise ProtocolError(f"a serialised object breaks off at byte {len(self.data)}")
        found = self.data[self.at : end]
        self.at = end
        return found

    def byte(self) -> int:
        """The next byte."""
        return self.read_bytes(1)[0]

    def number(self) -> int:
        """A whole number, 7 bits a byte, lowest first; 64 bits at most."""
        return self._rest_of_number(0, 0)

    def _rest_of_number(self, found: int, shift: int) -> int:
        while shift < _LAST_SHIFT:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return found
            shift += 7
        return found | self.byte() << shift

    def signed_number(self, bits: int = 32) -> int:
        """A signed whole number, its sign in the lowest bit."""
        number = self.number() & ((1 << bits) - 1)
        return (number >> 1) ^ -(number & 1)

    def flagged(self) -> tuple[bool, int]:
        """A flag, and a whole number whose first byte holds 6 bits."""
        byte = self.byte()
        low = byte & 0x3F
        return bool(byte & 0x80), self._rest_of_number(low, 6) if byte & 0x40 else low

    def text(self) -> str | None:
        """A text: ASCII up to a byte with the high bit, or a count of UTF-16 units and each of these in UTF-8."""
        start = self.at
        if not self.data[start : start + 1] or not self.data[start] & 0x80:
            return self._ascii()
        _, size = self.flagged()
        if size == 0:
            return None
        return self._units(size - 1)

    def _ascii(self) -> str:
        start = self.at
        while not self.byte() & 0x80:
            pass
        return (self.data[start : self.at - 1] + bytes([self.data[self.at - 1] & 0x7F])).decode("ascii")

    def _units(self, count: int) -> str:
        start = self.at
        if count > len(self.data) - start:
            raise ProtocolError(f"a text must have its {count} characters, found {len(self.data) - start} bytes")
        for _ in range(count):
            byte = self.byte()
            self.read_bytes(2 if byte >= 0xE0 else 1 if byte >= 0xC0 else 0)
        try:
            units = self.data[start : self.at].decode("utf-8", "surrogatepass")
            return units.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeError as error:
            raise ProtocolError("a text must be UTF-8") from error

    def collection(self) -> list[Any]:
        """The elements of a collection."""
        if self._form.version < _KRYO_5:
            return [self.any_value() for _ in self._times(self.number())]
        one_class, size = self.flagged()
        if size < 1:
            raise ProtocolError("a collection must have a size")
        if not one_class or size == 1:
            return [self.any_value() for _ in self._times(size - 1)]
        kind = self._class()
        if kind is None:
            return [None] * len(self._times(size - 1))
        has_null = self.byte() != 0
        return [self.value(kind, may_be_null=has_null) for _ in self._times(size - 1)]

    def texts(self) -> list[Any]:
        """The elements of a list whose declaration says that they are texts: none has its class."""
        count = self.number() if self._form.version < _KRYO_5 else self.flagged()[1] - 1
        return [self.value(_TEXT) for _ in self._times(count)]

    def array(self) -> list[Any]:
        """The elements of an array of objects."""
        return [self.any_value() for _ in self._times(self.number() - 1)]

    def array_list(self) -> list[Any]:
        """The elements of a list over an array: their number, the array's class, each with its own class."""
        count = self.number()
        self._class()
        return [self.any_value() for _ in self._times(count)]

    def _times(self, count: int) -> range:
        """A range over a count of elements. Raises ProtocolError if there is less than one byte for each."""
        if not 0 <= count <= len(self.data) - self.at:
            raise ProtocolError(f"a list must have its {count} elements, found {len(self.data) - self.at} bytes")
        return range(count)

    def unpacked(self, form: str) -> Any:
        """A number of fixed size: big-endian in Kryo 3, little-endian in Kryo 5."""
        form = f"{'>' if self._form.version < _KRYO_5 else '<'}{form}"
        return struct.unpack(form, self.read_bytes(struct.calcsize(form)))[0]


def _local_date(reader: _Reader) -> tuple[int, int, int]:
    return reader.number(), reader.byte(), reader.byte()


def _local_time(reader: _Reader) -> tuple[int, int, int, int]:
    """Hour, minute, second and nanoseconds; the last that is not 0 has its bits inverted, when it is one of three."""
    found = [0, 0, 0]
    for index in range(3):
        part = reader.byte()
        found[index] = part ^ 0xFF if part & 0x80 else part
        if part & 0x80:
            return found[0], found[1], found[2], 0
    return found[0], found[1], found[2], reader.number()


def _local_date_time(reader: _Reader) -> tuple[int, ...]:
    return (*_local_date(reader), *_local_time(reader))


_PRIMITIVES: dict[str, Callable[[_Reader], Any]] = {
    "boolean": lambda reader: reader.byte() != 0,
    "byte": lambda reader: (reader.byte() ^ 0x80) - 0x80,
    "short": lambda reader: reader.unpacked("h"),
    "int": lambda reader: reader.signed_number(),
    "long": lambda reader: reader.signed_number(64),
    "float": lambda reader: reader.unpacked("f"),
    "double": lambda reader: reader.unpacked("d"),
}
_WRAPPERS = {f"java.lang.{name}": _PRIMITIVES[name.lower()] for name in ("Boolean", "Byte", "Short", "Long", "Float")}
_WRAPPERS |= {"java.lang.Double": _PRIMITIVES["double"], "java.lang.Integer": _PRIMITIVES["int"]}
_SERIALIZERS: dict[str, Callable[[_Reader], Any]] = {
    _TEXT: _Reader.text,
    _TEXTS: _Reader.texts,
    "java.util.ArrayList": _Reader.collection,
    "java.util.HashSet": _Reader.collection,
    "java.util.Arrays$ArrayList": _Reader.array_list,
    "org.apache.hive.com.google.common.collect.AbstractMapBasedMultimap$RandomAccessWrappedList": _Reader.collection,
    "[Lorg.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;": _Reader.array,
    "byte[]": lambda reader: reader.read_bytes(reader.number() - 1),
    "java.sql.Date": lambda reader: Object("java.sql.Date", {"milliseconds": reader.unpacked("q")}),
    "java.sql.Timestamp": lambda reader: Object(
        "java.sql.Timestamp", {"milliseconds": reader.unpacked("q"), "nanos": reader.unpacked("i")}
    ),
    "java.time.LocalDate": _local_date,
    "java.time.LocalDateTime": _local_date_time,
}
