"""Long plans are read in time by their length: each node is looked at a few times, however many are above it."""

from collections.abc import Iterator

from hmstats.learning.trino.nodes import Node, operations

_DEPTH = 200


class _Counted(tuple[Node, ...]):
    """Nodes that count how often they are gone through."""

    __slots__ = ()
    times = 0

    def __iter__(self) -> Iterator[Node]:
        _Counted.times += 1
        return super().__iter__()


def test_nodes_are_not_looked_at_anew_from_each_node_above() -> None:
    _Counted.times = 0
    node = Node("Union", {}, children=_Counted([Node("Values", {}), Node("Values", {})]))
    for _ in range(_DEPTH):
        node = Node("Filter", {}, children=(node,))
    assert operations(node).inputs
    assert 0 < _Counted.times < 10
