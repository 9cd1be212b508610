"""Values that are large or odd, in place of those that a call has."""

import random
from collections.abc import Callable
from typing import Any

from tests.fuzz.filled import DEEPEST, Leaf, filled, numbers, short, sized, type_of
from tests.server.requests import encoded
from thriftpy2.thrift import TType

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
    "\0",
    ",",
    "|",
)
_STRUCTURED = ("array<", "struct<a:", "decimal(", '{"a":', "[[", "k=1/n=1/", "a.", "@a#", "%41", "1:1:", "<!--", "\n")


_LISTED: dict[str, Callable[[int], str]] = {
    "empty texts": lambda _: "",
    "equal texts": lambda _: "k=a/n=1",
    "texts": lambda number: f"k=a/n={number}",
    "texts with NUL": lambda number: f"{number}\0",
    "texts of one letter": lambda number: chr(97 + number % 26),
}


def blown(drawn: random.Random, leaf: Leaf, size: int) -> tuple[str, Any]:
    """A value of about so many bytes for a leaf, and what it is."""
    if leaf.kind == TType.STRING:
        part = drawn.choice([*_TEXTS, *_STRUCTURED])
        return repr(part), part * max(1, size // len(part.encode()))
    if leaf.kind == TType.BINARY:
        return "bytes", bytes(size)
    if leaf.kind == TType.MAP:
        return _map(drawn, leaf, size)
    code, inner = type_of(leaf.inner)
    if code == TType.STRUCT:
        full = drawn.random() < 0.5
        one = filled(inner, DEEPEST - 1, "t") if full else inner()
        return "filled structs" if full else "empty structs", [one] * max(1, size // len(encoded(one)))
    if code == TType.STRING:
        said = drawn.choice(list(_LISTED))
        each_bytes = 4 + len(_LISTED[said](99_999))
        return said, [_LISTED[said](each) for each in range(max(1, size // each_bytes))]
    return "values", [short(code, inner, leaf.name, DEEPEST, "t")] * max(1, size // 4)


def _map(drawn: random.Random, leaf: Leaf, size: int) -> tuple[str, Any]:
    key, value = map(type_of, leaf.inner)
    if key[0] not in (TType.STRING, TType.I32, TType.I64):
        return "map as it is", {}
    one = short(*value, "a", DEEPEST - 1, "t")
    keys = (str(each) if key[0] == TType.STRING else each for each in range(max(1, size // 20)))
    return "entries", dict.fromkeys(keys, one)


_ODD_TEXTS = (
    "", " ", "\0", "a\0b", "t\0", "k=a/n=1\0", "x" * 300, "y" * 70_000, "é\u202e", "*", ".*", "|" * 500, "a*" * 300,
    "(" * 1_000, "[", "\\", "@hive#default", "@hive#", "@", "-1", "9" * 400, "k=a/n=1/" * 1_000, "../..", "k=%00",
)  # fmt: skip
_CURSORS = (
    "0.0", "50.1", "-1.1", "0.9999999999999999999999", "99999999999999999999.1", "1.-1", "१.२", "1.", ".", "1.1.1",
    "0." + "9" * 100_000, "0.1\0", "100.9223372036854775807", "100.9223372036854775808", "9" * 23,
)  # fmt: skip
_ENDS = {
    TType.BYTE: (-128, 127),
    TType.I16: (-(2**15), 2**15 - 1),
    TType.I32: (-(2**31), -1, 0, 2**31 - 1),
    TType.I64: (-(2**63), -1, 0, 2**53, 2**62, 2**63 - 1),
    TType.DOUBLE: (float("nan"), float("inf"), -1.0, 0.5, 5e-324, 1e308),
}


def make_odd(drawn: random.Random, struct: Any) -> str:
    """Change one value of a struct to an odd one, or a third of them; which."""
    leaves = [leaf for leaf in [*sized(struct), *numbers(struct)] if leaf.kind in (TType.STRING, *_ENDS)]
    said = []
    for leaf in drawn.sample(leaves, min(len(leaves), drawn.choice([1, 1, 2, 1 + len(leaves) // 3]))):
        value = _odd(drawn, leaf)
        setattr(leaf.owner, leaf.name, value)
        said.append(f"{leaf.name}={str(value)[:20]!r}")
    return " ".join(said)


def _odd(drawn: random.Random, leaf: Leaf) -> Any:
    if leaf.kind == TType.STRING:
        return drawn.choice(_CURSORS if leaf.name in ("after", "token") else _ODD_TEXTS)
    return drawn.choice(_ENDS[leaf.kind])
