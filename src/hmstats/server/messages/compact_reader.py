"""Reads a request in Thrift's compact protocol, as it arrives in pieces, and writes it in binary form.

No other file depends on the compact protocol. The output has passed the checks that the scanner makes of
binary requests: known types, sizes within the limit, values nested no deeper than decoders go, no more structs, lists,
sets and maps than the binary form's bytes pay for. A value takes up to a microsecond, so long requests are read in
several turns. Format: thrift/doc/specs/thrift-compact-protocol.md of Apache Thrift.
"""

import struct
from dataclasses import dataclass

import numpy as np

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.wire.messages.allowance import COMPACT_BYTES_OF_CONTAINER, Allowance
from hmstats.wire.messages.envelope import CALL, MAX_NAME_BYTES, ONEWAY, Head, encode_head
from hmstats.wire.messages.scanner import MAX_DEPTH

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
"""Compact type codes to those of the binary protocol."""
LONG_COUNT = 15
"""The count in a list's head that means that the real count follows."""

_STOP = b"\0"
_FIELD = struct.Struct(">bh").pack
_ELEMENTS = struct.Struct(">bI").pack
_ENTRIES = struct.Struct(">bbI").pack
_SIZE = struct.Struct(">I").pack
_INTEGERS = {I16: struct.Struct(">h").pack, I32: struct.Struct(">i").pack, I64: struct.Struct(">q").pack}
_NO_ENTRIES = _ENTRIES(BINARY_TYPES[BINARY], BINARY_TYPES[BINARY], 0)
"""The head of an empty map, whose types the compact protocol omits."""
_QUICK = frozenset({TRUE, FALSE, I16, I32, I64, BINARY})
"""The types of fields that are read in one loop."""
_LONG = 0x80
"""A byte of a size or an integer from which on another one follows."""
_LONGEST_VARINT = 10
_VALUES_AT_ONCE = 10_000
"""Values that one call of `read` reads, in some ten milliseconds."""
_INTEGERS_AT_ONCE = 100_000
"""Integers of a list that one call of `read` reads, as an array."""
_FEW_INTEGERS = 64
"""A list of fewer integers is read one by one, since an array takes as long as so many."""
_INTEGER_BITS = {I16: 16, I32: 32, I64: 64}
_INTEGER_ARRAYS = {I16: ">i2", I32: ">i4", I64: ">i8"}
_TO_BOOLEANS = bytes([0, 1]) + bytes(254)
"""From a list's elements in compact form to binary: 1 is true, all else false."""


@dataclass(slots=True)
class _Fields:
    """A struct that is being read."""

    last: int = 0
    """The id of the last field; the next one's is sent as the difference."""


@dataclass(slots=True)
class _Values:
    """A list, set or map that is being read; a map's keys and values take turns."""

    left: int
    kinds: tuple[int, int]
    is_map: bool = False


