"""Hypothesis strategies for arguments of the API's methods, made from what thriftpy2 knows of their types."""

from typing import Any

from hypothesis import strategies as st
from thriftpy2.thrift import TType

from hmstats.wire.idl import Method, methods

_DEEPEST = 6
_PLAIN: dict[int, st.SearchStrategy[Any]] = {
    TType.BOOL: st.booleans(),
    TType.BYTE: st.integers(-(2**7), 2**7 - 1),
    TType.I16: st.integers(-(2**15), 2**15 - 1),
    TType.I32: st.integers(-(2**31), 2**31 - 1),
    TType.I64: st.integers(-(2**63), 2**63 - 1),
    TType.DOUBLE: st.floats(allow_nan=False),
    TType.STRING: st.text(max_size=8),
    TType.BINARY: st.binary(max_size=8),
}
METHODS = (
    "set_aggr_stats_for",
    "update_table_column_statistics",
    "get_partitions_statistics_req",
    "create_table",
    "create_database",
    "add_partitions_req",
    "add_partitions_pspec",
    "alter_partitions",
    "getOption",
    "shutdown",
    "add_write_ids_to_min_history",
    "set_ugi",
)
"""Between them they have every type, sets and maps of everything included."""


@st.composite
def arguments(draw: st.DrawFn) -> tuple[Method, Any]:
    """A method and its struct of arguments, some left out."""
    method = methods()[draw(st.sampled_from(METHODS))]
    return method, draw(_structs(method.arguments, 0))


@st.composite
def _structs(draw: st.DrawFn, struct: Any, depth: int) -> Any:
    value = struct()
    for spec in struct.thrift_spec.values():
        kind = (spec[0], spec[2] if len(spec) > 3 else None)
        wanted = depth == 0 or draw(st.integers(0, depth + 1)) == 0
        setattr(value, spec[1], draw(_values(kind, depth + 1)) if wanted and depth < _DEEPEST else None)
    return value


def _values(kind: tuple[int, Any], depth: int) -> st.SearchStrategy[Any]:
    code, inner = kind
    if code == TType.STRUCT:
        return _structs(inner, depth)
    if code in (TType.LIST, TType.SET):
        return st.lists(_values(_type(inner), depth), max_size=2)
    if code == TType.MAP and _type(inner[0])[0] == TType.LIST:
        return st.just({})  # Python has no dict with lists for keys
    if code == TType.MAP:
        return st.dictionaries(_values(_type(inner[0]), depth), _values(_type(inner[1]), depth), max_size=2)
    return _PLAIN[code]


def _type(spec: Any) -> tuple[int, Any]:
    return (spec, None) if isinstance(spec, int) else (spec[0], spec[1])
