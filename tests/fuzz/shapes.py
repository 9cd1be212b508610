"""Requests that are whole but may be expensive: calls of the API with one of their values blown up.

A seed and a number give the same request. What is blown up is a text, a list, a map, a sketch, a filter, a pattern, or
a value that no call has; how it is sent is one of the forms in which clients send requests, or HTTP in small chunks.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fuzz.blown import blown, make_odd
from tests.fuzz.filled import Leaf, filled, sized
from tests.fuzz.messages import FORMS
from tests.server.requests import encoded, envelope, field
from thriftpy2.thrift import TType

from hmstats.wire.idl import EXTENDED_SERVICE, SERVICE, hive_metastore, methods
from hmstats.wire.messages.envelope import CALL

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

_OWN = tuple(name for name in EXTENDED_SERVICE.thrift_services if name not in SERVICE.thrift_services)
"""The calls of thrift/hmstats.thrift: those that it gets later too."""
_HALF = 0.5

Drawn = random.Random


@dataclass(frozen=True)
class Request:
    """Bytes for a connection, and what they are."""

    data: bytes
    shape: str
    form: str


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
    return _with_large(drawn, size, drawn.choice(list(methods())), 1)


def _own(drawn: Drawn, size: int) -> tuple[str, bytes]:
    """A call of our own, with up to three of its texts, lists or maps large together, and others odd."""
    name = drawn.choice(_OWN)
    return _with_large(drawn, size, name, drawn.choice([1, 1, 2, 3]), odd=drawn.random() < _HALF)


def _odd(drawn: Drawn, _: int) -> tuple[str, bytes]:
    """A call of our own, or another, whose names, numbers and cursors are odd."""
    return _with_large(drawn, 0, drawn.choice([drawn.choice(_OWN), drawn.choice(list(methods()))]), 0, odd=True)


def _with_large(drawn: Drawn, size: int, name: str, large: int, *, odd: bool = False) -> tuple[str, bytes]:
    arguments = filled(methods()[name].arguments, 0, _table(name))
    said = [name]
    if odd:
        said.append(make_odd(drawn, arguments))
    leaves = sized(arguments)
    for leaf in drawn.sample(leaves, min(large, len(leaves))):
        kind, value = blown(drawn, leaf, size // large)
        setattr(leaf.owner, leaf.name, value)
        said.append(f"{leaf.name} {kind}")
    return " ".join(said), _message(name, arguments)


def _table(name: str) -> str:
    """The table that a call is about: what changes one leaves those alone that others are asked about."""
    if name in _OWN:
        return "own"
    return "other" if name.startswith(_CHANGING) else "t"


def _having(part: str) -> list[str]:
    """The calls with a text whose name has this part, such as a pattern."""
    return [name for name in methods() if _named(filled(methods()[name].arguments, 0, "t"), part)]


def _named(arguments: Any, part: str) -> list[Leaf]:
    return [leaf for leaf in sized(arguments) if leaf.kind == TType.STRING and part in leaf.name.lower()]


def _pattern(drawn: Drawn, size: int) -> tuple[str, bytes]:
    name = drawn.choice(_having("pattern"))
    arguments = filled(methods()[name].arguments, 0, _table(name))
    part = drawn.choice(["a*", "*a", "*.", "*", ".", "|", "a|", "*|", "t*|", "(", "\\", "[a", "a*b.c|", "*{2}"])
    end = drawn.choice(["", "b", "$", "*"])
    for leaf in _named(arguments, "pattern"):
        setattr(leaf.owner, leaf.name, part * (size // len(part)) + end)
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


def _filter(drawn: Drawn, size: int) -> tuple[str, bytes]:
    name = drawn.choice([*_having("filter"), "get_partition_values"])
    said = drawn.choice(list(_FILTERS))
    arguments = filled(methods()[name].arguments, 0, _table(name))
    for leaf in _named(arguments, "filter"):
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
    "our call": _own,
    "odd values": _odd,
    "pattern": _pattern,
    "filter": _filter,
    "sketch": _sketch,
    "unknown": _unknown,
}


def _message(name: str, arguments: Any) -> bytes:
    return envelope(name, 1, CALL, encoded(arguments))


def _in_chunks(message: bytes, drawn: Drawn) -> bytes:
    size = drawn.choice([1, 7, 100, 5_000])
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = (message[at : at + size] for at in range(0, len(message), size))
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
