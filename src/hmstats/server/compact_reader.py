"""Reads a request in Thrift's compact protocol, as it arrives in pieces, and writes it in binary form.

Both protocols say the same things in another way, so nothing behind this file knows of the compact one. What comes out
passed the checks that the scanner has for binary requests: known types, sizes within the limit, values nested no deeper
than decoders go.
Format: thrift/doc/specs/thrift-compact-protocol.md of Apache Thrift.
"""

import struct
from dataclasses import dataclass

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.messages import CALL, MAX_NAME_BYTES, ONEWAY, Head, encode_head
from hmstats.server.scanner import MAX_DEPTH

PROTOCOL_ID = 0x82
VERSION = 1

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
"""The types of the compact protocol."""
BINARY_TYPES = {
    TRUE: 2,
    FALSE: 2,
    BYTE: 3,
    I16: 6,
    I32: 8,
    I64: 10,
    DOUBLE: 4,
    BINARY: 11,
    LIST: 15,
    SET: 14,
    MAP: 13,
    STRUCT: 12,
}
"""The same types in the binary protocol."""
LONG_COUNT = 15
"""Stands for a list's count that follows."""

_STOP = b"\0"
_FIELD = struct.Struct(">bh").pack
_ELEMENTS = struct.Struct(">bI").pack
_ENTRIES = struct.Struct(">bbI").pack
_SIZE = struct.Struct(">I").pack
_INTEGERS = {I16: struct.Struct(">h").pack, I32: struct.Struct(">i").pack, I64: struct.Struct(">q").pack}
_NO_ENTRIES = _ENTRIES(BINARY_TYPES[BINARY], BINARY_TYPES[BINARY], 0)
"""A map without entries, which says nothing of their types."""
_LONGEST_VARINT = 10


@dataclass(slots=True)
class _Fields:
    """A struct that is being read."""

    last: int = 0
    """The id of the last field, which the next one's is counted from."""


@dataclass(slots=True)
class _Values:
    """A list, set or map that is being read; a map's keys and values take turns."""

    left: int
    kinds: tuple[int, int]


