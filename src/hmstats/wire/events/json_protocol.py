"""Thrift structs as text of Thrift's JSON protocol, which messages of the notification log hold.

A struct is an object of field id to {type: value}: `{"1":{"str":"a"},"5":{"lst":["i64",2,1,2]}}`. An unset field is
left out, bytes are base64 without padding, NaN and infinities are texts. A map whose keys are lists has these lists
where JSON demands a text, as in Thrift's own writers.
"""

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring
from typing import Any

from thriftpy2.thrift import TType

Writer = Callable[[Any], str]


def text_to_json(text: str) -> str:
    """A text in quotation marks."""
    return encode_basestring(text)


def struct_to_json(struct: Any) -> str:
    """The text of a struct."""
    return _struct(struct.__class__)(struct)


@cache
def _struct(struct_class: Any) -> Writer:
    """The writer of a class's structs, cached since all names and types are known from the class."""
    fields = [
        (spec[1], f'"{field}":{{"{_NAMES[spec[0]]}":', _writer(spec[0], spec[2]))
        for field, spec in struct_class.thrift_spec.items()
    ]

    def write(struct: Any) -> str:
        parts = [
            f"{start}{write_value(value)}}}"
            for name, start, write_value in fields
            if (value := getattr(struct, name)) is not None
        ]
        return "{" + ",".join(parts) + "}"

    return write


def _writer(kind: int, inner: Any) -> Writer:
    """The writer of a type: `inner` is a container's element, or a map's key and value."""
    if kind == TType.STRUCT:
        return struct_to_json  # the class is looked up at the first value, since structs may contain each other
    if kind == TType.MAP:
        return _map(*map(_parts, inner))
    if kind in (TType.LIST, TType.SET):
        return _list(_parts(inner))
    return _SIMPLE[kind]


def _parts(inner: Any) -> tuple[int, Any]:
    """An element's type code and its inner type; thriftpy2 has the code alone for simple types."""
    return inner if isinstance(inner, tuple) else (inner, None)


def _list(element: tuple[int, Any]) -> Writer:
    name, write_element = _NAMES[element[0]], _writer(*element)

    def write(values: Sequence[Any]) -> str:
        return "[" + ",".join((f'"{name}",{len(values)}', *map(write_element, values))) + "]"

    return write


def _map(key: tuple[int, Any], value: tuple[int, Any]) -> Writer:
    names = f'"{_NAMES[key[0]]}","{_NAMES[value[0]]}"'
    write_key, write_value = _writer(*key), _writer(*value)
    quote = '"' if key[0] in _NUMBERS else ""

    def write(values: Mapping[Any, Any]) -> str:
        pairs = [f"{quote}{write_key(each)}{quote}:{write_value(of)}" for each, of in values.items()]
        return f"[{names},{len(pairs)},{{" + ",".join(pairs) + "}]"

    return write


def _string(value: str | bytes) -> str:
    return encode_basestring(value) if isinstance(value, str) else _bytes(value)


def _bytes(value: str | bytes) -> str:
    encoded = value.encode() if isinstance(value, str) else value
    return f'"{b64encode(encoded).decode().rstrip("=")}"'


def _double(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def _integer(value: int) -> str:
    return str(int(value))


_NUMBERS = (TType.BOOL, TType.BYTE, TType.DOUBLE, TType.I16, TType.I32, TType.I64)
_NAMES = {
    TType.BOOL: "tf",
    TType.BYTE: "i8",
    TType.DOUBLE: "dbl",
    TType.I16: "i16",
    TType.I32: "i32",
    TType.I64: "i64",
    TType.STRING: "str",
    TType.BINARY: "str",
    TType.STRUCT: "rec",
    TType.MAP: "map",
    TType.SET: "set",
    TType.LIST: "lst",
}
_SIMPLE: dict[int, Writer] = {
    TType.BOOL: _integer,
    TType.BYTE: _integer,
    TType.DOUBLE: _double,
    TType.I16: _integer,
    TType.I32: _integer,
    TType.I64: _integer,
    TType.STRING: _string,
    TType.BINARY: _bytes,
}
