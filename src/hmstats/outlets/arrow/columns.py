"""The numbers of columns: depth first through nested types, in the order of a record batch's field nodes.

`col1: struct<a, b: list<item>>, col2` is 0, 1 (a), 2 (b), 3 (item), 4. A map has a node for its entries, its keys and
its values. A dictionary's values have none; an extension counts as what it is stored as.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Node:
    """A column or a part of one. `path` joins the names on the way with points; `top`: it is a column itself."""

    number: int
    path: str
    type: pa.DataType
    top: bool


def nodes(schema: pa.Schema) -> tuple[Node, ...]:
    """All columns and their parts, by number."""
    found = _walk((field.name, field.type, True) for field in schema)
    return tuple(Node(number, *node) for number, node in enumerate(found))


def by_path(found: Iterable[Node]) -> dict[str, Node]:
    """Nodes by path; a column wins over a part of another column, and the first over the later."""
    ranked = sorted(found, key=lambda node: (not node.top, node.number), reverse=True)
    return {node.path: node for node in ranked}


def values_type(type_: pa.DataType) -> pa.DataType:
    """The type of the values themselves, whatever they are encoded or named as."""
    while pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        type_ = type_.value_type
    return values_type(type_.storage_type) if isinstance(type_, pa.BaseExtensionType) else type_


def parts(type_: pa.DataType) -> list[pa.Field]:
    """The fields whose values are nodes of their own."""
    if isinstance(type_, pa.BaseExtensionType):
        return parts(type_.storage_type)
    return [type_.field(place) for place in range(type_.num_fields)]


def _walk(fields: Iterable[tuple[str, pa.DataType, bool]]) -> Iterator[tuple[str, pa.DataType, bool]]:
    for path, type_, top in fields:
        yield path, type_, top
        yield from _walk((f"{path}.{part.name}", part.type, False) for part in parts(type_))
