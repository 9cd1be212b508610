"""Structs of the API with a short value in each field, and the values in them that can be changed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from thriftpy2.thrift import TType

DEEPEST = 5
_SIZED = (TType.STRING, TType.BINARY, TType.LIST, TType.SET, TType.MAP)
_NUMBERS = (TType.BYTE, TType.I16, TType.I32, TType.I64, TType.DOUBLE)


class Leaf(NamedTuple):
    """A field of a struct that is no struct itself. `inner` is the type of what it contains, as thriftpy2 has it."""

    owner: Any
    name: str
    kind: int
    inner: Any


def filled(kind: Any, depth: int, table: str) -> Any:
    """A struct with a short value in each field; the names of tables in it are `table`."""
    struct = kind()
    for spec in kind.thrift_spec.values():
        inner = spec[2] if len(spec) > 3 else None
        if (value := short(spec[0], inner, spec[1], depth + 1, table)) is not None:
            setattr(struct, spec[1], value)
    return struct


def short(code: int, inner: Any, name: str, depth: int, table: str) -> Any:
    """A short value of a type for a field of this name."""
    if code == TType.STRUCT:
        return filled(inner, depth, table) if depth <= DEEPEST else None
    if code in (TType.LIST, TType.SET):
        value = short(*type_of(inner), name, depth, table)
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


def sized(struct: Any) -> list[Leaf]:
    """The texts, bytes, lists, sets and maps in a struct, at any depth."""
    return [leaf for leaf in _leaves(struct) if leaf.kind in _SIZED]


def numbers(struct: Any) -> list[Leaf]:
    """The numbers in a struct, at any depth."""
    return [leaf for leaf in _leaves(struct) if leaf.kind in _NUMBERS]


def _leaves(struct: Any) -> Iterator[Leaf]:
    for spec in type(struct).thrift_spec.values():
        code, name, inner = spec[0], spec[1], spec[2] if len(spec) > 3 else None
        value = getattr(struct, name)
        if code != TType.STRUCT:
            yield Leaf(struct, name, code, inner)
        elif value is not None:
            yield from _leaves(value)
        if code in (TType.LIST, TType.SET) and value and hasattr(value[0], "thrift_spec"):
            yield from _leaves(value[0])


def type_of(spec: Any) -> tuple[int, Any]:
    """A type in a container: its code, and what it contains itself."""
    return (spec, None) if isinstance(spec, int) else (spec[0], spec[1])
