"""Arguments that no sensible client sends, of any method of the API, by what thriftpy2 knows of their types.

A name is mostly one that exists, so that a call gets further than to the first thing that is not there. Texts may be
bytes that are no text; numbers go to the ends of their range and beyond every enumeration; anything may be missing, of
a union's members there may be none or two.
"""

import re
from functools import cache
from typing import Any

from hypothesis import strategies as st
from thriftpy2.thrift import TType

from hmstats.wire.idl import Method
from hmstats.wire.idl import hive_metastore as api

DATABASE, TABLE, PARTITIONED, COLUMN = "evil", "t", "p", "l"
PARTITIONS = ("k=a/j=1", "k=b/j=2")
_DEEPEST = 5
_MEMBERS = 2

TEXTS: tuple[str | bytes, ...] = (
    "",
    " ",
    "nope",
    "a\x00b",
    "\x00",
    "é́\u202e👾",
    "x" * 300,
    "y" * 5_000,
    '\'; DROP TABLE "TBLS"; --',
    "k=a/j=1/k=b",
    "k=/j=",
    "a/b=c%00%",
    "../../..",
    "@",
    "@nope",
    "@hive#",
    "@hive#!",
    "{}",
    "[" * 2_000,
    "-1",
    "99999999999999999999",
    "NaN",
    "k = 'a' and (",
    ".*|(",
    b"\xff\xfe",
    b"\xed\xa0\x80",
)
"""The last two are no UTF-8: bytes that occur in none, and half a surrogate pair."""

_KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cat", ("hive",)),
    ("engine", ("hive", "impala")),
    ("part_?names?|partitions?$", PARTITIONS),
    ("vals|values", ("a", "b", "1", "2")),
    ("filter|expr", ("k = 'a'", "j > 0")),
    ("type|class", ("bigint", "string", "decimal(10,2)", "MANAGED_TABLE")),
    ("col|field", (COLUMN, "s", "k")),
    ("ta?bl", (TABLE, PARTITIONED)),
    ("db|data_?base", (DATABASE, "default")),
    ("pattern|name", (DATABASE, TABLE, PARTITIONED, COLUMN, "*")),
)
"""By a part of a field's name: what it may sensibly say."""


def _integers(bits: int) -> st.SearchStrategy[int]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return st.sampled_from((low, -1, 0, 1, 2, 7, high)) | st.integers(low, high)


_PLAIN: dict[int, st.SearchStrategy[Any]] = {
    TType.BOOL: st.booleans(),
    TType.BYTE: _integers(8),
    TType.I16: _integers(16),
    TType.I32: _integers(32),
    TType.I64: _integers(64),
    TType.DOUBLE: st.sampled_from((float("nan"), float("inf"), float("-inf"), -0.0, 1e308, -1.0, 0.5)) | st.floats(),
    TType.BINARY: st.sampled_from((b"", b"HL", b"HYLL\x00", b"\x00" * 40, b"\xff" * 300)) | st.binary(max_size=20),
}


def arguments(method: Method) -> st.SearchStrategy[Any]:
    """A method's struct of arguments."""
    return _structs(method.arguments, 0)


@st.composite
def _structs(draw: st.DrawFn, struct: Any, depth: int) -> Any:
    value = struct()
    specs = list(struct.thrift_spec.values())
    if struct is api.ColumnStatisticsData:
        members = draw(st.sampled_from((1, 1, 1, 0, _MEMBERS)))
        specs = draw(st.lists(st.sampled_from(specs), min_size=members, max_size=members))
    for spec in specs:
        kind = (spec[0], spec[2] if len(spec) > 3 else None)
        if draw(_is_given(depth, required=bool(spec[-1]))):
            setattr(value, spec[1], draw(_values(kind, spec[1], depth + 1)))
    return value


@cache
def _is_given(depth: int, *, required: bool) -> st.SearchStrategy[bool]:
    if depth > _DEEPEST:
        return st.just(False)
    times = 9 if depth == 0 or required else 1
    return st.sampled_from((*(True,) * times, False))


def _values(kind: tuple[int, Any], name: str, depth: int) -> st.SearchStrategy[Any]:
    code, inner = kind
    if code == TType.STRUCT:
        return _structs(inner, depth)
    if code in (TType.LIST, TType.SET):
        return st.lists(_values(_type(inner), name, depth), max_size=3)
    if code == TType.MAP and _type(inner[0])[0] == TType.LIST:
        return st.just({})  # Python has no dict with lists for keys
    if code == TType.MAP:
        keys, values = (_values(_type(part), name, depth) for part in inner)
        return st.dictionaries(keys, values, max_size=2)
    return _texts(name) if code == TType.STRING else _PLAIN[code]


@cache
def _texts(name: str) -> st.SearchStrategy[str | bytes]:
    known = next((texts for part, texts in _KNOWN if re.search(part, name.lower())), ())
    sensible = st.sampled_from(known) if known else st.just("x")
    return st.integers(0, 3).flatmap(lambda turn: sensible if turn else st.sampled_from(TEXTS))


def _type(spec: Any) -> tuple[int, Any]:
    return (spec, None) if isinstance(spec, int) else (spec[0], spec[1])
