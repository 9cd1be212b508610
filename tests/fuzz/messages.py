"""Requests to mutate: a few of every call of the API, in each form in which a client may send them."""

import random
import struct
from collections.abc import Callable
from typing import Any

from tests.server.requests import encoded, envelope, old_envelope
from thriftpy2.thrift import TType

from hmstats.server.messages.compact_writer import to_compact
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import CALL

_OF_EACH = 3
_DEEPEST = 4
_WORDS = (
    "default",
    "fuzz",
    "t",
    "p",
    "l",
    "k",
    "k=a",
    "hive",
    "bigint",
    "string",
    "MANAGED_TABLE",
    "",
    "é\u202e",
    "x" * 200,
)
_NUMBERS = (0, 1, -1, 7, 100, 2**31 - 1)
_PLAIN: dict[int, tuple[Any, ...]] = {
    TType.BOOL: (True, False),
    TType.BYTE: (0, 1, -1),
    TType.I16: (0, 1, -1),
    TType.I32: _NUMBERS,
    TType.I64: (*_NUMBERS, 2**63 - 1),
    TType.DOUBLE: (0.0, -1.5, 1e300),
    TType.STRING: _WORDS,
    TType.BINARY: (b"", b"HLL", b"\x00" * 40),
}
_HTTP = b"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n"


def corpus(seed: int) -> list[bytes]:
    """Whole requests in binary form."""
    drawn = random.Random(seed)
    return [
        envelope(method.name, drawn.randrange(1, 1000), CALL, encoded(_struct(method.arguments, drawn, 0)))
        for method in methods().values()
        for _ in range(_OF_EACH)
    ]


def _struct(kind: Any, drawn: random.Random, depth: int) -> Any:
    """A struct with the fields of the first levels mostly there, and the deeper ones mostly not."""
    value = kind()
    for spec in kind.thrift_spec.values():
        if depth <= _DEEPEST and drawn.random() < 1 / (1 + depth):
            inner = spec[2] if len(spec) > 3 else None
            setattr(value, spec[1], _value(spec[0], inner, drawn, depth + 1))
    return value


def _value(code: int, inner: Any, drawn: random.Random, depth: int) -> Any:
    if code == TType.STRUCT:
        return _struct(inner, drawn, depth)
    if code in (TType.LIST, TType.SET):
        return [_value(*_type(inner), drawn, depth) for _ in range(drawn.randrange(3))]
    if code == TType.MAP:
        key, value = map(_type, inner)
        if key[0] not in _PLAIN:
            return {}
        return {_value(*key, drawn, depth): _value(*value, drawn, depth) for _ in range(drawn.randrange(3))}
    return drawn.choice(_PLAIN[code])


def _type(spec: Any) -> tuple[int, Any]:
    return (spec, None) if isinstance(spec, int) else (spec[0], spec[1])


def _framed(message: bytes) -> bytes:
    return struct.pack(">I", len(message)) + message


def _posted(message: bytes) -> bytes:
    return _HTTP % len(message) + message


def _old(message: bytes) -> bytes:
    size = int.from_bytes(message[4:8], "big")
    at = 8 + size
    return old_envelope(message[8:at].decode(), int.from_bytes(message[at : at + 4], "big"), CALL, message[at + 4 :])


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "binary": bytes,
    "binary, old": _old,
    "compact": to_compact,
    "binary in frames": _framed,
    "compact in frames": lambda message: _framed(to_compact(message)),
    "binary over HTTP": _posted,
    "compact over HTTP": lambda message: _posted(to_compact(message)),
}
"""From a request in binary form to what a client sends."""
