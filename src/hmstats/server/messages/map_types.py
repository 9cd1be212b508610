"""Refuses maps that thriftpy2 would misread.

If a map is sent with texts, thriftpy2 reads them as the types of the IDL without a check. If the IDL has other types,
it would read values and unchecked sizes from the middle of a text. Only methods with such maps in their arguments are
looked at, and in these only the structs that lead to one.
"""

import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

from hmstats.errors import ProtocolError
from hmstats.wire.messages.scanner import end_of_value

_STOP, _STRING, _STRUCT, _MAP, _SET, _LIST, _BINARY = 0, 11, 12, 13, 14, 15, 18
_TEXT = (_STRING, _BINARY)
_FIELD = struct.Struct(">h").unpack_from
_ELEMENTS = struct.Struct(">Bi").unpack_from
_HEAD = struct.Struct(">bh").pack
_ENTRIES = struct.Struct(">BBi").unpack_from

_Type = tuple[int, Any]
"""A type of the IDL as thriftpy2 has it: the code, and what is in a container or the struct's class."""


def check_maps(arguments: Any, message: bytes, at: int) -> None:
    """Check the struct at `at` in a scanned message against its class. Raises ProtocolError."""
    if _fields_with_maps(arguments) and any(message.find(mark, at) >= 0 for mark in _marks(arguments)):
        _skip_struct(arguments, message, at)


@cache
def _marks(arguments: Any) -> frozenset[bytes]:
    """Field heads of which each message with such a map contains one: the map's, or that of the struct around it."""
    marks: set[bytes] = set()
    seen, unvisited = {arguments}, [arguments]
    while unvisited:
        struct_class = unvisited.pop()
        for number, kind in _fields_with_maps(struct_class).items():
            inner = _struct_in(kind)
            holds_maps = inner and any(_struct_in(each) is None for each in _fields_with_maps(inner).values())
            if holds_maps or (inner is None and struct_class is arguments):
                marks.add(_HEAD(kind[0], number))
            if inner is not None and inner not in seen:
                seen.add(inner)
                unvisited.append(inner)
    return frozenset(marks)


def _struct_in(kind: _Type) -> Any:
    """The class of the structs that are, or that are in, a value of this kind; None for maps."""
    while kind[0] in (_SET, _LIST):
        kind = _type(kind[1])
    return kind[1] if kind[0] == _STRUCT else None


@cache
def _fields_with_maps(struct_class: Any) -> Mapping[int, _Type]:
    """By id the fields of a struct that have, at any depth, a map with something but text in it."""
    return {field: kind for field, kind in _fields(struct_class).items() if _has_map(kind, frozenset())}


def _fields(struct_class: Any) -> dict[int, _Type]:
    specs = struct_class.thrift_spec.items()
    return {field: (spec[0], spec[2] if len(spec) > 3 else None) for field, spec in specs}


def _has_map(kind: _Type, seen: frozenset[Any]) -> bool:
    code, inner = kind
    if code == _STRUCT:
        return inner not in seen and any(_has_map(field, seen | {inner}) for field in _fields(inner).values())
    if code == _MAP:
        return any(_type(part)[0] not in _TEXT for part in inner)
    return code in (_LIST, _SET) and _has_map(_type(inner), seen)


def _type(spec: Any) -> _Type:
    return (spec, None) if isinstance(spec, int) else (spec[0], spec[1])


def _skip_value(kind: _Type, sent_code: int, message: bytes, at: int) -> int:
    """The offset after a value sent with the type code `sent_code` where the IDL has `kind`."""
    code, inner = kind
    if sent_code == code == _STRUCT:
        return _skip_struct(inner, message, at)
    if sent_code == code == _MAP:
        return _skip_map(inner, message, at)
    if sent_code == code and code in (_LIST, _SET):
        return _skip_elements(_type(inner), message, at)
    return end_of_value(message, sent_code, at)


def _skip_struct(struct_class: Any, message: bytes, at: int) -> int:
    fields = _fields_with_maps(struct_class)
    while (sent_code := message[at]) != _STOP:
        kind = fields.get(_FIELD(message, at + 1)[0])
        at = _skip_value(kind, sent_code, message, at + 3) if kind else end_of_value(message, sent_code, at + 3)
    return at + 1


def _skip_elements(element: _Type, message: bytes, at: int) -> int:
    sent_code, count = _ELEMENTS(message, at)
    if sent_code != element[0]:
        return end_of_value(message, _LIST, at)
    at += 5
    for _ in range(count):
        at = _skip_value(element, sent_code, message, at)
    return at


def _skip_map(entry: Any, message: bytes, at: int) -> int:
    key, value = _type(entry[0]), _type(entry[1])
    sent_key, sent_value, count = _ENTRIES(message, at)
    if count and (_misread(key, sent_key) or _misread(value, sent_value)):
        raise ProtocolError(
            f"the map at byte {at} must have types {key[0]} and {value[0]}, found {sent_key} and {sent_value}"
        )
    at += 6
    for _ in range(count):
        at = _skip_value(key, sent_key, message, at)
        at = _skip_value(value, sent_value, message, at)
    return at


def _misread(kind: _Type, sent_code: int) -> bool:
    return sent_code == _STRING and kind[0] not in _TEXT
