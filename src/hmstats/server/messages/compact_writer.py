"""Writes a reply, which is in binary form, in Thrift's compact protocol.

Format: thrift/doc/specs/thrift-compact-protocol.md of Apache Thrift.
"""

import struct

from hmstats.server.messages.compact_reader import (
    BINARY,
    BINARY_TYPES,
    BYTE,
    DOUBLE,
    FALSE,
    I16,
    I32,
    I64,
    LIST,
    LONG_COUNT,
    MAP,
    PROTOCOL_ID,
    SET,
    STRUCT,
    TRUE,
    VERSION,
)

_COMPACT_TYPES = {binary: compact for compact, binary in BINARY_TYPES.items() if compact != FALSE}
_FIELD = struct.Struct(">h").unpack_from
_ELEMENTS = struct.Struct(">bI").unpack_from
_ENTRIES = struct.Struct(">bbI").unpack_from
_SIZE = struct.Struct(">I").unpack_from
_INTEGERS = {I16: struct.Struct(">h"), I32: struct.Struct(">i"), I64: struct.Struct(">q")}


def to_compact(message: bytes) -> bytes:
    """A whole message that the server has encoded."""
    kind = message[3]
    (name_size,) = _SIZE(message, 4)
    at = 8 + name_size
    (sequence,) = _SIZE(message, at)
    head = bytes((PROTOCOL_ID, kind << 5 | VERSION)) + _varint(sequence) + _varint(name_size) + message[8:at]
    written = bytearray(head)
    _write_struct(message, at + 4, written)
    return bytes(written)


def _write_struct(message: bytes, at: int, written: bytearray) -> int:
    """Write the struct at `at`. Returns the offset after it."""
    last = 0
    while code := message[at]:
        kind = _COMPACT_TYPES[code]
        (field,) = _FIELD(message, at + 1)
        at += 3
        if kind == TRUE:
            _write_field(TRUE if message[at] else FALSE, field, last, written)
            at += 1
        else:
            _write_field(kind, field, last, written)
            at = _write_value(kind, message, at, written)
        last = field
    written.append(0)
    return at + 1


def _write_field(kind: int, field: int, last: int, written: bytearray) -> None:
    step = field - last
    if 0 < step <= 15:
        written.append(step << 4 | kind)
    else:
        written.append(kind)
        written += _varint(_zigzag(field))


def _write_value(kind: int, message: bytes, at: int, written: bytearray) -> int:
    if kind in _INTEGERS:
        form = _INTEGERS[kind]
        written += _varint(_zigzag(form.unpack_from(message, at)[0]))
        return at + form.size
    if kind == BINARY:
        size: int = _SIZE(message, at)[0]
        end = at + 4 + size
        written += _varint(size)
        written += message[at + 4 : end]
        return end
    if kind == STRUCT:
        return _write_struct(message, at, written)
    if kind in (LIST, SET):
        return _write_elements(message, at, written)
    if kind == MAP:
        return _write_entries(message, at, written)
    if kind == DOUBLE:
        written += message[at : at + 8][::-1]  # the lowest byte comes first
        return at + 8
    written.append(message[at] if kind == BYTE else TRUE if message[at] else FALSE)
    return at + 1


def _write_elements(message: bytes, at: int, written: bytearray) -> int:
    code, count = _ELEMENTS(message, at)
    kind = _COMPACT_TYPES[code]
    written.append(min(count, LONG_COUNT) << 4 | kind)
    if count >= LONG_COUNT:
        written += _varint(count)
    at += 5
    for _ in range(count):
        at = _write_value(kind, message, at, written)
    return at


def _write_entries(message: bytes, at: int, written: bytearray) -> int:
    key_code, value_code, count = _ENTRIES(message, at)
    written += _varint(count)
    at += 6
    if count:
        key, value = _COMPACT_TYPES[key_code], _COMPACT_TYPES[value_code]
        written.append(key << 4 | value)
        for _ in range(count):
            at = _write_value(key, message, at, written)
            at = _write_value(value, message, at, written)
    return at


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else ~(value << 1)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
