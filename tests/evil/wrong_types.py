"""Arguments as bytes whose types are not those of the IDL: what a client of another API, or of none, would send.

They are whole messages by the protocol's own rules, so they get past the scanner: to the decoder, and what it makes of
them to the calls. Fields that nobody knows come among them, and containers as deep and wide as the protocol allows.
"""

import struct
from typing import Any

from hypothesis import strategies as st
from thriftpy2.thrift import TType

from hmstats.wire.idl import Method

_DEEP, _WIDE = 50, 5_000
_VALUES: dict[int, bytes] = {
    TType.BOOL: b"\x02",
    TType.BYTE: b"\xff",
    TType.I16: struct.pack(">h", -1),
    TType.I32: struct.pack(">i", -(2**31)),
    TType.I64: struct.pack(">q", 2**63 - 1),
    TType.DOUBLE: struct.pack(">d", float("nan")),
    TType.STRING: struct.pack(">i", 4) + b"evil",
    TType.STRUCT: struct.pack(">bhi", TType.STRING, 1, 1) + b"x" + b"\x00",
    TType.MAP: struct.pack(">bbi", TType.STRING, TType.I64, 1) + struct.pack(">i", 1) + b"k" + struct.pack(">q", 7),
    TType.SET: struct.pack(">bi", TType.I32, 2) + struct.pack(">ii", 1, 1),
    TType.LIST: struct.pack(">bi", TType.STRUCT, 3) + b"\x00" * 3,
}
_OTHERS: tuple[tuple[int, bytes], ...] = (
    (TType.LIST, struct.pack(">bi", TType.LIST, 1) * _DEEP + struct.pack(">bi", TType.BYTE, 0)),
    (TType.LIST, struct.pack(">bi", TType.STRING, _WIDE) + (struct.pack(">i", 1) + b"x") * _WIDE),
    (TType.LIST, struct.pack(">bi", TType.I64, _WIDE) + struct.pack(">q", -1) * _WIDE),
    (TType.MAP, struct.pack(">bbi", TType.STRING, TType.STRING, 1) + struct.pack(">i", 0) * 2),
    (TType.STRUCT, struct.pack(">bh", TType.STRUCT, 1) * _DEEP + b"\x00" * (_DEEP + 1)),
    (TType.STRING, struct.pack(">i", 3) + b"\xff\x00\xfe"),
)
_ANY = st.sampled_from((*_VALUES.items(), *_OTHERS))


def arguments(method: Method) -> st.SearchStrategy[bytes]:
    """A method's arguments, encoded."""
    return _structs(method.arguments)


@st.composite
def _structs(draw: st.DrawFn, struct_class: Any, depth: int = 0) -> bytes:
    fields = [_field(number, *draw(_values(spec, depth))) for number, spec in struct_class.thrift_spec.items()]
    unknown = [_field(draw(st.integers(-(2**15), 2**15 - 1)), *draw(_ANY))] if draw(st.booleans()) else []
    return b"".join((*fields, *unknown, b"\x00"))


@st.composite
def _values(draw: st.DrawFn, spec: Any, depth: int) -> tuple[int, bytes]:
    """A struct of the right kind, two times out of three, so that what is in it is read; else a value of any type."""
    if spec[0] == TType.STRUCT and depth < 2 and draw(st.integers(0, 2)):
        return TType.STRUCT, draw(_structs(spec[2], depth + 1))
    right = _VALUES.get(spec[0])
    return (spec[0], right) if right is not None and draw(st.booleans()) else draw(_ANY)


def _field(number: int, kind: int, value: bytes) -> bytes:
    return struct.pack(">bh", kind, number) + value