class CompactReader:
    """Reads one message at the beginning of `inbox`, to which the caller only appends until the message is whole."""

    def __init__(self, inbox: bytearray, max_message_bytes: int) -> None:
        self.head: Head | None = None
        """What the message says before its arguments, once it has come."""
        self.size = 0
        """The bytes of `inbox` that were read."""
        self._inbox = inbox
        self._limit = max_message_bytes
        self._binary = bytearray()
        self._levels: list[_Fields | _Values] = []

    def read(self) -> bytes | None:
        """The message in binary form once it is whole, None before.

        Raises ProtocolError for bytes that can become no message, MessageTooLarge for one above the limit.
        """
        try:
            if self.head is None:
                self._read_head()
            while self._levels:
                self._step(self._levels[-1])
        except IndexError:  # more bytes must come; what was read whole is kept
            return None
        except struct.error as error:
            raise ProtocolError(f"an integer before byte {self.size + 12} does not fit its type") from error
        return bytes(self._binary)

    def _read_head(self) -> None:
        inbox = self._inbox
        protocol, mark = inbox[0], inbox[1]
        if protocol != PROTOCOL_ID or mark & 0x1F != VERSION:
            raise ProtocolError(f"a request must begin with 0x82 and version 1, found 0x{protocol:02x}{mark:02x}")
        kind = mark >> 5
        if kind not in (CALL, ONEWAY):
            raise ProtocolError(f"a request must be of message type 1 or 4, found {kind}")
        sequence, at = self._varint(2)
        size, at = self._varint(at)
        if not 0 < size <= MAX_NAME_BYTES:
            raise ProtocolError(f"a method's name must have 1 to {MAX_NAME_BYTES} bytes, found {size}")
        try:
            name = self._bytes(at, size).decode()
        except UnicodeDecodeError as error:
            raise ProtocolError("a method's name must be UTF-8") from error
        signed = (sequence & 0xFFFFFFFF) - ((sequence & 0x80000000) << 1)
        encoded = encode_head(name, kind, signed)
        self.head = Head(name, kind, signed, len(encoded))
        self._commit(encoded, at + size, _Fields())

    def _step(self, level: _Fields | _Values) -> None:
        if isinstance(level, _Fields):
            self._read_field(level)
        elif level.left:
            # An even count is followed by a key, an odd one by a value.
            self._read_value(level.kinds[level.left & 1], self.size, b"")
            level.left -= 1
        else:
            self._levels.pop()

    def _read_field(self, level: _Fields) -> None:
        mark = self._inbox[self.size]
        kind, step, at = mark & 15, mark >> 4, self.size + 1
        if kind == 0:
            self._levels.pop()
            self._commit(_STOP, at)
            return
        field = level.last + step
        if not step:
            raw, at = self._varint(at)
            field = _signed(raw)
        head = _FIELD(self._binary_type(kind), field)
        if kind in (TRUE, FALSE):
            self._commit(head + (b"\1" if kind == TRUE else b"\0"), at)
        else:
            self._read_value(kind, at, head)
        level.last = field

    def _read_value(self, kind: int, at: int, before: bytes) -> None:
        """Reads a value, but of containers and structs only the head; `before` goes before it."""
        if kind in _INTEGERS:
            raw, at = self._varint(at)
            self._commit(before + _INTEGERS[kind](_signed(raw)), at)
        elif kind == BINARY:
            size, at = self._size(at)
            self._commit(before + _SIZE(size) + self._bytes(at, size), at + size)
        elif kind == STRUCT:
            self._commit(before, at, _Fields())
        elif kind in (LIST, SET):
            self._read_elements(at, before)
        elif kind == MAP:
            self._read_entries(at, before)
        elif kind == DOUBLE:
            self._commit(before + self._bytes(at, 8)[::-1], at + 8)  # the lowest byte comes first
        elif kind == BYTE:
            self._commit(before + self._bytes(at, 1), at + 1)
        else:
            self._commit(before + (b"\1" if self._inbox[at] == TRUE else b"\0"), at + 1)

    def _read_elements(self, at: int, before: bytes) -> None:
        mark = self._inbox[at]
        kind, count, at = mark & 15, mark >> 4, at + 1
        if count == LONG_COUNT:
            count, at = self._size(at)
        head = _ELEMENTS(self._binary_type(kind), count)
        self._commit(before + head, at, _Values(count, (kind, kind)))

    def _read_entries(self, at: int, before: bytes) -> None:
        count, at = self._size(at)
        if not count:
            self._commit(before + _NO_ENTRIES, at)
            return
        mark = self._inbox[at]
        key, value = mark >> 4, mark & 15
        head = _ENTRIES(self._binary_type(key), self._binary_type(value), count)
        self._commit(before + head, at + 1, _Values(2 * count, (key, value)))

    def _commit(self, binary: bytes, at: int, level: _Fields | _Values | None = None) -> None:
        """Take note that all before `at` was read, and says this in binary form."""
        self._binary += binary
        self.size = at
        self._check_size(len(self._binary))
        if level is not None:
            self._levels.append(level)
            if len(self._levels) > MAX_DEPTH:
                raise ProtocolError(f"values may be nested {MAX_DEPTH} deep, found more")

    def _binary_type(self, kind: int) -> int:
        if kind not in BINARY_TYPES:
            raise ProtocolError(f"a value's type must be a code of Thrift, found {kind} behind byte {self.size}")
        return BINARY_TYPES[kind]

    def _size(self, at: int) -> tuple[int, int]:
        """A size or count, and the place behind it."""
        size, at = self._varint(at)
        self._check_size(len(self._binary) + size)
        return size, at

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            raise MessageTooLarge(f"a request may have {self._limit} bytes, found one of at least {size}")

    def _varint(self, at: int) -> tuple[int, int]:
        """Seven bits a byte, the lowest first, and the place behind it."""
        value = 0
        for place in range(_LONGEST_VARINT):
            byte = self._inbox[at + place]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value, at + place + 1
        raise ProtocolError(f"an integer may have {_LONGEST_VARINT} bytes, found more behind byte {at}")

    def _bytes(self, at: int, size: int) -> bytes:
        found = bytes(self._inbox[at : at + size])
        if len(found) < size:
            raise IndexError
        return found


def _signed(raw: int) -> int:
    """The zigzag form: even numbers are the positive ones."""
    return (raw >> 1) ^ -(raw & 1)