class CompactReader:
    """Reads one message at the beginning of `inbox`, to which the caller only appends until the message is whole."""

    def __init__(self, inbox: bytearray, allowance: Allowance) -> None:
        self.head: Head | None = None
        """The message's name, type and sequence id, once they have arrived."""
        self.size = 0
        """The bytes of `inbox` that were read."""
        self.unread = False
        """Whether `read` stopped before the end of what has come, to be called again in the next turn."""
        self._inbox = inbox
        self._allowance = allowance
        self._limit = allowance.message_bytes
        self._containers = 0
        self._allowed = 0
        self._at_once = 0
        self._binary = bytearray()
        self._levels: list[_Fields | _Values] = []

    @property
    def held_bytes(self) -> int:
        """Bytes of the message that are converted to binary form."""
        return len(self._binary)

    def read(self) -> bytes | None:
        """The message in binary form; None if it is incomplete or too long for one turn.

        Raises ProtocolError for bytes that are no message, MessageTooLarge for one above the limits.
        """
        self._at_once, self.unread = _VALUES_AT_ONCE, False
        try:
            if self.head is None:
                self._read_head()
            while self._levels:
                if self._at_once <= 0:
                    self.unread = True
                    return None
                self._at_once -= 1
                self._step(self._levels[-1])
        except IndexError:  # more bytes must arrive; complete values stay read
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
            self._read_fields(level)
        elif not level.left:
            self._levels.pop()
        elif level.is_map:
            # An even count is followed by a key, an odd one by a value.
            self._read_value(level.kinds[level.left & 1], self.size, b"")
            self._charge(level.left & 1)
            level.left -= 1
        else:
            self._read_some(level)

    def _read_fields(self, level: _Fields) -> None:
        """Read fields with booleans, one-byte integers and short texts, then one other field."""
        inbox, at, last, binary, held = self._inbox, self.size, level.last, self._binary, len(self._inbox)
        try:
            while (kind := (mark := inbox[at]) & 15) in _QUICK and mark >> 4:
                end = at + 1
                if kind <= FALSE:
                    value = b"\1" if kind == TRUE else b"\0"
                elif (raw := inbox[end]) >= _LONG:
                    break
                elif kind == BINARY:
                    begin, end = end + 1, end + 1 + raw
                    if end > held:
                        raise IndexError
                    value = _SIZE(raw) + inbox[begin:end]
                else:
                    value, end = _INTEGERS[kind](_from_zigzag(raw)), end + 1
                last += mark >> 4
                binary += _FIELD(BINARY_TYPES[kind], last) + value
                at = end
                self._at_once -= 1
                if self._at_once <= 0:
                    return
        finally:
            self.size, level.last = at, last
            self._check_size(len(binary))
        self._read_field(level)

    def _read_some(self, level: _Values) -> None:
        """Read elements of a list or set: of simple types as many as have arrived, of others one."""
        kind = level.kinds[0]
        if kind in (BYTE, TRUE, FALSE):
            self._read_bytes(level, kind)
        elif kind in _INTEGERS:
            if level.left < _FEW_INTEGERS:
                self._read_few_integers(level, kind)
            else:
                self._read_integers(level, kind)
        elif kind == BINARY:
            self._read_texts(level)
        else:
            self._read_value(kind, self.size, b"")
            level.left -= 1

    def _read_bytes(self, level: _Values, kind: int) -> None:
        found = bytes(self._inbox[self.size : self.size + level.left])
        level.left -= len(found)
        self._commit(found if kind == BYTE else found.translate(_TO_BOOLEANS), self.size + len(found))
        if level.left:
            raise IndexError

    def _read_few_integers(self, level: _Values, kind: int) -> None:
        """Read the integers of a short list that have arrived completely."""
        inbox, at, binary, pack = self._inbox, self.size, self._binary, _INTEGERS[kind]
        try:
            while level.left:
                raw, end = (inbox[at], at + 1) if inbox[at] < _LONG else self._varint(at)
                binary += pack(_from_zigzag(raw))
                at = end
                level.left -= 1
                self._at_once -= 1
        finally:
            self.size = at
            self._check_size(len(binary))

    def _read_integers(self, level: _Values, kind: int) -> None:
        """Read all integers of a list that have arrived completely, at once."""
        some = min(level.left, _INTEGERS_AT_ONCE)
        coded = np.frombuffer(self._inbox[self.size : self.size + some * _LONGEST_VARINT], np.uint8)
        ends = np.flatnonzero(coded < 0x80)[:some] + 1
        if not len(ends):
            self._varint(self.size)  # raises where no integer can begin so
        lengths = np.diff(ends, prepend=0)
        if lengths.max() > _LONGEST_VARINT:
            raise ProtocolError(f"an integer may have {_LONGEST_VARINT} bytes, found more behind byte {self.size}")
        raw = np.zeros(len(ends), np.uint64)
        for place in range(int(lengths.max())):
            here = lengths > place
            part = coded[(ends - lengths + place)[here]].astype(np.uint64) & np.uint64(0x7F)
            raw[here] |= part << np.uint64(7 * place)
        values = (raw >> np.uint64(1)).view(np.int64) ^ -(raw & np.uint64(1)).view(np.int64)
        most = 1 << _INTEGER_BITS[kind] - 1
        # A tenth byte has one bit of the 64.
        if ((coded[ends - 1] > 1) & (lengths == _LONGEST_VARINT)).any() or values.min() < -most or values.max() >= most:
            raise ProtocolError(f"an integer behind byte {self.size} does not fit its type")
        level.left -= len(ends)
        self._at_once -= len(ends) // 10
        self._commit(values.astype(_INTEGER_ARRAYS[kind]).tobytes(), self.size + int(ends[-1]))

    def _read_texts(self, level: _Values) -> None:
        """Read the texts of a list that have arrived completely."""
        inbox, at, held, binary = self._inbox, self.size, len(self._inbox), self._binary
        try:
            while level.left and self._at_once > 0:
                if (size := inbox[at]) < _LONG:
                    begin = at + 1
                else:
                    size, begin = self._size(at)
                if begin + size > held:
                    raise IndexError
                binary += _SIZE(size)
                binary += inbox[begin : begin + size]
                at = begin + size
                level.left -= 1
                self._at_once -= 1
        finally:
            self.size = at
            self._check_size(len(binary))

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
            field = _from_zigzag(raw)
        head = _FIELD(self._binary_type(kind), field)
        if kind in (TRUE, FALSE):
            self._commit(head + (b"\1" if kind == TRUE else b"\0"), at)
        else:
            self._read_value(kind, at, head)
        level.last = field

    def _read_value(self, kind: int, at: int, before: bytes) -> None:
        """Read a value, or the head of a container or struct; `before` is written before it."""
        if kind in _INTEGERS:
            raw, at = self._varint(at)
            self._commit(before + _INTEGERS[kind](_from_zigzag(raw)), at)
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
            self._charge(1)
            return
        mark = self._inbox[at]
        key, value = mark >> 4, mark & 15
        head = _ENTRIES(self._binary_type(key), self._binary_type(value), count)
        self._commit(before + head, at + 1, _Values(2 * count, (key, value), is_map=True))

    def _commit(self, binary: bytes, at: int, level: _Fields | _Values | None = None) -> None:
        """Record that everything before `at` was read, and append its binary form."""
        self._binary += binary
        self.size = at
        self._check_size(len(self._binary))
        if level is not None:
            self._charge(1)
            self._levels.append(level)
            if len(self._levels) > MAX_DEPTH:
                raise ProtocolError(f"values may be nested {MAX_DEPTH} deep, found more")

    def _charge(self, containers: int) -> None:
        """Count containers against the limit; each entry of a map counts too, since it takes as long to read."""
        self._containers += containers
        if self._containers > self._allowed:
            check = self._allowance.check
            compact = check(self._containers, self.size, COMPACT_BYTES_OF_CONTAINER)
            self._allowed = min(compact, check(self._containers, len(self._binary)))

    def _binary_type(self, kind: int) -> int:
        if kind not in BINARY_TYPES:
            raise ProtocolError(f"a value's type must be a code of Thrift, found {kind} behind byte {self.size}")
        return BINARY_TYPES[kind]

    def _size(self, at: int) -> tuple[int, int]:
        """A size or count, and the offset after it."""
        size, at = self._varint(at)
        self._check_size(len(self._binary) + size)
        return size, at

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            raise MessageTooLarge(f"a request may have {self._limit} bytes, found one of at least {size}")

    def _varint(self, at: int) -> tuple[int, int]:
        """A number of seven bits a byte, the lowest first, and the offset after it."""
        value = 0
        for place in range(_LONGEST_VARINT):
            byte = self._inbox[at + place]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value, at + place + 1
        raise ProtocolError(f"an integer may have {_LONGEST_VARINT} bytes, found more behind byte {at}")

    def _bytes(self, at: int, size: int) -> bytes:
        if len(self._inbox) < at + size:  # do not copy the part of a long text that has arrived each time
            raise IndexError
        return bytes(self._inbox[at : at + size])


def _from_zigzag(raw: int) -> int:
    """The zigzag form: even numbers are the positive ones."""
    return (raw >> 1) ^ -(raw & 1)
