"""Requests that are whole but may be expensive: calls of the API with one of their values blown up.

A seed and a number give the same request. What is blown up is a text, a list, a map, a sketch, a filter, a pattern, or
a value that no call has; how it is sent is one of the forms in which clients send requests, or HTTP in small chunks.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.fuzz.messages import FORMS
from tests.server.requests import encoded, envelope, field
from thriftpy2.thrift import TType

from hmstats.server.messages.envelope import CALL
from hmstats.wire.idl import hive_metastore, methods

_DEEPEST = 5
_LEAST_BYTES = 1_000
_CHANGING = (
    "drop_",
    "shutdown",
    "rename_",
    "truncate",
    "alter_",
    "create_",
    "add_",
    "exchange",
    "append",
    "update_cre",
)
"""What begins the names of calls that would change what the others ask; they are about another table."""

Drawn = random.Random


@dataclass(frozen=True)
class Request:
    """Bytes for a connection, and what they are."""

    data: bytes
    shape: str
    form: str


class _Leaf(NamedTuple):
    """A value of a struct that can be blown up."""

    owner: Any
    name: str
    kind: int
    inner: Any


def draw(seed: int, number: int, most_bytes: int) -> Request:
    """The request of a seed and a number."""
    drawn = random.Random(f"{seed} {number}")
    size = round(_LEAST_BYTES * (most_bytes / _LEAST_BYTES) ** drawn.random())
    kind = drawn.choice(list(_SHAPES))
    shape, message = _SHAPES[kind](drawn, size)
    form = drawn.choice([*FORMS, "HTTP in chunks"])
    data = _in_chunks(message, drawn) if form == "HTTP in chunks" else FORMS[form](message)
    return Request(data, f"{kind}: {shape}, {len(message):,} bytes", form)


def _argument(drawn: Drawn, size: int) -> tuple[str, bytes]:
    """Any call, with any of its texts, lists or maps as large as wanted."""
    name = drawn.choice(list(methods()))
    arguments = _filled(methods()[name].arguments, 0, "other" if name.startswith(_CHANGING) else "t")
    leaves = list(_leaves(arguments))
    if not leaves:
        return name, _message(name, arguments)
    leaf = drawn.choice(leaves)
    said, value = _blown(drawn, leaf, size)
    setattr(leaf.owner, leaf.name, value)
    return f"{name} {leaf.name} {said}", _message(name, arguments)


def _pattern(drawn: Drawn, size: int) -> tuple[str, bytes]:
    name = drawn.choice(["get_tables", "get_databases", "get_functions", "get_table_meta"])
    arguments = _filled(methods()[name].arguments, 0, "t")
    part = drawn.choice(["a*", "*a", "*.", "*", ".", "|", "a|", "*|", "t*|", "(", "\\", "[a", "a*b.c|", "*{2}"])
    end = drawn.choice(["", "b", "$", "*"])
    for leaf in _leaves(arguments):
        if leaf.kind == TType.STRING and "pattern" in leaf.name.lower():
            setattr(arguments, leaf.name, part * (size // len(part)) + end)
    return f"{name} {part!r}", _message(name, arguments)


_FILTERS: dict[str, Callable[[int], str]] = {
    "text": lambda n: f"k = '{'x' * n}'",
    "escapes": lambda n: f"k = '{chr(92) * 2 * (n // 2)}'",
    "open text": lambda n: "k = '" + "x" * n,
    "listed numbers": lambda n: f"n in ({','.join(map(str, range(n // 7 + 1)))})",
    "listed texts": lambda n: "k not in ({})".format(",".join(f"'{each}'" for each in range(n // 9 + 1))),
    "equal": lambda n: " or ".join(f"n = {each}" for each in range(n // 12 + 1)),
    "ordered": lambda n: " and ".join(f"n < {each}" for each in range(n // 13 + 1)),
    "brackets": lambda n: "(" * (n // 2) + "n = 1" + ")" * (n // 2),
    "open brackets": lambda n: "(" * n,
    "nots": lambda n: "not " * (n // 4) + "n = 1",
    "to the left": lambda n: "(" * (n // 11) + "n = 1" + " or n > 2)" * (n // 11),
    "to the right": lambda n: "(n > 2 or " * (n // 11) + "n = 1" + ")" * (n // 11),
    "alternating": lambda n: "(n > 2 or (k < 'a' and " * (n // 25) + "n = 1" + "))" * (n // 25),
    "digits": lambda n: "n = " + "9" * n,
    "quoted digits": lambda n: f"n = '{'9' * n}'",
    "like": lambda n: f"k like '{'%a' * (n // 2)}'",
    "likes": lambda n: " or ".join(["k like '%a%b%'"] * (n // 18 + 1)),
    "between": lambda n: " or ".join(f"n between {each} and 7" for each in range(n // 24 + 1)),
    "together": lambda n: f"(struct(n, k)) in ({','.join(['struct(1, 2)'] * (n // 13 + 1))})",
    "blanks": lambda n: "n = 1" + " " * n,
    "names": lambda n: "n" * n + " = 1",
    "backquotes": lambda n: "`" * n,
    "minus": lambda n: "n = " + "-" * n,
    "words": lambda n: "date " * (n // 5),
    "parameters": lambda n: " or ".join(f'hive_filter_field_params__p{each} = "1"' for each in range(n // 44 + 1)),
}


_FILTERED = (
    "get_partitions_by_filter",
    "get_num_partitions_by_filter",
    "get_table_names_by_filter",
    "get_partition_values",
)


def _filter(drawn: Drawn, size: int) -> tuple[str, bytes]:
    name = drawn.choice(
        [
            "get_partitions_by_filter",
            "get_num_partitions_by_filter",
            "get_table_names_by_filter",
            "get_partition_values",
        ]
    )
    said = drawn.choice(list(_FILTERS))
    arguments = _filled(methods()[name].arguments, 0, "t")
    for leaf in _leaves(arguments):
        if leaf.name == "filter":
            setattr(leaf.owner, leaf.name, _FILTERS[said](size))
    return f"{name} {said}", _message(name, arguments)


_SKETCHES: dict[str, Callable[[int], bytes]] = {
    "sparse": lambda n: b"HLL\x00\x01" + b"\x01" * n,
    "sparse of one": lambda n: b"HLL\x40\x01\x81\x08\x01" + b"\x00" * n,
    "dense": lambda n: b"HLL\x07\x01" + bytes(n),
    "estimate": lambda n: b"HLL\x47" + b"\x80" * n,
    "FM": lambda n: b"FM\xff\xff" + bytes(n),
    "neither": bytes,
    "KLL": lambda n: bytes([5, 1, 15, 0, 0xFF, 0xFF, 8, 0]) + b"\xff" * 8 + b"\xff\xff\x3d\0" + bytes(n),
}


def _sketch(drawn: Drawn, size: int) -> tuple[str, bytes]:
    """Statistics of a table with one long sketch, or many short ones."""
    said, count = drawn.choice(list(_SKETCHES)), drawn.choice([1, 1, 10, max(1, size // 150)])
    data = _SKETCHES[said](max(0, size // count - 100))
    api = hive_metastore
    where = drawn.choice(["bitVectors", "histogram"])
    objects = [
        api.ColumnStatisticsObj(
            colName=f"c{each}",
            colType="bigint",
            statsData=api.ColumnStatisticsData(
                longStats=api.LongColumnStatsData(numNulls=0, numDVs=1, **{where: data})
            ),
        )
        for each in range(count)
    ]
    statistics = api.ColumnStatistics(
        statsDesc=api.ColumnStatisticsDesc(isTblLevel=True, dbName="default", tableName="t"), statsObj=objects
    )
    name = "update_table_column_statistics"
    return f"{count:,} {said} {where}", _message(name, methods()[name].arguments(stats_obj=statistics))


def _unknown(drawn: Drawn, size: int) -> tuple[str, bytes]:
    """A value that the call does not have, nested and repeated in any way."""
    name = drawn.choice(["get_table", "get_all_databases", "set_ugi", "add_partitions", "create_table"])
    levels = [
        drawn.choice([TType.LIST, TType.SET, TType.STRUCT, TType.MAP]) for _ in range(drawn.choice([1, 1, 2, 3, 8]))
    ]
    kind, value = drawn.choice(
        [
            (TType.BOOL, b"\x01"),
            (TType.I32, b"\0\0\0\1"),
            (TType.I64, bytes(8)),
            (TType.STRING, bytes(4)),
            (TType.STRUCT, b"\0"),
            (TType.STRUCT, field(TType.BOOL, 1) + b"\x01\0"),
            (TType.LIST, b"\x02" + bytes(4)),
            (TType.MAP, b"\x0b\x0b" + bytes(4)),
        ]
    )
    each = max(1, round((size / len(value)) ** (1 / len(levels))))
    for level in levels:
        count = max(1, min(each, size // len(value)))
        value, kind = _repeated(level, kind, value, count), level
    said = f"{name} {kind} of {levels[::-1]} each {each}"
    return said, envelope(name, 1, CALL, field(kind, drawn.choice([1, 1, 99])) + value + b"\0")


def _repeated(level: int, kind: int, value: bytes, count: int) -> bytes:
    if level == TType.STRUCT:
        return b"".join(field(kind, 1 + each % 30_000) + value for each in range(count)) + b"\0"
    if level == TType.MAP:
        return bytes([TType.I32, kind]) + count.to_bytes(4, "big") + (b"\0\0\0\1" + value) * count
    return bytes([kind]) + count.to_bytes(4, "big") + value * count


_SHAPES: dict[str, Callable[[Drawn, int], tuple[str, bytes]]] = {
    "argument": _argument,
    "more of argument": _argument,
    "pattern": _pattern,
    "filter": _filter,
    "sketch": _sketch,
    "unknown": _unknown,
}


def _message(name: str, arguments: Any) -> bytes:
    return envelope(name, 1, CALL, encoded(arguments))


def _filled(kind: Any, depth: int, table: str) -> Any:
    """A struct with a short value in each field."""
    struct = kind()
    for spec in kind.thrift_spec.values():
        inner = spec[2] if len(spec) > 3 else None
        if (value := _short(spec[0], inner, spec[1], depth + 1, table)) is not None:
            setattr(struct, spec[1], value)
    return struct


def _short(code: int, inner: Any, name: str, depth: int, table: str) -> Any:
    if code == TType.STRUCT:
        return _filled(inner, depth, table) if depth <= _DEEPEST else None
    if code in (TType.LIST, TType.SET):
        value = _short(*_type(inner), name, depth, table)
        return [] if value is None else [value]
    if code == TType.MAP:
        return {}
    if code == TType.STRING:
        return _word(name.lower(), table)
    if code == TType.BINARY:
        return b""
    return 1


def _word(name: str, table: str) -> str:
    for part, word in (("cat", "hive"), ("db", "default"), ("database", "default"), ("tbl", table), ("table", table)):
        if part in name:
            return word
    if "part" in name:
        return "k=a/n=1"
    return {"colnames": "l", "colname": "l", "engine": "hive"}.get(name, "a")


def _leaves(struct: Any, depth: int = 0) -> list[_Leaf]:
    found = []
    for spec in type(struct).thrift_spec.values():
        code, name, inner = spec[0], spec[1], spec[2] if len(spec) > 3 else None
        value = getattr(struct, name)
        if code in (TType.STRING, TType.BINARY, TType.LIST, TType.SET, TType.MAP):
            found.append(_Leaf(struct, name, code, inner))
        if code == TType.STRUCT and value is not None:
            found += _leaves(value, depth + 1)
        if code in (TType.LIST, TType.SET) and value and hasattr(value[0], "thrift_spec"):
            found += _leaves(value[0], depth + 1)
    return found


_TEXTS = (
    "x",
    " ",
    "(",
    "[",
    "{",
    "<",
    "9",
    "%",
    "_",
    "*",
    "/",
    "=",
    "k=a/",
    "é",
    "\U0001f600",
    "'",
    '"',
    "\\",
    ",",
    "|",
)
_STRUCTURED = ("array<", "struct<a:", "decimal(", '{"a":', "[[", "k=1/n=1/", "a.", "@a#", "%41", "1:1:", "<!--", "\n")


_LISTED: dict[str, Callable[[int], str]] = {
    "empty texts": lambda _: "",
    "equal texts": lambda _: "k=a/n=1",
    "texts": lambda number: f"k=a/n={number}",
}


def _blown(drawn: Drawn, leaf: _Leaf, size: int) -> tuple[str, Any]:
    if leaf.kind == TType.STRING:
        part = drawn.choice([*_TEXTS, *_STRUCTURED])
        return repr(part), part * max(1, size // len(part.encode()))
    if leaf.kind == TType.BINARY:
        return "bytes", bytes(size)
    if leaf.kind == TType.MAP:
        return _blown_map(drawn, leaf, size)
    code, inner = _type(leaf.inner)
    if code == TType.STRUCT:
        full = drawn.random() < 0.5
        one = _filled(inner, _DEEPEST - 1, "t") if full else inner()
        return "filled structs" if full else "empty structs", [one] * max(1, size // len(encoded(one)))
    if code == TType.STRING:
        said = drawn.choice(list(_LISTED))
        return said, [_LISTED[said](each) for each in range(max(1, size // 12))]
    return "values", [_short(code, inner, leaf.name, _DEEPEST, "t")] * max(1, size // 4)


def _blown_map(drawn: Drawn, leaf: _Leaf, size: int) -> tuple[str, Any]:
    key, value = map(_type, leaf.inner)
    if key[0] not in (TType.STRING, TType.I32, TType.I64):
        return "map as it is", {}
    one = _short(*value, "a", _DEEPEST - 1, "t")
    keys = (str(each) if key[0] == TType.STRING else each for each in range(max(1, size // 20)))
    return "entries", dict.fromkeys(keys, one)


def _type(spec: Any) -> tuple[int, Any]:
    return (spec, None) if isinstance(spec, int) else (spec[0], spec[1])


def _in_chunks(message: bytes, drawn: Drawn) -> bytes:
    size = drawn.choice([1, 7, 100, 5_000])
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = (message[at : at + size] for at in range(0, len(message), size))
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
